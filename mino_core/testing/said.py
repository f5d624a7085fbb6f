"""The words that the builders of streams share: what a model says, and one server-sent event."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from mino_core.types import ReasoningDelta, RefusalDelta, ToolCall, Usage

Dialect: TypeAlias = Literal["chat", "responses", "messages"]
#: What a model says: a string is text.
Said: TypeAlias = str | ReasoningDelta | RefusalDelta | ToolCall
MODEL = "demo-1"
#: In place of a reason to stop: the good one that fits what was said.
FITTING = ""
_HALF = re.compile("[\ud800-\udfff]")


def sse(data: object, event: str = "") -> bytes:
    """One server-sent event; `data` that is no string becomes JSON.

    Half a surrogate pair goes out as an escape, which is how servers send one.
    """
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event}\n" if event else ""
    whole = f"{name}data: {text}\n\n"
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", whole).encode()


def total(usage: Usage) -> int | None:
    """All tokens, reported or added up."""
    if usage.total_tokens is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage.total_tokens
    return usage.input_tokens + usage.output_tokens


def known(counts: Mapping[str, object]) -> dict[str, object]:
    """The counts without those that are not reported."""
    return {name: count for name, count in counts.items() if count is not None}
