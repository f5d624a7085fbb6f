"""A chat completion, streamed."""

from __future__ import annotations

from collections.abc import Mapping

from mino_core.types import ReasoningDelta, RefusalDelta, ToolCall, Usage

from .said import FITTING, MODEL, Said, known, sse, total
from .steps import Step


def chat(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = FITTING,
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
    details = known(
        {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    )
    thought = known({"reasoning_tokens": usage.reasoning_tokens})
    counts = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": total(usage),
        "prompt_tokens_details": details or None,
        "completion_tokens_details": thought or None,
    }
    return known(counts)
