"""A message as JSON and back, the same for every place where conversations are kept.

Keys that are not known are ignored, so that a later mino may add some. What is known must have its
shape: a message that no dialect could send is a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from mino_core.types import File, Image, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Usage

#: White space by Unicode, and the characters that show nothing at all.
_BLANKS = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063"
    "\u2064\u2800\u3164\ufeff\uffa0"
)
_ROLES = {
    "user": frozenset({"text", "image", "file"}),
    "assistant": frozenset({"text", "reasoning", "refusal", "tool_call", "image", "file"}),
    "tool": frozenset({"tool_result", "image", "file"}),
}
_USAGE = Usage.__match_args__


class WrongShape(ValueError):
    """What a record holds has not the shape that it must have."""


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: no character, white space of any script, zero-width characters."""
    return not text or (text[0] in _BLANKS and not text.strip(_BLANKS))  # most texts begin with a letter


def says_something(parts: Iterable[Part]) -> bool:
    """Whether a reply is worth keeping: it said something non-blank, or called a tool."""
    for part in parts:
        match part:
            case Text(text) | Refusal(text):
                if not is_blank(text):
                    return True
            case ToolCall() | Image() | File():
                return True
    return False


def message_to_json(message: Message) -> dict[str, Any]:
    """The form of a message in a record."""
    return {"role": message.role, "parts": parts_to_json(message.parts), "meta": dict(message.meta)}


def is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a JSON object. Nearly all are dicts, and asking that first is cheap."""
    return type(value) is dict or isinstance(value, Mapping)


def message_from_json(value: object) -> Message:
    """The message in a record; ValueError where it has not the shape of one."""
    if not is_table(value):
        raise WrongShape("a message is an object")
    role, meta = value.get("role"), value.get("meta")
    if role not in ("user", "assistant", "tool"):
        raise WrongShape(f"the role of a message is user, assistant or tool, not {role!r}")
    if meta is not None and not is_table(meta):
        raise WrongShape("the meta of a message is an object")
    return Message(role, parts_from_json(value.get("parts"), role), dict(meta or {}))


def parts_to_json(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The form of a message's parts in a record."""
    return [_part_to_json(part) for part in parts]


def parts_from_json(value: object, role: str) -> tuple[Part, ...]:
    """The parts in a record, of kinds that the role may have; ValueError on a wrong shape.

    Kinds that are not known are left out, as unknown keys are.
    """
    if type(value) is not list and not isinstance(value, tuple):
        raise WrongShape("the parts of a message are a list")
    parts = []
    for item in value:
        kind = item.get("type") if is_table(item) else None
        if not isinstance(kind, str):
            raise WrongShape("a part is an object with a type")
        part = _part_from_json(kind, item)
        if part is None:
            continue
        if kind not in _ROLES[role]:
            raise WrongShape(f"a message of role {role} has no part of type {kind}")
        parts.append(part)
    return tuple(parts)


def _part_to_json(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Reasoning(text):
            return {"type": "reasoning", "text": text}
        case Refusal(text):
            return {"type": "refusal", "text": text}
        case ToolCall(id, name, arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": arguments}
        case ToolResult(call_id, content, is_error):
            return {"type": "tool_result", "call_id": call_id, "content": content, "is_error": is_error}
        case Image(media_type, data, name):
            return {"type": "image", "media_type": media_type, "data": data, "name": name}
        case File(media_type, data, name):
            return {"type": "file", "media_type": media_type, "data": data, "name": name}


def _part_from_json(kind: str, item: Mapping[str, Any]) -> Part | None:
    match kind:
        case "text":
            return Text(_text(item, "text"))
        case "reasoning":
            return Reasoning(_text(item, "text"))
        case "refusal":
            return Refusal(_text(item, "text"))
        case "tool_call":
            return ToolCall(_text(item, "id"), _text(item, "name"), _text(item, "arguments"))
        case "tool_result":
            return ToolResult(_text(item, "call_id"), _text(item, "content"), item.get("is_error") is True)
        case "image":
            return Image(_text(item, "media_type"), _text(item, "data"), _text(item, "name", ""))
        case "file":
            return File(_text(item, "media_type"), _text(item, "data"), _text(item, "name", ""))
    return None


def _text(item: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = item.get(key, default)
    if not isinstance(value, str):
        raise WrongShape(f"the {key} of a part is a string")
    return value


def usage_to_json(usage: Usage | None) -> dict[str, int] | None:
    """The form of a usage in a record: only what was reported."""
    if usage is None:
        return None
    return {name: value for name in _USAGE if (value := getattr(usage, name)) is not None}


def usage_from_json(value: object) -> Usage | None:
    """The usage in a record. What is not a count is taken as not reported: words matter more."""
    if not is_table(value):
        return None
    return Usage(**{name: count for name in _USAGE if type(count := value.get(name)) is int and count >= 0})


def sum_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of what was reported; None where nothing was."""
    known = [usage for usage in usages if usage is not None]
    if len(known) < 2:
        return known[0] if known else None
    columns = {name: [n for usage in known if (n := getattr(usage, name)) is not None] for name in _USAGE}
    return Usage(**{name: sum(column) for name, column in columns.items() if column})
