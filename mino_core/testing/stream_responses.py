"""A response, streamed: items that open, grow and close."""

from __future__ import annotations

from typing import Any

from mino_core.types import ReasoningDelta, RefusalDelta, ToolCall, Usage

from .said import FITTING, MODEL, Said, known, sse, total
from .steps import Step


def responses(
    *items: Said | Step,
    usage: Usage | None = None,
    finish: str | None = FITTING,
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
    details = known(
        {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    )
    thought = known({"reasoning_tokens": usage.reasoning_tokens})
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": total(usage),
        "input_tokens_details": details or None,
        "output_tokens_details": thought or None,
    }
    return known(counts)


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
