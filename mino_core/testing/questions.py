"""Requests that try a provider: plain ones, and all that a conversation may hold."""

from __future__ import annotations

from mino_core.types import Message, Part, Reasoning, Refusal, Request, Text, Tool, ToolCall, ToolResult


def request(*messages: Message, tools: tuple[Tool, ...] = ()) -> Request:
    """A small request; without messages, one question."""
    return Request("demo-1", "Be brief.", messages or (user("hi"),), tools)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def model(*parts: Part) -> Message:
    return Message("assistant", parts)


def untidy() -> Request:
    """All that a conversation may hold after bad days."""
    return request(
        user("question one"),
        user("question two"),
        model(Text("  ")),
        user("half \ud83d"),
        model(Refusal("I would rather not.")),
        user("  "),
        user("question three"),
        model(Reasoning("hm"), Text("an answer \n"), ToolCall("lost_1", "look", "{}")),
        Message("tool", (ToolResult("never_asked", "words"),)),
        user("question four"),
        model(Text("")),
        user("question five"),
    )


def with_tools() -> Request:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    look = Tool("look", "Look at a file.", schema, lambda path: path)
    calls = ToolCall("call_1", "look", '{"path": "a"}'), ToolCall("call_2", "look", "")
    return request(
        user("look at both"),
        model(Text("Looking."), *calls),
        Message("tool", (ToolResult("call_1", "is a"), ToolResult("call_2", "is missing", is_error=True))),
        tools=(look,),
    )
