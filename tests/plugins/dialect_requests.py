"""Requests that every dialect must put into its own words; the bodies stand in `bodies/`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mino_core import (
    Delta,
    File,
    Finished,
    Image,
    Message,
    Reasoning,
    ReasoningDelta,
    Refusal,
    RefusalDelta,
    Request,
    Text,
    TextDelta,
    Tool,
    ToolCall,
    ToolResult,
)

BODIES = Path(__file__).parent / "bodies"


def user(*texts: str) -> Message:
    return Message("user", tuple(map(Text, texts)))


def assistant(*parts: Text | Reasoning | Refusal | ToolCall, **meta: Any) -> Message:
    return Message("assistant", parts, {kind.replace("_", "-"): value for kind, value in meta.items()})


def result(call_id: str, content: str, is_error: bool = False) -> Message:
    return Message("tool", (ToolResult(call_id, content, is_error),))


def ask(*messages: Message, instructions: str = "", **rest: Any) -> Request:
    return Request("demo", instructions, messages, **rest)


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


LIST = Tool(
    "list_dir", "Lists a directory.", {"type": "object", "properties": {"path": {"type": "string"}}}, list
)
NOW = Tool("now", "Tells the time.", {"type": "object", "properties": {}}, str)

#: What an answer in JSON must look like, for the option that each dialect has for it.
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

#: A reply that thought, spoke, thought again and called, as both dialects kept it.
THOUGHTFUL = assistant(
    Reasoning("Look at the files.\n\nThen count."),
    Text("Let me look."),
    ToolCall("call_A", "list_dir", '{"path": "."}'),
    openai_responses={
        "model": "demo",
        "order": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA1"},
            {"text": 12, "phase": "commentary"},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gAAA2"},
            {"call": "call_A"},
        ],
    },
    anthropic_messages={
        "model": "demo",
        "order": [
            {"type": "thinking", "thinking": "Look at the files.", "signature": "EqQB=="},
            {"text": 12},
            {"type": "redacted_thinking", "data": "opaque"},
            {"call": "call_A"},
        ],
    },
)

REQUESTS: dict[str, Request] = {
    "plain": ask(user("What is HTTP?"), instructions="Be brief."),
    "three-turns": ask(
        user("One?"), assistant(Text("Eins.")), user("Two?"), assistant(Text("Zwei. ")), user("Three?")
    ),
    "tools": ask(
        user("What is here, and what time is it?"),
        assistant(
            Text("Looking."), ToolCall("call_1", "list_dir", '{"path": "."}'), ToolCall("call_2", "now", "")
        ),
        result("call_1", "a.txt"),
        result("call_2", "no clock", is_error=True),
        assistant(Text("One file.")),
        user("And in b?"),
        tools=(LIST, NOW),
    ),
    "reasoning": ask(user("What is here?"), THOUGHTFUL, result("call_A", "a.txt")),
    "refusal": ask(user("Do harm."), assistant(Refusal("I can't help with that.")), user("Then sing.")),
    "attachments": ask(
        Message(
            "user",
            (
                Text("Compare."),
                Image("image/png", encoded(b"png"), "a.png"),
                File("application/pdf", encoded(b"pdf"), "b.pdf"),
                File("text/plain", encoded("größer".encode()), "c.txt"),
                File("application/zip", encoded(b"\xff\xfe"), "d.zip"),
            ),
        )
    ),
    "options": ask(user("Hi"), options={"temperature": 0.2, "metadata": {"user_id": "u"}}),
    "repaired": ask(
        user(" \u3000 "),
        user("First, lost."),
        user("Second.", "With more."),
        assistant(Text("  ")),
        user("Third."),
        assistant(
            Text("Calling."), ToolCall("c/1:" + "x" * 80, "now", "{broken"), ToolCall("c_1", "now", "{}")
        ),
        user("Fourth."),
        result("unheard-of", "an answer to nothing"),
        assistant(ToolCall("c_1", "now", "{}")),
        result("c_1", ""),
    ),
}


def body(dialect: str, name: str) -> Any:
    """The body that must go out, as it is written down."""
    return json.loads((BODIES / f"{dialect}-{name}.json").read_text("utf-8"))


def said(deltas: Iterable[Delta]) -> Message:
    """What a session would keep of a reply."""
    parts: list[Any] = []
    calls: list[ToolCall] = []
    meta: Any = {}
    kinds = {TextDelta: Text, ReasoningDelta: Reasoning, RefusalDelta: Refusal}
    for delta in deltas:
        match delta:
            case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
                kind = kinds[type(delta)]
                if parts and isinstance(parts[-1], kind):
                    parts[-1] = replace(parts[-1], text=parts[-1].text + text)
                else:
                    parts.append(kind(text))
            case ToolCall():
                calls.append(delta)
            case Finished():
                meta = delta.meta
    return Message("assistant", (*parts, *calls), meta)
