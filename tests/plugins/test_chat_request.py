"""The body of Chat Completions."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from dialect_conversations import conversations, moments
from dialect_requests import LIST, REQUESTS, SCHEMA, ask, assistant, body, result, user
from hypothesis import given, settings
from mino_core import File, Image, Message, Reasoning, Refusal, Request, Text, ToolCall, ToolResult
from mino_core.testing.strict import problems
from mino_core.transport.bodies import encoded

from mino_openai.chat_request import encode

SETTINGS: dict[str, dict[str, Any]] = {"options": {"effort": "low", "max_tokens": 100}}
LOOKED = ToolCall("call_1", "list_dir", '{"path": "."}')
DETAILS = [
    {"type": "reasoning.text", "text": "Look ", "signature": None, "index": 0},
    {"type": "reasoning.encrypted", "data": "opaque", "id": "r1", "index": 1},
]
#: What only this dialect has: the request, and the settings it goes out with.
OWN: dict[str, tuple[Request, dict[str, Any]]] = {
    "schema": (
        ask(
            user("Where?"),
            options={
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
                }
            },
        ),
        {},
    ),
    "deepseek-thinking": (
        ask(
            user("What is here?"),
            assistant(
                Reasoning("Look "),
                Reasoning("first."),
                Text("Looking."),
                LOOKED,
                openai_chat={"host": "api.deepseek.com", "reasoning": "reasoning_content"},
            ),
            result("call_1", "a.txt"),
            assistant(
                Reasoning("One."),
                Text("One file."),
                openai_chat={"host": "api.deepseek.com", "reasoning": "reasoning_content"},
            ),
            user("Sure?"),
            tools=(LIST,),
        ),
        {"host": "api.deepseek.com"},
    ),
    "openrouter-details": (
        ask(
            user("What is here?"),
            assistant(
                Reasoning("Look "),
                LOOKED,
                openai_chat={
                    "host": "openrouter.ai",
                    "reasoning": "reasoning",
                    "reasoning_details": DETAILS,
                },
            ),
            result("call_1", "a.txt"),
            tools=(LIST,),
        ),
        {"host": "openrouter.ai"},
    ),
    "openai": (
        ask(user("Hi"), instructions="Be brief."),
        {"max_tokens": 100, "max_tokens_field": "max_completion_tokens", "effort": "high"},
    ),
    "no-usage": (ask(user("Hi")), {"include_usage": False}),
    "extra-body": (
        ask(user("Hi"), options={"top_p": 0.5, "stop": ["END"]}),
        {"extra_body": {"top_p": 1, "provider": {"order": ["x"]}}, "max_tokens": 5},
    ),
}


def messages(*said: Message, **rest: Any) -> Any:
    return encode(ask(*said), **rest)["messages"]


def words(request: Request) -> str:
    """All that is said, in order, with who says it wherever the speaker changes."""
    text, before = "", ""
    for message in encode(request)["messages"]:
        content = message.get("content", "")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            who = message["role"]
            text += "\n\n" if who == before else f"\0{who}:"
            text += part.get("text") or json.dumps(part)
            before = who
        text += (
            json.dumps([message.get("tool_calls"), message.get("tool_call_id")]) if before != "user" else ""
        )
    return text


@pytest.mark.parametrize("name", REQUESTS)
def test_the_body_is_exactly_what_is_written_down(name: str) -> None:
    assert encode(REQUESTS[name], **SETTINGS.get(name, {})) == body("chat", name)


@pytest.mark.parametrize("name", OWN)
def test_what_this_dialect_alone_has_is_exactly_what_is_written_down(name: str) -> None:
    request, rest = OWN[name]
    assert encode(request, **rest) == body("chat", name)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_strict_server_refuses_nothing(name: str) -> None:
    assert problems("chat", encoded(encode(REQUESTS[name]))) == []


def test_a_plain_question_is_four_keys() -> None:
    plain = encode(ask(user("Hi")))
    assert set(plain) == {"model", "messages", "stream", "stream_options"}
    assert set(encode(ask(user("Hi")), include_usage=False)) == {"model", "messages", "stream"}


@pytest.mark.parametrize("instructions", ["", " \n", "\u3000"])
def test_blank_instructions_are_left_out(instructions: str) -> None:
    assert encode(ask(user("Hi"), instructions=instructions))["messages"] == [
        {"role": "user", "content": "Hi"}
    ]


def test_what_the_user_set_goes_over_what_mino_would_send() -> None:
    request = ask(user("Hi"), options={"max_tokens": 7, "stream_options": {"x": 1}})
    sent = encode(
        request, max_tokens=100, effort="high", extra_body={"max_tokens": 9, "seed": 1, "model": "m"}
    )
    assert (sent["max_tokens"], sent["seed"], sent["stream_options"]) == (7, 1, {"x": 1})
    assert (sent["reasoning_effort"], sent["model"]) == ("high", "m")
    sent = encode(ask(user("Hi")), max_tokens=5, max_tokens_field="max_completion_tokens")
    assert sent["max_completion_tokens"] == 5
    assert "max_tokens" not in sent


def test_a_reply_is_a_plain_string_without_null_keys() -> None:
    sent = messages(user("?"), assistant(Text("a"), Refusal("b"), Text("c")), user("!"))
    assert sent[1] == {"role": "assistant", "content": "abc"}
    sent = messages(user("?"), assistant(ToolCall("c", "now", " ")), result("c", "noon"))
    call = {"id": "c", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    assert sent[1:] == [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "noon"},
    ]


def test_replies_in_a_row_become_one() -> None:
    reply = ToolCall("c", "now", "{}")
    sent = messages(
        user("?"), assistant(Text("a")), user(" "), assistant(Text("b"), reply), assistant(Text("c"))
    )
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant"]
    assert sent[1]["content"] == "a\n\nb"


def test_a_long_id_is_shortened_the_same_way_on_both_sides() -> None:
    long = "toolu_" + "x" * 60
    sent = messages(user("?"), assistant(ToolCall(long, "now", "{}")), result(long, "noon"))
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
    assert len(sent[2]["tool_call_id"]) <= 40


def test_a_text_file_is_read_out_and_other_files_are_attached() -> None:
    note = File("text/markdown", b64encode("größer".encode()).decode(), "a.md")
    assert messages(Message("user", (Text("See"), note)))[0]["content"] == "See\n\na.md:\n\ngrößer"
    binary = File("text/plain", b64encode(b"\xff").decode())
    assert messages(Message("user", (binary,)))[0]["content"][0]["type"] == "file"


def test_a_picture_out_of_a_tool_is_shown_by_the_user() -> None:
    shown = Message("tool", (ToolResult("c", "a plot"), Image("image/png", "AAAA")))
    call = assistant(ToolCall("c", "plot", "{}"))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert messages(user("?"), call, shown)[-1] == {"role": "user", "content": [picture]}
    sent = messages(user("?"), call, shown, user("Nice."))
    assert sent[-1]["content"] == [picture, {"type": "text", "text": "Nice."}]
    assert [m["role"] for m in messages(user("?"), call, shown, assistant(Text("So.")), user("Ok."))] == [
        *("user", "assistant", "tool", "user", "assistant", "user")
    ]


def test_only_the_host_that_thought_gets_its_thoughts_back() -> None:
    thought = assistant(
        Reasoning("hm"),
        Text("So."),
        openai_chat={"host": "api.deepseek.com", "reasoning": "reasoning_content"},
    )
    sent = messages(user("?"), thought, user("!"), host="api.deepseek.com")
    assert sent[1] == {"role": "assistant", "content": "So.", "reasoning_content": "hm"}
    for host in ("", "api.openai.com"):
        assert messages(user("?"), thought, user("!"), host=host)[1] == {
            "role": "assistant",
            "content": "So.",
        }


def test_where_every_reply_needs_reasoning_those_without_have_a_blank() -> None:
    """DeepSeek refuses a reply that another model gave, and one whose reasoning is empty."""
    thought = assistant(
        Reasoning("hm"), Text("So."), openai_chat={"host": "h", "reasoning": "reasoning_content"}
    )
    mute = assistant(Text("So."), openai_chat={"host": "h", "reasoning": "reasoning_content"})
    other = assistant(Reasoning("not yours"), LOOKED, anthropic_messages={"model": "demo", "order": []})
    sent = messages(
        *(user("1"), thought, user("2"), mute, user("3"), other, result("call_1", "a.txt")),
        host="h",
        always_reasoning=True,
    )
    replies = [message for message in sent if message["role"] == "assistant"]
    assert [reply["reasoning_content"] for reply in replies] == ["hm", " ", " "]


def test_thoughts_under_a_name_that_no_server_takes_back_stay_here() -> None:
    thought = assistant(Reasoning("hm"), Text("So."), openai_chat={"host": "h", "reasoning": "reasoning"})
    assert messages(user("?"), thought, user("!"), host="h")[1] == {"role": "assistant", "content": "So."}


@pytest.mark.parametrize(
    "echo", [None, [], "x", {"host": "h"}, {"host": "h", "reasoning_details": "x"}, {"host": 7}]
)
def test_a_damaged_echo_costs_only_the_echo(echo: Any) -> None:
    sent = messages(user("?"), assistant(Text("So."), openai_chat=echo), user("!"), host="h")
    assert sent[1] == {"role": "assistant", "content": "So."}


@settings(deadline=None)
@given(conversations())
def test_one_more_turn_only_adds(said: list[Message]) -> None:
    sent = [words(ask(*said[:end])) for end in moments(said)]
    for before, after in pairwise(sent):
        assert after.startswith(before)


@settings(deadline=None)
@given(conversations(tidy=False))
def test_whatever_history_holds_a_strict_server_takes_it(said: list[Message]) -> None:
    request = ask(*said, user("And now?"))
    assert problems("chat", encoded(encode(request))) == []
    assert encode(request) == encode(replace(request))
