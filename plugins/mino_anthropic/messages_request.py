"""A Request as the body of Anthropic Messages: pure, and one more turn only ever adds blocks.

What a strict server refuses is repaired here: turns alternate, begin with the user and end there,
no text is blank, every call has its result in the next turn. Thinking goes back unmodified, and
only to the model that thought it.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from mino_core import File, Image, Message, Request, Text, ToolCall, ToolResult, is_blank
from mino_core.transport import Settled, Stretch, fitted_ids, kept, laid_out, mended

KIND = "anthropic-messages"
#: Ends that the server wants resumed: the reply goes back as it is, with nothing behind it.
PAUSES = ("pause_turn", "compaction")
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_THINKING = ("thinking", "redacted_thinking")
_CACHE = {"type": "ephemeral"}
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")

Json = dict[str, Any]


def encode(
    request: Request,
    *,
    max_tokens: int = 8192,
    effort: str = "",
    cache: bool = True,
    extra_body: Mapping[str, Any] = {},
    settled: Settled | None = None,
) -> Json:
    """The body for `POST /v1/messages`.

    With `cache`, the last block of the instructions and of the last two user turns are marked as
    ends of what the server may cache. `extra_body` goes over the settings, and `request.options`
    over that. `settled` knows what was encoded before with the same settings.
    """
    turns = (settled or Settled()).encode(
        request.messages, request.model, lambda stretch: _turns(stretch, request.model)
    )
    body: Json = {"model": request.model, "max_tokens": max_tokens}
    if not is_blank(request.instructions):
        body["system"] = [{"type": "text", "text": request.instructions}]
    body |= {"messages": turns, "stream": True}
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    if effort:
        body["output_config"] = {"effort": effort}
    if cache:
        asked = [turn["content"] for turn in turns if turn["role"] == "user"]
        for blocks in (body.get("system", []), *asked[-2:]):
            if blocks:
                blocks[-1]["cache_control"] = dict(_CACHE)
    for key, value in (*extra_body.items(), *request.options.items()):
        ours = body.get(key)
        body[key] = {**ours, **value} if isinstance(ours, dict) and isinstance(value, Mapping) else value
    return body


# -- turns -------------------------------------------------------------------------------------


def _turns(stretch: Stretch, model: str) -> list[Json]:
    """The turns: user and assistant alternate.

    The user has the first word, and at the end the last one but for a pause.
    """
    spoken: list[Json] = []
    ids: list[str] = []
    is_paused = False
    for message in mended(stretch.messages, lambda message: _is_paused(message, model)):
        match message.role:
            case "user":
                _add(spoken, "user", _user(message))
            case "assistant":
                ids = fitted_ids((_NOT_IN_IDS.sub("_", call.id) for call in _calls(message)), stretch.used)
                _add(spoken, "assistant", _assistant(message, model, ids))
            case "tool":
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                _add(spoken, "user", [_result(*each) for each in zip(results, ids, strict=True)])
                _add(spoken, "user", _user(message))  # pictures that tools returned
        is_paused = _is_paused(message, model)
    turns: list[Json] = []
    for n, turn in enumerate(spoken, 1):
        is_open = stretch.is_end and is_paused and n == len(spoken)
        _add(turns, turn["role"], turn["content"] if is_open else _without_loose_ends(turn["content"]))
    if stretch.is_beginning and turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": "(continued)"}]})
    if stretch.is_end and turns and turns[-1]["role"] == "assistant" and not is_paused:
        _add(turns, "user", [{"type": "text", "text": "Continue exactly where you stopped."}])
    return turns


def _add(turns: list[Json], role: str, blocks: list[Json]) -> None:
    if blocks and turns and turns[-1]["role"] == role:
        turns[-1]["content"] += blocks
    elif blocks:
        turns.append({"role": role, "content": blocks})


def _without_loose_ends(blocks: list[Json]) -> list[Json]:
    """The blocks without server tools whose results did not come, and the reverse."""
    used = [block.get("id") for block in blocks if _is_server_use(block)]
    answered = [block.get("tool_use_id") for block in blocks if _is_server_result(block)]
    return [
        block
        for block in blocks
        if not (_is_server_use(block) and block.get("id") not in answered)
        and not (_is_server_result(block) and block.get("tool_use_id") not in used)
    ]


def _is_server_use(block: Json) -> bool:
    return block["type"] in ("server_tool_use", "mcp_tool_use")


def _is_server_result(block: Json) -> bool:
    return str(block["type"]).endswith("_tool_result")


def _calls(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


# -- blocks ------------------------------------------------------------------------------------


def _user(message: Message) -> list[Json]:
    blocks: list[Json] = []
    for part in message.parts:
        match part:
            case Text(text):
                blocks.append({"type": "text", "text": text})
            case Image(media_type, data) if media_type in _PICTURES and data:
                source = {"type": "base64", "media_type": media_type, "data": data}
                blocks.append({"type": "image", "source": source})
            case Image():
                blocks.append(_left_out(part, "JPEG, PNG, GIF and WebP"))
            case File():
                blocks.append(_document(part))
    return blocks


def _document(file: File) -> Json:
    """A file as a document: PDF as it is, the rest as text; words in its place where it is neither."""
    title = {"title": file.name} if file.name else {}
    if file.media_type == "application/pdf":
        source = {"type": "base64", "media_type": file.media_type, "data": file.data}
        return {"type": "document", "source": source, **title}
    try:
        text = b64decode(file.data, validate=True).decode()
    except ValueError:
        text = ""
    if is_blank(text):
        return _left_out(file, "PDF and text")
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}, **title}


def _left_out(part: Image | File, wanted: str) -> Json:
    words = f"[The file {part.name} ({part.media_type}) is left out: only {wanted} can be sent.]"
    return {"type": "text", "text": words}


def _result(result: ToolResult, id: str) -> Json:
    content = "(no output)" if is_blank(result.content) else result.content
    failed = {"is_error": True} if result.is_error else {}
    return {"type": "tool_result", "tool_use_id": id, "content": content, **failed}


def _assistant(message: Message, model: str, ids: list[str]) -> list[Json]:
    blocks: list[Json] = []
    fitted = iter(ids)
    for place, said in laid_out(message, kept(message, KIND, model).get("order")):
        match said:
            case ToolCall():
                call = {"id": next(fitted), "name": said.name, "input": said.parsed or {}}
                blocks.append({"type": "tool_use", **call})
            case str():
                if not is_blank(said):
                    blocks.append({"type": "text", "text": said})
            case _:
                blocks.append(dict(place))
    if _is_paused(message, model):
        if blocks and blocks[-1]["type"] == "text":
            blocks[-1]["text"] = blocks[-1]["text"].rstrip()  # refused where the request ends with it
        return blocks
    while blocks and blocks[-1]["type"] in _THINKING:
        blocks.pop()  # refused at the end of a turn
    return blocks


def _is_paused(message: Message, model: str) -> bool:
    """Whether the server wants this reply back to go on with it."""
    return kept(message, KIND, model).get("stop") in PAUSES
