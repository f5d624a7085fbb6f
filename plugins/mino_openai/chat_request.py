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
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    is_blank,
)
from mino_core.transport import Settled, Stretch, as_list, as_table, fitted_ids, mended

#: The kind of provider, and the key of its echo bag in `Message.meta`.
KIND = "openai-chat"
Json = dict[str, Any]

#: Characters of a call's id that OpenAI takes.
_ID_LIMIT = 40


def encode(
    request: Request,
    *,
    host: str = "",
    always_reasoning: bool = False,
    include_usage: bool = True,
    max_tokens: int | None = None,
    max_tokens_field: str = "max_tokens",
    effort: str = "",
    extra_body: Mapping[str, Any] = {},
    settled: Settled | None = None,
) -> Json:
    """The body. `extra_body` and then the request's options replace what is here, key by key.

    `host` is where it goes: only the host that produced a message's reasoning gets it back; with
    `always_reasoning` every reply has some. `settled` knows what was encoded before with the same
    settings.
    """
    messages = (settled or Settled()).encode(
        request.messages,
        request.instructions,
        lambda stretch: _messages(stretch, request.instructions, host, always_reasoning),
    )
    body: Json = {"model": request.model, "messages": messages, "stream": True}
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


def _messages(stretch: Stretch, instructions: str, host: str, always_reasoning: bool) -> Iterator[Json]:
    if stretch.is_beginning and not is_blank(instructions):
        yield {"role": "system", "content": instructions}
    shown: list[Part] = []  # pictures out of tools, which only a user's message can carry
    said: list[Message] = []  # replies in a row, which a strict server takes as one only
    ids: list[str] = []  # of the calls of the last reply
    for message in mended(stretch.messages):
        if said and (message.role != "assistant" or _calls(said[-1])):
            yield _assistant(said, host, ids, always_reasoning)
            said.clear()
        match message.role:
            case "user":
                yield _user([*shown, *message.parts])
                shown.clear()
            case "assistant":
                if shown:
                    yield _user(shown)
                    shown.clear()
                said.append(message)
                ids = fitted_ids([call.id for call in _calls(message)], set(), _ID_LIMIT)
            case "tool":
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                yield from map(_result, results, ids)
                shown += (part for part in message.parts if not isinstance(part, ToolResult))
    if said:
        yield _assistant(said, host, ids, always_reasoning)
    if shown:
        yield _user(shown)


# -- a user's message --------------------------------------------------------------------------


def _user(parts: Iterable[Part]) -> Json:
    """A user's message: one plain string wherever that is possible, since not every server takes lists."""
    said = [_readable(part) for part in parts]
    texts = [part.text for part in said if isinstance(part, Text)]
    if len(texts) == len(said):
        return {"role": "user", "content": "\n\n".join(texts)}
    return {"role": "user", "content": [_user_part(part) for part in said]}


def _readable(part: Part) -> Part:
    """A text file as text: the dialect has files too, but hardly a server takes more than PDF."""
    if not isinstance(part, File) or not part.media_type.startswith("text/"):
        return part
    from base64 import b64decode

    try:
        text = b64decode(part.data).decode()
    except ValueError:
        return part
    return Text(f"{part.name}:\n\n{text}" if part.name else text)


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


# -- a reply, and what its tools said ----------------------------------------------------------


def _assistant(messages: Sequence[Message], host: str, ids: Sequence[str], always_reasoning: bool) -> Json:
    """A reply, without the keys that would be null: some servers refuse those."""
    out: Json = {"role": "assistant"}
    if texts := [text for message in messages if not is_blank(text := message.text)]:
        out["content"] = "\n\n".join(texts)
    if calls := _calls(messages[-1]):
        out["tool_calls"] = list(map(_call, calls, ids))
    for message in messages:
        kept = as_table(message.meta.get(KIND))
        if not kept or kept.get("host") != host:
            continue
        if kept.get("reasoning") == "reasoning_content":
            thoughts = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
            out["reasoning_content"] = out.get("reasoning_content", "") + thoughts
        if details := as_list(kept.get("reasoning_details")):
            out["reasoning_details"] = out.get("reasoning_details", []) + details
    if always_reasoning and not out.get("reasoning_content"):
        out["reasoning_content"] = " "  # an empty one is refused as well
    return out


def _calls(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


def _call(call: ToolCall, id: str) -> Json:
    arguments = call.arguments if call.parsed is not None and not is_blank(call.arguments) else "{}"
    function = {"name": call.name, "arguments": arguments}
    return {"id": id, "type": "function", "function": function}


def _result(result: ToolResult, id: str) -> Json:
    content = "(no output)" if is_blank(result.content) else result.content
    return {"role": "tool", "tool_call_id": id, "content": content}
