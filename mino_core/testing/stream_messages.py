"""A message, streamed: blocks that open, grow and close."""

from __future__ import annotations

from mino_core.types import ReasoningDelta, RefusalDelta, ToolCall, Usage

from .said import FITTING, MODEL, Said, known, sse
from .steps import Step


def messages(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = FITTING,
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
    return known(counts)
