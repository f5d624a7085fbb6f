"""The body of a Chat Completions request: a pure function of the request and the provider's settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mino_core import (
    File,
    Image,
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    is_blank,
)
from mino_core.transport import as_table, mended

#: The kind of provider, and the key of its echo bag in `Message.meta`.
KIND = "openai-chat"
Json = dict[str, Any]


def encode(
    request: Request,
    *,
    host: str = "",
    include_usage: bool = True,
    max_tokens: int | None = None,
    max_tokens_field: str = "max_tokens",
    effort: str = "",
    extra_body: Mapping[str, Any] = {},
) -> Json:
    """The body. `extra_body` and then the request's options replace what is here, key by key.

    `host` is where it goes: only the host that produced a message's reasoning gets it back.
    """
    body: Json = {"model": request.model, "messages": list(_messages(request, host)), "stream": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if include_usage:
        body["stream_options"] = {"include_usage": True}
    if max_tokens is not None:
        body[max_tokens_field] = max_tokens
    if effort:
        body["reasoning_effort"] = effort
    return {**body, **extra_body, **request.options}


def _tool(tool: Tool) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _messages(request: Request, host: str) -> Iterator[Json]:
    if not is_blank(request.instructions):
        yield {"role": "system", "content": request.instructions}
    shown: list[Part] = []  # pictures out of tools, which only a user's message can carry
    for message in mended(request.messages):
        match message.role:
            case "user":
                yield _user([*shown, *message.parts])
                shown.clear()
            case "assistant":
                if shown:
                    yield _user(shown)
                    shown.clear()
                yield _assistant(message, host)
            case "tool":
                for part in message.parts:
                    if isinstance(part, ToolResult):
                        yield {"role": "tool", "tool_call_id": part.call_id, "content": part.content}
                    else:
                        shown.append(part)
    if shown:
        yield _user(shown)


def _user(parts: Sequence[Part]) -> Json:
    """A user's message: one plain string wherever that is possible, since not every server takes lists."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return {"role": "user", "content": "\n\n".join(texts)}
    return {"role": "user", "content": [_user_part(part) for part in parts]}


def _user_part(part: Part) -> Json:
    match part:
        case Image(media_type, data):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
        case File(media_type, data, name):
            url = f"data:{media_type};base64,{data}"
            return {"type": "file", "file": {"filename": name or "file", "file_data": url}}
        case Text(text):
            return {"type": "text", "text": text}
    raise TypeError(f"{type(part).__name__} is not a user's part")


def _assistant(message: Message, host: str) -> Json:
    """An assistant's message, without the keys that would be null: some servers refuse those."""
    out: Json = {"role": "assistant"}
    if text := "".join(part.text for part in message.parts if isinstance(part, Text | Refusal)):
        out["content"] = text
    if calls := [part for part in message.parts if isinstance(part, ToolCall)]:
        out["tool_calls"] = list(_calls(calls))
    kept = as_table(message.meta.get(KIND))
    if kept and kept.get("host") == host:
        if (field := kept.get("reasoning")) == "reasoning_content":
            out[field] = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        if details := kept.get("reasoning_details"):
            out["reasoning_details"] = details
    return out


def _calls(calls: Iterable[ToolCall]) -> Iterator[Json]:
    for call in calls:
        arguments = call.arguments if call.parsed is not None and not is_blank(call.arguments) else "{}"
        yield {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
