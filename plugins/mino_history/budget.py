"""`[history] budget`: the oldest turns are left out of a request that would be longer than that.

Turns are left out whole, so a tool call never parts from its result; a summary and the running turn
are always sent. Where something has to go, as much goes as leaves half of the budget: servers know a
conversation by its beginning, and a beginning that moves with each question is never known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mino_core import File, Image, Message, Reasoning, Refusal, Request, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from mino_core import Part, Session, Turn

#: How many bytes of UTF-8 are about one token, in most languages; and what a picture or a file takes.
_BYTES, _ATTACHMENT = 4, 1500

#: How many turns each conversation was last told to have left out, by its id.
_told: dict[str, int] = {}
#: Whether what is asked now was cut to size already.
_is_fitting = False


@contextmanager
def fitting() -> Iterator[None]:
    """A block in which nothing is left out of a request."""
    global _is_fitting
    _is_fitting = True
    try:
        yield
    finally:
        _is_fitting = False


def at_once(turns: Sequence[Turn], around: Sequence[Message], budget: int | None) -> int:
    """How many of these turns, at least one, one request may hold with the messages around them."""
    if budget is None:
        return len(turns)
    room = budget - sum(map(tokens, around))
    for n, turn in enumerate(turns):
        room -= sum(map(tokens, turn.said))
        if room < 0:
            return max(n, 1)
    return len(turns)


def within(request: Request, session: Session) -> Request | None:
    """The request without its oldest turns, where it would be over the budget; told when that changes."""
    if _is_fitting:
        return None
    budget = session.config.budget or 0
    head, turns = _turns(request.messages, has_summary=bool(session.conversation.summary))
    sizes = [sum(map(tokens, turn)) for turn in turns]
    first = start(sizes, budget - sum(map(tokens, head)))
    if first != _told.get(session.id, 0):
        _told[session.id] = first
        if first:
            _tell(session, sizes[:first], budget)
    if not first:
        return None
    kept = (*head, *(message for turn in turns[first:] for message in turn))
    return Request(request.model, request.instructions, kept, request.tools, request.options)


def start(sizes: Sequence[int], budget: int) -> int:
    """From which turn on they are sent: a function of the sizes alone, the same after a restart."""
    first = total = 0
    for n, size in enumerate(sizes):
        total += size
        if total > budget:
            while first < n and total > budget // 2:
                total -= sizes[first]
                first += 1
    return first


def tokens(message: Message) -> int:
    """About how many tokens a message takes."""
    return sum(map(_tokens, message.parts)) + 4


def _tokens(part: Part) -> int:
    match part:
        case Text(text) | Reasoning(text) | Refusal(text) | ToolResult(_, text, _):
            return len(text.encode("utf-8", "replace")) // _BYTES
        case ToolCall(_, name, arguments):
            return len((name + arguments).encode("utf-8", "replace")) // _BYTES
        case Image() | File():
            return _ATTACHMENT


def _turns(
    messages: Sequence[Message], *, has_summary: bool
) -> tuple[Sequence[Message], list[list[Message]]]:
    """The summary, and what each question began."""
    head, rest = (messages[:1], messages[1:]) if has_summary else ((), messages)
    return head, list(_split(rest))


def _split(messages: Sequence[Message]) -> Iterator[list[Message]]:
    turn: list[Message] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _tell(session: Session, left_out: Sequence[int], budget: int) -> None:
    turns = "The oldest turn is" if len(left_out) == 1 else f"The {len(left_out)} oldest turns are"
    session.notify(
        f"{turns} not sent, about {sum(left_out):,} tokens, since [history] budget is {budget:,}; "
        "/compact sends a summary in place of what is old"
    )
