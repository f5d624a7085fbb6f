"""A Request as the body of OpenAI Responses: pure, and one more turn only ever adds to the input.

What a strict server refuses is repaired here: blank messages are left out, every call has its
output right behind it, reasoning goes back only whole and only to the model that thought it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mino_core import File, Image, Message, ProviderError, Request, Text, ToolCall, ToolResult, is_blank
from mino_core.transport import Settled, Stretch, fitted_ids, kept, laid_out, mended

KIND = "openai-responses"
#: Characters of a call's id that OpenAI takes.
_ID_LIMIT = 64
#: The server's own memory of a conversation; mino sends the whole of it instead.
_NEVER = ("previous_response_id", "conversation")

Json = dict[str, Any]


def encode(
    request: Request,
    *,
    effort: str = "",
    max_tokens: int | None = None,
    strip_item_ids: bool = False,
    extra_body: Mapping[str, Any] = {},
    settled: Settled | None = None,
) -> Json:
    """The body for `POST /responses`. ProviderError where an option would break the conversation.

    `effort` and `max_tokens` (reasoning included) are the user's settings; `extra_body` goes over
    them, and `request.options` over that. `strip_item_ids` leaves the ids off reasoning items, for
    proxies that look them up. `settled` knows what was encoded before with the same settings.
    """
    items = (settled or Settled()).encode(
        request.messages, request.model, lambda stretch: _items(stretch, request.model, strip_item_ids)
    )
    body: Json = {"model": request.model}
    if not is_blank(request.instructions):
        body["instructions"] = request.instructions
    body |= {"input": items, "store": False, "stream": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in request.tools
        ]
    if effort:
        body["reasoning"] = {"effort": effort}
    if max_tokens is not None:
        body["max_output_tokens"] = max_tokens
    for key, value in (*extra_body.items(), *request.options.items()):
        if key in _NEVER:
            raise ProviderError(
                "config", f"the option {key} is never sent: mino keeps the conversation itself"
            )
        ours = body.get(key)
        body[key] = {**ours, **value} if isinstance(ours, dict) and isinstance(value, Mapping) else value
    if "reasoning" in body or any(item.get("type") == "reasoning" for item in items):
        body.setdefault("include", ["reasoning.encrypted_content"])
    return body


def _items(stretch: Stretch, model: str, strip_item_ids: bool) -> Iterator[Json]:
    ids: list[str] = []  # of the calls of the last reply
    for message in mended(stretch.messages):
        match message.role:
            case "user":
                yield from _user(message)
            case "assistant":
                calls = [part.id for part in message.parts if isinstance(part, ToolCall)]
                ids = fitted_ids(calls, set(), _ID_LIMIT)
                yield from _assistant(message, model, strip_item_ids, ids)
            case "tool":
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                yield from map(_output, results, ids)
                yield from _user(message)  # pictures that tools returned


def _user(message: Message) -> Iterator[Json]:
    content: list[Json] = []
    for part in message.parts:
        match part:
            case Text(text) if not is_blank(text):
                content.append({"type": "input_text", "text": text})
            case Image(media_type, data):
                url = f"data:{media_type};base64,{data}"
                content.append({"type": "input_image", "image_url": url, "detail": "auto"})
            case File(media_type, data, name):
                url = f"data:{media_type};base64,{data}"
                content.append({"type": "input_file", "filename": name or "file", "file_data": url})
    match content:
        case []:
            return
        case [{"type": "input_text", "text": text}]:
            yield {"role": "user", "content": text}
        case _:
            yield {"role": "user", "content": content}


def _assistant(message: Message, model: str, strip_item_ids: bool, ids: Iterable[str]) -> Iterator[Json]:
    """The reply as items. A plain string is the one form of content that every server takes."""
    items: list[Json] = []
    call_ids = iter(ids)
    for place, said in laid_out(message, kept(message, KIND, model).get("order")):
        if isinstance(said, ToolCall):
            items.append(
                {
                    "type": "function_call",
                    "call_id": next(call_ids),
                    "name": said.name,
                    "arguments": said.arguments
                    if said.arguments.strip() and said.parsed is not None
                    else "{}",
                }
            )
        elif said is None:
            items.append({key: place[key] for key in place if not (strip_item_ids and key == "id")})
        elif not is_blank(said):
            phase = {"phase": place["phase"]} if "phase" in place else {}
            items.append({"role": "assistant", "content": said, **phase})
    while items and "encrypted_content" in items[-1]:
        items.pop()  # without what followed it, a server refuses it
    yield from items


def _output(result: ToolResult, id: str) -> Json:
    output = "(no output)" if is_blank(result.content) else result.content
    return {"type": "function_call_output", "call_id": id, "output": output}
