"""A conversation as chat messages in JSON, the form that most programs read and write, and back.

Of a reply, its texts become one `content`, unless there is an image or a file between them; what a
dialect wants back with it is left out. What such messages cannot say stands under further keys, and only
where there is something to say: `summary` on what stands for all before, `outcome` on the last message of
a turn that did not complete, `is_error` on the result of a tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from mino_core import (
    File,
    HistoryError,
    Image,
    Message,
    Outcome,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from mino_core import Part

Json = dict[str, Any]
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def to_chat(messages: Sequence[Message], outcome: Outcome = "completed") -> list[Json]:
    """A turn's messages as `{"role": ..., "content": ...}`, with `tool_calls` and `tool_call_id`."""
    said = [each for message in messages for each in _to_chat(message)]
    if outcome != "completed" and said:
        said[-1]["outcome"] = outcome
    return said


def _to_chat(message: Message) -> Iterator[Json]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    shown = [part for part in message.parts if isinstance(part, Image | File)]
    if message.role == "tool":
        for result in results:
            failed = {"is_error": True} if result.is_error else {}
            yield {"role": "tool", "tool_call_id": result.call_id, "content": result.content, **failed}
        if shown:
            yield {"role": "user", "content": [_content(part) for part in shown]}
        return
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    said: Json = {"role": message.role, "content": "".join(texts)}
    if shown or (message.role == "user" and len(texts) > 1):
        said["content"] = [_content(part) for part in message.parts if isinstance(part, Text | Image | File)]
    for key, kind in (("reasoning_content", Reasoning), ("refusal", Refusal)):
        if words := "".join(part.text for part in message.parts if isinstance(part, kind)):
            said[key] = words
    if calls := [_call(part) for part in message.parts if isinstance(part, ToolCall)]:
        said["tool_calls"] = calls
    yield said


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _content(part: Text | Image | File) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = f"data:{part.media_type};base64,{part.data}"
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": data}}
    return {"type": "file", "file": {"filename": part.name, "file_data": data}}


class Chat:
    """What a JSON document of chat messages holds. HistoryError where it is none.

    `summary` stands for what was said before; `left_out` says of what mino has no form for, each kind once.
    """

    def __init__(self, document: object) -> None:
        self.title = self.summary = ""
        self.left_out: dict[str, None] = {}
        if isinstance(document, Mapping):
            title = document.get("title")
            self.title = " ".join(title.split()) if isinstance(title, str) else ""
            document = document.get("messages")
        if not isinstance(document, list):
            raise HistoryError("this is no list of chat messages, and no object with `messages`")
        self._turns: list[list[Message]] = []
        self._told: list[object] = []  # the outcome that each turn's last message gives
        for n, each in enumerate(document, 1):
            self._take(n, each)

    def turns(self) -> Iterator[tuple[list[Message], Outcome]]:
        """The messages, turn by turn, and how each turn ended: each begins with a question."""
        for messages, told in zip(self._turns, self._told, strict=True):
            last = messages[-1]
            waits = last.role != "assistant" or any(isinstance(part, ToolCall) for part in last.parts)
            usual: Outcome = "interrupted" if waits else "completed"
            yield messages, next((outcome for outcome in _OUTCOMES if outcome == told), usual)

    def _take(self, n: int, said: object) -> None:
        if not isinstance(said, Mapping) or not isinstance(said.get("role"), str):
            raise HistoryError(f"message {n} is no object with a `role`")
        message = self._message(n, said)
        if message is None:
            return
        if said.get("summary") is True and not self._turns:
            self.summary = message.text
            return
        if message.role == "user" or not self._turns:
            self._turns.append([])
            self._told.append(None)
        self._turns[-1].append(message)
        self._told[-1] = said.get("outcome")

    def _message(self, n: int, said: Mapping[str, Any]) -> Message | None:
        match said["role"]:
            case "user":
                return Message("user", tuple(self._content(n, said)))
            case "assistant":
                return Message("assistant", (*self._spoken(n, said), *_calls(n, said)))
            case "tool":
                words = "".join(part.text for part in self._content(n, said) if isinstance(part, Text))
                failed = said.get("is_error") is True
                return Message("tool", (ToolResult(str(said.get("tool_call_id", "")), words, failed),))
            case role:
                self.left_out[f"messages of role {role}"] = None
                return None

    def _spoken(self, n: int, said: Mapping[str, Any]) -> Iterator[Part]:
        if isinstance(thought := said.get("reasoning_content"), str) and thought:
            yield Reasoning(thought)
        yield from self._content(n, said)
        if isinstance(refusal := said.get("refusal"), str) and refusal:
            yield Refusal(refusal)

    def _content(self, n: int, said: Mapping[str, Any]) -> Iterator[Part]:
        match said.get("content"):
            case None | "":
                return
            case str(text):
                yield Text(text)
            case list(parts):
                for part in parts:
                    yield from self._part(part)
            case _:
                raise HistoryError(f"the `content` of message {n} is neither text nor a list of parts")

    def _part(self, part: object) -> Iterator[Part]:
        match part:
            case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                yield Text(text)
            case {"type": "image_url", "image_url": {"url": str(url)}} if held := _data(url):
                yield Image(*held)
            case {"type": "file", "file": {"file_data": str(url), **more}} if held := _data(url):
                yield File(*held, str(more.get("filename", "")))
            case {"type": str(kind)}:
                self.left_out[f"parts of type {kind}"] = None
            case _:
                self.left_out["parts without a type"] = None


def _data(url: str) -> tuple[str, str] | None:
    """The media type and the base64 text of a data URL; None where it leads elsewhere."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")], data


def _calls(n: int, said: Mapping[str, Any]) -> Iterator[ToolCall]:
    calls = said.get("tool_calls") or ()
    for call in calls if isinstance(calls, list | tuple) else ():
        match call:
            case {"id": str(id), "function": {"name": str(name), "arguments": str(arguments)}}:
                yield ToolCall(id, name, arguments)
            case _:
                raise HistoryError(f"a tool call of message {n} lacks its id, name or arguments")
