"""The beginning of a conversation, encoded once: a question costs the same in a long one as in a short one.

A message never changes, so what became of it is still what becomes of it. That is remembered for the
messages of the last request that no later message can change; the body stays a pure function of the
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        if begin > end or given != self._given or not all(map(is_, self._messages, messages)):
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
    """How many messages no later one can change: those before one of the last questions.

    A question that says something, behind a reply that says something and calls nothing, is never
    taken together with what stands before it.
    """
    left = _OPEN
    for n in range(len(messages) - 1, 0, -1):
        reply, question = messages[n - 1 : n + 1]
        if (reply.role, question.role) == ("assistant", "user") and says(question) and _is_whole(reply):
            left -= 1
            if not left:
                return n
    return 0


def _is_whole(reply: Message) -> bool:
    return says(reply) and not any(isinstance(part, ToolCall) for part in reply.parts)
