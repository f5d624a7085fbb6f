"""Conversations that a strict server accepts, made of whatever history holds."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterable

from mino_core.records.messages import is_blank
from mino_core.types import (
    File,
    Image,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

#: What the model is told about a call that has no result: mino ended before there was one.
NO_RESULT = "This call was cut short: it may have run, or not."
#: What OpenAI and Anthropic refuse in the name of a tool, and how long it may be.
_NOT_IN_NAMES, _LONGEST_NAME = re.compile("[^a-zA-Z0-9_-]"), 64


def mended(
    messages: Iterable[Message], is_wanted: Callable[[Message], bool] = lambda message: False
) -> tuple[Message, ...]:
    """The messages, repaired; every dialect encodes these.

    - blank texts of the user are dropped, and messages with nothing to say, but for those that are
      wanted all the same, for what stands in their `meta`;
    - consecutive user messages become one, their parts in order;
    - a call has a name that every server takes for one: models make up others;
    - after an assistant message with calls comes exactly one tool message: a result for each call,
      in the order of the calls, then what else the tools showed (images, files). A call without a
      result gets an error result; a result without a call is dropped.

    The result of a prefix of the messages is a prefix of the result, but for merged user messages
    and for calls whose results had not come.
    """
    out: list[Message] = []
    answers: _Answers | None = None
    for message in messages:
        if message.role == "tool":
            if answers is not None:
                answers.take(message)
            continue
        parts = _kept(message)
        if not parts and not is_wanted(message):
            continue
        if answers is not None:
            out.append(answers.message())
        calls = tuple([part for part in parts if isinstance(part, ToolCall)])
        answers = _Answers(calls) if calls else None
        if message.role == "user" and out and out[-1].role == "user":
            out[-1] = Message("user", out[-1].parts + parts)
        elif parts == message.parts:
            out.append(message)
        else:
            out.append(Message(message.role, parts, message.meta))
    if answers is not None:
        out.append(answers.message())
    return tuple(out)


class _Answers:
    """What came back for the calls of one message. Calls with one id are told apart by their order."""

    def __init__(self, calls: tuple[ToolCall, ...]) -> None:
        self._ids = [call.id for call in calls]
        self._missing = list(range(len(calls)))
        self._results = [ToolResult(call.id, NO_RESULT, is_error=True) for call in calls]
        self._shown: list[Part] = []

    def take(self, message: Message) -> None:
        """The results in a tool message, one for each call, and whatever else it shows."""
        for part in message.parts:
            match part:
                case ToolResult(call_id):
                    if (n := next((n for n in self._missing if self._ids[n] == call_id), None)) is not None:
                        self._missing.remove(n)
                        self._results[n] = part
                case Image() | File():
                    self._shown.append(part)

    def message(self) -> Message:
        """One tool message for all of them."""
        return Message("tool", (*self._results, *self._shown))


def fitted_ids(ids: Iterable[str], used: set[str], limit: int = sys.maxsize) -> list[str]:
    """The ids of calls as a strict server takes them: of at most `limit` characters, none blank or twice.

    `used` are those that may not come again; the new ones join them. The result of `mended` has a
    result for each call in the order of the calls, so one list serves both.
    """
    fitted: list[str] = []
    for whole in ids:
        base = whole or "call"
        if len(base) > limit:
            base = f"{base[: limit - 9]}_{zlib.crc32(base.encode('utf-8', 'surrogatepass')):08x}"
        name, n = base, 1
        while name in used:
            n += 1
            name = f"{base[: limit - len(str(n)) - 1]}_{n}"
        used.add(name)
        fitted.append(name)
    return fitted


_OF_A_USER, _OF_A_REPLY = (Text, Image, File), (Text, Refusal, ToolCall, Reasoning)
_TEXTS = (Text, Refusal)


def says(message: Message) -> bool:
    """Whether there is anything in a message of the user or in a reply that is worth sending."""
    return bool(_kept(message))


def _kept(message: Message) -> tuple[Part, ...]:
    """The parts worth sending; reasoning alone is no message."""
    allowed = _OF_A_USER if message.role == "user" else _OF_A_REPLY
    parts = [part for part in message.parts if isinstance(part, allowed)]
    says = [part for part in parts if not (isinstance(part, Reasoning) or _is_blank_part(part))]
    if not says:
        return ()
    if message.role == "user":
        return tuple(says)
    # A reply keeps its blank texts too: what was thought has its place between its characters.
    return tuple([_named(part) if isinstance(part, ToolCall) else part for part in parts])


def _named(call: ToolCall) -> ToolCall:
    name = _NOT_IN_NAMES.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
    return call if name == call.name else ToolCall(call.id, name, call.arguments)


def _is_blank_part(part: Part) -> bool:
    return isinstance(part, _TEXTS) and is_blank(part.text)
