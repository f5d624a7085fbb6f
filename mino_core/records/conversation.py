"""A conversation is a fold over a log of records, so nothing is ever rewritten.

`Conversation` takes records one by one, in the order of the log, and knows at each moment what
stands and what is sent. What it does not know it leaves alone; what has a wrong shape it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from mino_core.types import Head, Message, Outcome, Part, Reasoning, Refusal, Text, ToolCall, Usage
from mino_core.values import replace, value

from .messages import (
    WrongShape,
    is_table,
    message_from_json,
    parts_from_json,
    says_something,
    sum_usage,
    usage_from_json,
)

#: Which turns are sent: `[history] send`.
Send: TypeAlias = Literal["all", "completed", "none"]


@value
class Turn:
    """One question and what came of it.

    `messages` are the question, then each round's reply and tool results; `records` are the ids of
    the records they came from. `outcome` is the last reply's until the turn has ended, and
    `interrupted` where there is none or its calls wait for results. `usage` sums the rounds.
    `error` is the JSON form of a ProviderError. `partial` is the text so far of a reply that is not
    (yet) among the messages.
    """

    n: int
    messages: tuple[Message, ...] = ()
    records: tuple[str, ...] = ()
    outcome: Outcome = "interrupted"
    usage: Usage | None = None
    error: Mapping[str, Any] | None = None
    provider: str = ""
    model: str = ""
    partial: Message | None = None

    @property
    def question(self) -> str:
        """The user's words, empty where the question is not there any more."""
        return self.messages[0].text if self.messages and self.messages[0].role == "user" else ""

    @property
    def said(self) -> tuple[Message, ...]:
        """Everything that was said, also in a reply that broke off."""
        return (*self.messages, self.partial) if self.partial else self.messages

    @property
    def answer(self) -> str:
        """What was answered, over all rounds, also where it broke off."""
        texts = [message.text for message in self.said if message.role == "assistant"]
        return "\n\n".join(filter(str.strip, texts))


class Conversation:
    """What a log of records amounts to.

    `head` is the first head, `title` the last title, `summary` stands in place of what was
    compacted, `latest` is the highest number of a turn in any record, `skipped` how many records had a
    wrong shape, `blank` how many replies said nothing. Two records with one id count once.
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.title = ""
        self.summary = ""
        self.latest = 0
        self.skipped = 0
        self.blank = 0
        self._turns: dict[int, Turn] = {}
        self._taken = 0
        self._places: dict[str, int] = {}  # where each record stands in the log, since the last clear
        self._floor = -1  # what stands up to here was compacted
        self._spent: Usage | None = None  # on tries that do not stand any more

    @property
    def turns(self) -> list[Turn]:
        """The turns that stand, oldest first."""
        return list(self._turns.values())

    @property
    def usage(self) -> Usage | None:
        """Tokens of every answer so far, also of those cleared, undone or asked again."""
        return sum_usage((self._spent, *(turn.usage for turn in self._turns.values())))

    def messages(self, send: Send = "all", running: int | None = None) -> tuple[Message, ...]:
        """What is sent: whole turns, chosen by `send`, and the running turn in any case."""
        sent = [Message("user", (Text(self.summary),))] if self.summary and send != "none" else []
        for n, turn in self._turns.items():
            if send == "all" or n == running or (send == "completed" and turn.outcome == "completed"):
                sent += turn.said
        return tuple(sent)

    def add(self, record: object) -> None:
        """Take the next record of the log."""
        if not is_table(record) or not isinstance(record.get("type"), str):
            self.skipped += 1
            return
        self._taken += 1
        name = record.get("id")
        if not isinstance(name, str):
            name = f"#{self._taken}"
        if record["type"] == "cleared":
            self._clear()
        if name in self._places:
            return
        self._places[name] = self._taken
        turn = record.get("turn")
        if type(turn) is int and turn > self.latest:
            self.latest = turn
        try:
            self._take(name, record)
        except WrongShape:
            self.skipped += 1

    def _take(self, id: str, record: Mapping[str, Any]) -> None:
        match record["type"]:
            case "head":
                self._head(record)
            case "said":
                self._said(id, record)
            case "partial":
                self._partial(record)
            case "ended":
                self._ended(record)
            case "cleared":
                pass  # done, before its id could matter
            case "undone":
                self._drop(list(self._turns)[-_count(record, "turns") :])
            case "retried":
                self._retried(_count(record, "turn"))
            case "compacted":
                self._compacted(record)
            case "titled":
                self.title = _string(record, "title")

    def _head(self, record: Mapping[str, Any]) -> None:
        if self.head is None:
            self.head = record
            title = record.get("title")
            self.title = title if isinstance(title, str) else self.title

    def _turn(self, record: Mapping[str, Any], *, opens: bool) -> Turn:
        """The turn a record belongs to; without a number, the last one, or a new one that it opens."""
        n = _count(record, "turn") if "turn" in record else 0
        if not n:
            n = self.latest + 1 if opens or not self._turns else next(reversed(self._turns))
        return self._turns.get(n) or Turn(n)

    def _put(self, turn: Turn) -> None:
        late = turn.n not in self._turns and self._turns and turn.n < next(reversed(self._turns))
        self.latest = max(self.latest, turn.n)
        self._turns[turn.n] = turn
        if late:
            self._turns = dict(sorted(self._turns.items()))

    def _said(self, id: str, record: Mapping[str, Any]) -> None:
        message = message_from_json(record.get("message"))
        turn = self._turn(record, opens=message.role == "user")
        asks, replies = message.role == "user", message.role == "assistant"
        messages, records = turn.messages, turn.records
        if replies and not says_something(message.parts) and not message.meta:
            self.blank += 1
        else:
            # a question that comes after its replies still stands before them
            first = asks and not any(said.role == "user" for said in messages)
            messages = (message, *messages) if first else (*messages, message)
            records = (id, *records) if first else (*records, id)
        usage = turn.usage
        if spent := usage_from_json(record.get("usage")):
            usage = sum_usage((usage, spent))
        outcome, partial = turn.outcome, turn.partial
        if replies:
            outcome, partial = _outcome(record, message), None
        provider = _word(record, "provider") or turn.provider
        model = _word(record, "model") or turn.model
        # not `replace`, which costs as much as all the rest
        self._put(Turn(turn.n, messages, records, outcome, usage, turn.error, provider, model, partial))

    def _partial(self, record: Mapping[str, Any]) -> None:
        turn = self._turn(record, opens=False)
        parts = parts_from_json(record.get("parts"), "assistant")
        if turn.partial and record.get("more") is True:
            again = record.get("again")
            parts = _joined(turn.partial.parts, parts, again if type(again) is int and again > 0 else 0)
        if says_something(parts):
            self._put(replace(turn, partial=Message("assistant", parts)))

    def _ended(self, record: Mapping[str, Any]) -> None:
        outcome, error = record.get("outcome"), record.get("error")
        if outcome not in _OUTCOMES:
            raise WrongShape(f"{outcome!r} is no outcome")
        turn = self._turn(record, opens=False)
        if turn.n in self._turns:
            usage = usage_from_json(record.get("usage")) or turn.usage
            told = error if is_table(error) else None
            made = Turn(turn.n, turn.messages, turn.records, outcome, usage, told, turn.provider, turn.model)
            self._put(replace(made, partial=turn.partial) if turn.partial else made)

    def _clear(self) -> None:
        """Forget what was there, also its ids: what follows means the same without it."""
        self._drop(list(self._turns))
        self._places.clear()
        self.summary = ""
        self._floor = -1

    def _retried(self, n: int) -> None:
        if turn := self._turns.get(n):
            self._spent = sum_usage((self._spent, turn.usage))
            kept = [place for place, message in enumerate(turn.messages) if message.role == "user"]
            self._turns[n] = replace(
                _only(turn, kept), outcome="interrupted", usage=None, error=None, partial=None
            )

    def _compacted(self, record: Mapping[str, Any]) -> None:
        summary, upto = _string(record, "summary"), self._places.get(_string(record, "upto"), -1)
        if upto < max(self._floor, 0):
            raise WrongShape("what was to be compacted does not stand")
        for turn in self.turns:
            kept = [place for place, name in enumerate(turn.records) if self._places[name] > upto]
            if kept:
                self._turns[turn.n] = _only(turn, kept)
            else:
                self._drop([turn.n])
        self.summary, self._floor = summary, upto
        self._spent = sum_usage((self._spent, usage_from_json(record.get("usage"))))

    def _drop(self, numbers: Iterable[int]) -> None:
        for n in numbers:
            self._spent = sum_usage((self._spent, self._turns.pop(n).usage))


_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def _outcome(record: Mapping[str, Any], reply: Message) -> Outcome:
    """How a turn would have ended with this reply: without calls, as the reply did."""
    if any(isinstance(part, ToolCall) for part in reply.parts):
        return "interrupted"
    return next((known for known in _OUTCOMES if known == record.get("outcome")), "interrupted")


def _joined(before: tuple[Part, ...], more: tuple[Part, ...], again: int) -> tuple[Part, ...]:
    """A reply's parts with what came since: a text of the same kind goes on, after what it says again."""
    match before, more:
        case ((*earlier, Text() | Reasoning() | Refusal() as last), (first, *later)) if type(last) is type(
            first
        ):
            return (*earlier, type(last)(last.text + first.text[again:]), *later)
    return (*before, *more)


def _only(turn: Turn, places: list[int]) -> Turn:
    """A turn with only these of its messages."""
    return replace(
        turn,
        messages=tuple(turn.messages[place] for place in places),
        records=tuple(turn.records[place] for place in places),
    )


def _count(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key)
    if type(value) is not int or value < 1:
        raise WrongShape(f"{key} is a number from 1 up")
    return value


def _string(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise WrongShape(f"{key} is a string")
    return value


def _word(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def fold(records: Iterable[object]) -> Conversation:
    """The conversation that a whole log amounts to."""
    conversation = Conversation()
    for each in records:
        conversation.add(each)
    return conversation
