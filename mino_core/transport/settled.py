"""The beginning of a conversation, encoded once: a question costs the same in a long one as in a short one.

A message never changes, so what became of it is still what becomes of it. That is remembered for the
messages of the last request that no later message can change; the body stays a pure function of the
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import is_
from typing import Any

from mino_core.types import Message, ToolCall
from mino_core.values import value

from .bodies import Pieces, as_json
from .mending import says

#: How many questions at the end are encoded anew each time: a dialect may mark the last two.
_OPEN = 2


@value
class Stretch:
    """Some of a request's messages, in a row.

    `used` are the ids of calls that stand before them, for those in it to join.
    """

    messages: Sequence[Message]
    is_beginning: bool
    is_end: bool
    used: set[str]


class Settled:
    """Encodes the messages of one request after the other, those that are settled only once."""

    def __init__(self) -> None:
        self._given: object = None
        self._messages: Sequence[Message] = ()
        self._pieces = Pieces()
        self._used: set[str] = set()

    def encode(
        self, messages: Sequence[Message], given: object, encode: Callable[[Stretch], Iterable[Any]]
    ) -> Pieces:
        """What the messages become in a body, for the value of a key there.

        `encode` makes the pieces of a stretch, from that alone and from `given`.
        """
        end = _settled(messages)
        begin, pieces, used = len(self._messages), self._pieces, set(self._used)
        is_same = given == self._given and all(map(is_, self._messages, messages))
        if begin > end or not is_same or not _is_cut(messages, begin):
            begin, pieces, used = 0, Pieces(), set()
        if begin < end:
            more = list(encode(Stretch(messages[begin:end], begin == 0, False, used)))
            known = b",".join(filter(None, (pieces.known, as_json(more)[1:-1])))
            pieces = Pieces([*pieces, *more])
            pieces.settled, pieces.known = len(pieces), known
        self._given, self._messages, self._pieces, self._used = given, messages[:end], pieces, set(used)
        whole = Pieces([*pieces, *encode(Stretch(messages[end:], end == 0, True, used))])
        whole.settled, whole.known = pieces.settled, pieces.known
        return whole


def _settled(messages: Sequence[Message]) -> int:
    """How many messages no later one can change: those before one of the last questions."""
    cuts = (n for n in range(len(messages) - 1, 0, -1) if _is_cut(messages, n))
    return next(islice(cuts, _OPEN - 1, None), 0)


def _is_cut(messages: Sequence[Message], n: int) -> bool:
    """Whether the first `n` messages and the others are encoded alike together and apart.

    They are where a reply that says something and calls nothing stands before a question that says
    something: these two are never left out, nor taken together with others.
    """
    if n == 0:
        return True
    reply, question = messages[n - 1 : n + 1]
    return (
        (reply.role, question.role) == ("assistant", "user")
        and says(question)
        and says(reply)
        and not any(isinstance(part, ToolCall) for part in reply.parts)
    )
