"""Answers as the three dialects put them on the wire, built from mino's own words.

Each builder takes what the model says, in order: a `str` (the answer's text), a ReasoningDelta, a
RefusalDelta or a ToolCall. It returns the steps of a reply, one a delta; whatever else stands
among the items (a gate, bytes, a function) is a step and stays in its place:

    server.reply(*chat("Hello", gate, " world", usage=Usage(input_tokens=3, output_tokens=2)))

`finish` is the server's own word for why it stopped; left out, the good one that fits; None for a
stream that breaks off without any.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from mino_core.types import ReasoningDelta, RefusalDelta, ToolCall, Usage

from .steps import Step

Dialect: TypeAlias = Literal["chat", "responses", "messages"]
#: What a model says: a string is text.
Said: TypeAlias = str | ReasoningDelta | RefusalDelta | ToolCall
MODEL = "demo-1"
_FITTING = ""


def stream(dialect: Dialect, *items: Said | Step, **rest: Any) -> list[Step]:
    """The builder of that dialect, called with the rest."""
    builders: dict[str, Callable[..., list[Step]]] = {
        "chat": chat,
        "responses": responses,
        "messages": messages,
    }
    return builders[dialect](*items, **rest)


def split(steps: list[Step], size: int = 1) -> list[Step]:
    """The same bytes, in pieces of `size`, so that letters and lines come apart."""
    pieces: list[Step] = []
    for step in steps:
        if isinstance(step, bytes):
            pieces += (step[at : at + size] for at in range(0, len(step), size))
        else:
            pieces.append(step)
    return pieces


def sse(data: object, event: str = "") -> bytes:
    """One server-sent event; `data` that is no string becomes JSON."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {text}\n\n".encode()


# -- chat completions --------------------------------------------------------------------------


def chat(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = _FITTING,
    done: bool | None = None,
) -> list[Step]:
    """A streamed chat completion; `done`: whether `[DONE]` follows (as it does after a `finish`)."""

    def chunk(choices: list[object], **more: object) -> bytes:
        head = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": MODEL,
        }
        return sse({**head, "choices": choices, **more})

    def choice(delta: Mapping[str, object], finish_reason: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    steps: list[Step] = [choice({"role": "assistant", "content": ""})]
    calls = 0
    for item in items:
        match item:
            case str():
                steps.append(choice({"content": item}))
            case ReasoningDelta(text):
                steps.append(choice({"reasoning_content": text}))
            case RefusalDelta(text):
                steps.append(choice({"refusal": text}))
            case ToolCall(id, name, arguments):
                named = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
                steps.append(choice({"tool_calls": [{"index": calls, **named}]}))
                filled = {"index": calls, "function": {"arguments": arguments}}
                steps.append(choice({"tool_calls": [filled]}))
                calls += 1
            case _:
                steps.append(item)
    if finish is not None:
        steps.append(choice({}, finish or ("tool_calls" if calls else "stop")))
        if usage is not None:
            steps.append(chunk([], usage=chat_usage(usage)))
    if finish is not None if done is None else done:
        steps.append(sse("[DONE]"))
    return steps


def chat_usage(usage: Usage) -> dict[str, object]:
    """The counts as chat completions name them."""
    details = _known(
        {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    )
    thought = _known({"reasoning_tokens": usage.reasoning_tokens})
    counts = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": _total(usage),
        "prompt_tokens_details": details or None,
        "completion_tokens_details": thought or None,
    }
    return _known(counts)


# -- responses ---------------------------------------------------------------------------------


def responses(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = _FITTING,
    reason: str = "",
    error: str = "",
) -> list[Step]:
    """A streamed response. `finish` is its last status: `completed`, `incomplete`, `failed`, ...

    `reason` is that of `incomplete` (such as `max_output_tokens`), `error` the message of `failed`.
    """
    answer = _Response()
    steps: list[Step] = [
        answer.event("response.created", response=answer.state("in_progress")),
        answer.event("response.in_progress", response=answer.state("in_progress")),
    ]
    for item in items:
        match item:
            case str():
                steps += answer.say("output_text", item)
            case RefusalDelta(text):
                steps += answer.say("refusal", text)
            case ReasoningDelta(text):
                steps += answer.think(text)
            case ToolCall():
                steps += answer.call(item)
            case _:
                steps.append(item)
    if finish is None:
        return steps
    steps += answer.close()
    status = finish or "completed"
    final = answer.state(status)
    final["usage"] = None if usage is None else responses_usage(usage)
    final["incomplete_details"] = {"reason": reason} if reason else None
    final["error"] = {"code": "server_error", "message": error} if error else None
    steps.append(answer.event(f"response.{status}", response=final))
    return steps


def responses_usage(usage: Usage) -> dict[str, object]:
    """The counts as responses name them."""
    details = _known(
        {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    )
    thought = _known({"reasoning_tokens": usage.reasoning_tokens})
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": _total(usage),
        "input_tokens_details": details or None,
        "output_tokens_details": thought or None,
    }
    return _known(counts)


class _Response:
    """A response that grows: numbers its events, opens and closes its output items."""

    def __init__(self) -> None:
        self._sequence = 0
        self._output: list[dict[str, Any]] = []
        self._open = ""  # what the last output item still takes: "reasoning", "message" or nothing

    def event(self, type: str, **fields: object) -> bytes:
        event = sse({"type": type, **fields, "sequence_number": self._sequence}, type)
        self._sequence += 1
        return event

    def state(self, status: str) -> dict[str, Any]:
        fixed = {"id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": MODEL}
        return {**fixed, "status": status, "error": None, "output": list(self._output), "usage": None}

    def say(self, kind: str, text: str) -> list[Step]:
        steps: list[Step] = []
        key = "text" if kind == "output_text" else "refusal"
        if self._open != "message":
            item = {"id": f"msg_{len(self._output)}", "type": "message", "role": "assistant", "content": []}
            steps += self._begin("message", {**item, "status": "in_progress"})
        content = self._output[-1]["content"]
        if not content or content[-1]["type"] != kind:
            steps += self._end_part()
            content.append({"type": kind, key: "", **({"annotations": []} if key == "text" else {})})
            steps.append(self.event("response.content_part.added", **self._place(), part=dict(content[-1])))
        content[-1][key] += text
        steps.append(self.event(f"response.{kind}.delta", **self._place(), delta=text))
        return steps

    def think(self, text: str) -> list[Step]:
        steps: list[Step] = []
        if self._open != "reasoning":
            new = {"id": f"rs_{len(self._output)}", "type": "reasoning", "summary": []}
            steps += self._begin("reasoning", {**new, "encrypted_content": "sealed"})
            self._output[-1]["summary"].append({"type": "summary_text", "text": ""})
        item = self._output[-1]
        item["summary"][0]["text"] += text
        place = {"item_id": item["id"], "output_index": len(self._output) - 1, "summary_index": 0}
        steps.append(self.event("response.reasoning_summary_text.delta", **place, delta=text))
        return steps

    def call(self, call: ToolCall) -> list[Step]:
        name = f"fc_{len(self._output)}"
        item = {"id": name, "type": "function_call", "call_id": call.id, "name": call.name}
        steps = self._begin("call", {**item, "arguments": "", "status": "in_progress"})
        place = {"item_id": name, "output_index": len(self._output) - 1}
        steps.append(self.event("response.function_call_arguments.delta", **place, delta=call.arguments))
        self._output[-1]["arguments"] = call.arguments
        steps.append(self.event("response.function_call_arguments.done", **place, arguments=call.arguments))
        return steps + self.close()

    def close(self) -> list[Step]:
        """End the open output item, if there is one."""
        if not self._open:
            return []
        steps = self._end_part()
        self._open = ""
        item = self._output[-1]
        if "status" in item:
            item["status"] = "completed"
        steps.append(self.event("response.output_item.done", output_index=len(self._output) - 1, item=item))
        return steps

    def _begin(self, kind: str, item: dict[str, Any]) -> list[Step]:
        steps = self.close()
        self._output.append(item)
        self._open = kind
        steps.append(self.event("response.output_item.added", output_index=len(self._output) - 1, item=item))
        return steps

    def _end_part(self) -> list[Step]:
        if self._open != "message" or not self._output[-1]["content"]:
            return []
        part, place = self._output[-1]["content"][-1], self._place()
        kind = part["type"]
        key = "text" if kind == "output_text" else "refusal"
        return [
            self.event(f"response.{kind}.done", **place, **{key: part[key]}),
            self.event("response.content_part.done", **place, part=part),
        ]

    def _place(self) -> dict[str, object]:
        item = self._output[-1]
        return {
            "item_id": item["id"],
            "output_index": len(self._output) - 1,
            "content_index": len(item["content"]) - 1,
        }


# -- messages ----------------------------------------------------------------------------------


def messages(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = _FITTING,
    stop: bool | None = None,
) -> list[Step]:
    """A streamed message; `stop`: whether `message_stop` follows (as it does after a `finish`).

    There, a refusal is text.
    """

    def event(type: str, **fields: object) -> bytes:
        return sse({"type": type, **fields}, type)

    counts = {} if usage is None else messages_usage(usage)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    start = {**message, "stop_reason": None, "stop_sequence": None, "usage": {**counts, "output_tokens": 0}}
    if usage is None:
        del start["usage"]
    steps: list[Step] = [event("message_start", message=start)]
    index, open_, called = -1, "", False

    def end() -> list[Step]:
        if not open_:
            return []
        seal = {"type": "signature_delta", "signature": "sealed"}
        sealed = [event("content_block_delta", index=index, delta=seal)] if open_ == "thinking" else []
        return [*sealed, event("content_block_stop", index=index)]

    for item in items:
        match item:
            case str(text) | RefusalDelta(text):
                kind, block = "text", {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": text}
            case ReasoningDelta(text):
                kind, block = "thinking", {"type": "thinking", "thinking": "", "signature": ""}
                delta = {"type": "thinking_delta", "thinking": text}
            case ToolCall(id, name, arguments):
                kind, called = f"tool_use {id}", True
                block = {"type": "tool_use", "id": id, "name": name, "input": {}}  # type: ignore[dict-item]
                delta = {"type": "input_json_delta", "partial_json": arguments}
            case _:
                steps.append(item)
                continue
        if kind != open_:
            steps += end()
            index, open_ = index + 1, kind
            steps.append(event("content_block_start", index=index, content_block=block))
        steps.append(event("content_block_delta", index=index, delta=delta))
    if finish is not None:
        steps += end()
        reason = {"stop_reason": finish or ("tool_use" if called else "end_turn"), "stop_sequence": None}
        more: dict[str, object] = {} if usage is None else {"usage": counts}
        steps.append(event("message_delta", delta=reason, **more))
    if finish is not None if stop is None else stop:
        steps.append(event("message_stop"))
    return steps


def messages_usage(usage: Usage) -> dict[str, object]:
    """The counts as messages name them: there, input tokens leave the cached ones out."""
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    counts = {
        "input_tokens": None if usage.input_tokens is None else usage.input_tokens - cached,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
    }
    return _known(counts)


# -- errors ------------------------------------------------------------------------------------


def error_body(dialect: Dialect, message: str, type: str = "server_error") -> bytes:
    """What that dialect answers with an HTTP error."""
    error: dict[str, object] = {"type": type, "message": message}
    if dialect == "messages":
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    return json.dumps({"error": {**error, "param": None, "code": None}}).encode()


def error_event(dialect: Dialect, message: str, type: str = "server_error") -> bytes:
    """What that dialect says in a stream that fails."""
    if dialect == "chat":
        return sse({"error": {"type": type, "message": message, "code": None}})
    if dialect == "responses":
        return sse({"type": "error", "code": type, "message": message, "param": None}, "error")
    return sse({"type": "error", "error": {"type": type, "message": message}}, "error")


def _total(usage: Usage) -> int | None:
    if usage.total_tokens is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage.total_tokens
    return usage.input_tokens + usage.output_tokens


def _known(counts: Mapping[str, object]) -> dict[str, object]:
    return {name: count for name, count in counts.items() if count is not None}
