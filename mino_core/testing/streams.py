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
from collections.abc import Callable
from typing import Any

from .said import Dialect, Said, sse
from .steps import Step
from .stream_chat import chat
from .stream_messages import messages
from .stream_responses import responses

__all__ = ["Dialect", "chat", "error_body", "error_event", "messages", "responses", "split", "sse", "stream"]


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
