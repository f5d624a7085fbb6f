"""A conversation for people: as a Markdown document, and as it looked on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mino_core import File, Image, Message, Reasoning, Refusal, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from mino_core import Conversation, Part, Turn

_NAMES = {"user": "You", "assistant": "Assistant", "tool": "Tool"}


def markdown(
    title: str, about: Sequence[str], conversation: Conversation, change: Callable[[Message], Message]
) -> str:
    """The document. `about` are lines below the title; `change` is done to each message first."""
    blocks = [f"# {' '.join(title.split()) or 'A conversation'}", "\n".join(f"- {line}" for line in about)]
    if conversation.summary:
        blocks += ["## Summary of what was said before", conversation.summary.strip("\n")]
    for turn in conversation.turns:
        for message in turn.said:
            blocks += _message(change(message))
        blocks.append(f"*{note}*" if (note := _note(turn)) else "")
    return "\n\n".join(filter(None, blocks)) + "\n"


def shown(conversation: Conversation) -> str:
    """What stands, as it looked on the screen."""
    lines = [f"(before: {conversation.summary})\n"] if conversation.summary else []
    for turn in conversation.turns:
        for message in turn.said:
            lines += [text.rstrip("\n") for text in _texts(message)]
        lines += [_note(turn)] if _note(turn) else []
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _note(turn: Turn) -> str:
    """How a turn ended that did not complete, and why."""
    if turn.outcome == "completed":
        return ""
    why = f": {turn.error.get('message')}" if turn.error else ""
    return f"({turn.outcome}{why})"


def _texts(message: Message) -> Iterator[str]:
    if message.text:
        yield f"{_NAMES[message.role]}> {message.text}"
    for part in message.parts:
        match part:
            case ToolCall(name=name, arguments=arguments):
                yield f"[{name} {arguments}]"
            case ToolResult(content=content):
                yield content
            case Image() | File():
                yield f"[{part.name or part.media_type}]"


def _message(message: Message) -> Iterator[str]:
    yield f"## {_NAMES[message.role]}"
    for part in message.parts:
        yield _part(part)


def _part(part: Part) -> str:
    match part:
        case Text(text) | Refusal(text):
            return text.strip("\n")
        case Reasoning(text):
            return "\n".join(f"> {line}".rstrip() for line in text.strip("\n").splitlines())
        case ToolCall(_, name, arguments):
            return f"`{name}`\n\n{_fenced(arguments, 'json')}"
        case ToolResult(_, content, _):
            return _fenced(content)
        case Image() | File():
            return f"[{part.name or part.media_type}]"


def _fenced(text: str, language: str = "") -> str:
    """A block of code, whatever fences are in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"
