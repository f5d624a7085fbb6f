"""What is kept of a conversation: one door through which every record goes.

A conversation comes into being with its first `said`, a fork with any change; until then nothing is
on disk. Where the backend fails, that is told once and the conversation goes on from memory. What is
there already is read from its end, and only as far as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from mino_core import interrupts
from mino_core.records import Conversation, fold, message_to_json, record
from mino_core.records.messages import parts_to_json
from mino_core.records.tail import standing
from mino_core.secret import mask
from mino_core.types import History, Log, Message, Part, Record

#: Keys whose values are mino's own words.
_OURS = frozenset({"id", "time", "type", "role", "outcome"})
#: What is nested deeper than this is left out of a record.
_DEEPEST = 64
#: How many characters of a text each partial says again, so that a search finds what stands across two.
_AGAIN = 60
#: How many records from the end are read when a conversation is opened, and before its first question.
_AT_ONCE, _BEFORE_A_QUESTION = 64, 4096

#: The records that a fork begins with, oldest first, or newest first where that is asked for.
Copies = Callable[[bool], Iterable[Record]]


class Journal:
    """The records of one conversation, appended to its log and folded as they come.

    `head` is the record a new conversation begins with, `copies` what a fork begins with. What
    could not be written waits for the next try, so that a full disk that was cleared loses nothing.
    """

    def __init__(
        self,
        history: Callable[[], History],
        head: Record,
        tell: Callable[[str], None],
        *,
        log: Log | None = None,
        copies: Copies | None = None,
    ) -> None:
        self.id: str = head["id"]
        self.head = head
        self._history = history
        self._tell = tell
        self._log = log
        self._begun = log is not None
        self._copies = copies
        self._copying: Iterator[Record] | None = None
        self._waiting: list[tuple[Record, bool]] = []
        self._unmasked: dict[str, Record] = {}  # what is kept otherwise than it was said, by id
        self._trouble = ""
        self._told: tuple[int, list[Any]] = (0, [])  # the turn and the text of the last partial
        self._conversation: Conversation | None = None
        self._is_long = False  # too long to be read without being noticed
        self._remarks: set[str] = set()  # what was told of the log itself
        #: The turns at the end, as far as they were read when the conversation was opened, and those since.
        self.recent = self._read_end(_AT_ONCE)

    # -- what is there -------------------------------------------------------------------------

    @property
    def is_kept(self) -> bool:
        """Whether all of this conversation is in its log."""
        return self._begun and not self._waiting

    @property
    def unkept(self) -> int:
        """How many messages of a conversation that was begun are not in its log."""
        return sum(kept["type"] == "said" for kept, _ in self._waiting) if self._begun else 0

    @property
    def conversation(self) -> Conversation:
        """What the records amount to. The first time, a long log is read through for this."""
        self.prepare()
        if self._conversation is None:
            self._conversation = fold(self._readable(self.records()))
            self._tell_repairs(self._conversation)
        return self._conversation

    @property
    def latest(self) -> int:
        """The number of the last turn, 0 before the first."""
        if self._conversation is None and not self.recent.latest:
            self.prepare()  # what is nearest to the end is of no turn
        return (self._conversation or self.recent).latest

    @property
    def title(self) -> str:
        """The last title, empty where there is none."""
        known = self._conversation or self.recent
        if known.title or known.head is not None:
            return known.title
        from mino_core.records.finding import last_title, title

        return title(self._log) if self.is_kept and self._log else last_title(self.records(backwards=True))

    def prepare(self) -> None:
        """Have `conversation` ready, if that takes no time that anybody would notice."""
        if self._conversation is None and not self._is_long:
            self._read_end(_BEFORE_A_QUESTION)
            self._is_long = self._conversation is None

    def records(self, backwards: bool = False) -> Iterator[Record]:
        """Every record so far, the head first; or last."""
        waiting = [kept for kept, _ in self._waiting]
        if backwards:
            yield from reversed(waiting)
            yield from self._written(backwards)
        else:
            yield from self._written(backwards)
            yield from waiting

    def _written(self, backwards: bool) -> Iterator[Record]:
        """The records of the log; as long as that lacks some of its copies, those it begins with."""
        if self._log is not None and self._copies is None:
            yield from self._log.records(reverse=backwards)
            return
        copies = self._copies(backwards) if self._copies else ()
        if backwards:
            yield from copies
            yield self.head
        else:
            yield self.head
            yield from copies

    def _read_end(self, limit: int) -> Conversation:
        """What the last records amount to; where that is all there is to know, it is kept."""
        end, is_whole = standing(self._readable(self.records(backwards=True)), limit)
        conversation = fold(end)
        if is_whole:
            self._conversation = conversation
            self._tell_repairs(conversation)
        return conversation

    def _readable(self, records: Iterator[Record]) -> Iterator[Record]:
        """These records, as far as they can be read; where they cannot, that is told."""
        try:
            for kept in records:
                yield self._unmasked.get(str(kept.get("id")), kept) if self._unmasked else kept
        except Exception as error:  # noqa: BLE001 (any backend may be a plugin's)
            self._remark(f"not all of this conversation can be read: {_words(error)}")

    def _tell_repairs(self, conversation: Conversation) -> None:
        if self._log is None and self._copies is None:
            return
        from mino_core.records.repairs import repairs

        self._remark(repairs(conversation, int(getattr(self._log, "skipped", 0))))

    def _remark(self, text: str) -> None:
        """Tell something about the log, once."""
        if text and text not in self._remarks:
            self._remarks.add(text)
            self._tell(text)

    # -- what is added -------------------------------------------------------------------------

    def said(self, turn: int, message: Message, **fields: Any) -> None:
        """Keep one message, durably; the first one brings the conversation into being."""
        self._begun = True
        self._told = (0, [])
        self._append("said", turn=turn, message=message_to_json(message), **fields)

    def partial(self, turn: int, parts: tuple[Part, ...]) -> None:
        """Keep what a reply says so far, unsynced; only where that works, since the reply follows.

        Of a text that grew only what is new is written.
        """
        if not self.is_kept:
            return
        said: list[Any] = _masked(parts_to_json(parts))
        before, self._told = self._told, (turn, said)
        more = _more(before[1], said) if before[0] == turn else None
        if more is None:
            self._append("partial", durable=False, turn=turn, parts=said)
        else:
            self._append("partial", durable=False, turn=turn, more=True, **more)

    def ended(self, turn: int, **fields: Any) -> None:
        """Close a turn, unsynced."""
        self._append("ended", durable=False, turn=turn, **fields)

    def note(self, type: str, **fields: Any) -> None:
        """Keep a change of the conversation itself: `cleared`, `undone`, `retried`, `titled`, ...

        A new conversation without a word has nothing to be changed; a fork comes into being with it.
        """
        self._begun = self._begun or self._copies is not None
        self._append(type, **fields)

    def close(self) -> None:
        """Try once more to write what waits, and let the log go."""
        if self._begun and self._waiting:
            self._try(self._write)
        log, self._log = self._log, None
        if log is not None:
            self._try(log.close, cures=False)

    def _append(self, type: str, *, durable: bool = True, **fields: Any) -> None:
        with interrupts.sealed():
            told = record(type, **fields)
            kept = _masked(told)
            if kept != told:
                self._unmasked[told["id"]] = told
            (self._conversation or self.recent).add(told)
            self._waiting.append((kept, durable))
            if self._begun:
                self._try(self._write)

    def _write(self) -> None:
        if self._log is None:
            log = self._history().open(self.id, head=self.head)
            self._copying = iter(self._copies(False)) if self._copies else None
            self._log = log
        if self._copying is not None:
            self._copy(self._log, self._copying)
            self._copying = self._copies = None
        while self._waiting:
            kept, durable = self._waiting[0]
            self._log.append(kept, durable=durable)
            del self._waiting[0]

    def _copy(self, log: Log, copies: Iterator[Record]) -> None:
        """Write what a fork begins with; what was not written comes first the next time."""
        for kept in copies:
            self._copying = chain([kept], copies)
            log.append(_masked(kept), durable=False)

    def _try(self, act: Callable[[], object], *, cures: bool = True) -> None:
        """Do something with the log; trouble is told when it begins and when writing is possible again."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 (any backend may be a plugin's)
            trouble = _words(error)
            if trouble != self._trouble:
                self._tell(f"this conversation is not kept: {trouble}")
            self._trouble = trouble
        else:
            if self._trouble and cures:
                self._tell("this conversation is kept again")
                self._trouble = ""


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _more(before: list[Any], said: list[Any]) -> dict[str, Any] | None:
    """The parts that go on where those before ended, and how much of that they say again; None where not."""
    if not before or len(said) < len(before):
        return None
    last = len(before) - 1
    was, now = before[last], said[last]
    if before[:last] != said[:last] or was["type"] != now["type"] or not now["text"].startswith(was["text"]):
        return None
    length = len(was["text"])
    if len(now["text"]) == length:
        return {"parts": said[last + 1 :]}
    again = min(length, _AGAIN)
    return {"again": again, "parts": [{**now, "text": now["text"][length - again :]}, *said[last + 1 :]]}


def _masked(value: Any, depth: int = 0) -> Any:
    """The same record with every known secret in its texts masked, and nothing that JSON cannot hold.

    A plugin or a server may have put anything into a message's `meta`.
    """
    match value:
        case str():
            return mask(value)
        case bool() | int() | None:
            return value
        case float():
            return value if value - value == 0 else None
        case Mapping() if depth < _DEEPEST:
            pairs = ((str(key), inner) for key, inner in value.items())
            return {key: inner if key in _OURS else _masked(inner, depth + 1) for key, inner in pairs}
        case list() | tuple() if depth < _DEEPEST:
            return [_masked(inner, depth + 1) for inner in value]
    return None
