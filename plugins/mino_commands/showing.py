"""What was said in a conversation, piece by piece and whole: answers, thoughts, tools and their results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mino_core import Reasoning, ToolCall, ToolResult, is_blank, table

if TYPE_CHECKING:
    from mino_core import Message, Session, Turn

#: Pieces that a list names, and letters that it shows of each.
_MOST, _GLANCE = 20, 50


class Piece(NamedTuple):
    """Something that can be shown."""

    kind: str
    text: str


def listed(session: Session) -> str:
    """The last pieces, the newest last, each with the number it is shown by; nothing where there is none."""
    found = pieces(session)[-_MOST:]
    rows = [
        (str(len(found) - n), piece.kind, " ".join(piece.text[: 4 * _GLANCE].split())[:_GLANCE])
        for n, piece in enumerate(found)
    ]
    return table(rows)


def pieces(session: Session) -> list[Piece]:
    """Everything that was said to the user or for a tool, oldest first."""
    return [piece for turn in session.conversation.turns for piece in _of_turn(turn)]


def _of_turn(turn: Turn) -> Iterator[Piece]:
    results = {
        part.call_id: part for message in turn.said for part in message.parts if isinstance(part, ToolResult)
    }
    for message in turn.said:
        if message.role == "assistant":
            yield from _of_reply(message, results)


def _of_reply(message: Message, results: dict[str, ToolResult]) -> Iterator[Piece]:
    thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
    if not is_blank(thought):
        yield Piece("thinking", thought)
    if not is_blank(message.text):
        yield Piece("answer", message.text)
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield Piece(part.name, _call(part, results.get(part.id)))


def _call(call: ToolCall, result: ToolResult | None) -> str:
    given = call.parsed
    lines = [call.arguments] if given is None else [f"{key}: {_value(value)}" for key, value in given.items()]
    if result is not None:
        lines += ["", "It failed:" if result.is_error else "It said:", result.content]
    return "\n".join(lines).strip("\n")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
