"""The body of OpenAI Responses."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from dialect_conversations import conversations, moments
from dialect_requests import LIST, REQUESTS, SCHEMA, THOUGHTFUL, ask, assistant, body, result, user
from hypothesis import given, settings
from mino_core import Image, Message, ProviderError, Request, Text, ToolCall, ToolResult
from mino_core.testing.strict import problems

from mino_openai.responses_request import encode

SETTINGS = {"options": {"effort": "low", "max_tokens": 100}}
#: What only this dialect has: the request, and the settings it goes out with.
OWN = {
    "schema": (
        ask(
            user("Where?"),
            options={"text": {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA}}},
        ),
        {},
    ),
    "reasoning-options": (
        ask(user("Hi"), options={"reasoning": {"summary": "auto"}, "text": {"verbosity": "low"}}),
        {"effort": "high", "max_tokens": 100},
    ),
    "without-item-ids": (
        ask(user("What is here?"), THOUGHTFUL, result("call_A", "a.txt")),
        {"strip_item_ids": True},
    ),
    "extra-body": (
        ask(user("Hi"), options={"truncation": "auto"}),
        {"extra_body": {"truncation": "disabled", "store": True, "prompt_cache_key": "me"}},
    ),
}


def blocks(request: Request) -> list[object]:
    """What is said to the model, message by message and part by part."""
    flat: list[object] = []
    for item in encode(request)["input"]:
        content = item.get("content")
        if isinstance(content, list):
            flat += [{**item, "content": part} for part in content]
        elif item.get("role") == "user":
            flat.append({**item, "content": {"type": "input_text", "text": content}})
        else:
            flat.append(item)
    return flat


@pytest.mark.parametrize("name", REQUESTS)
def test_the_body_is_exactly_what_is_written_down(name):
    assert encode(REQUESTS[name], **SETTINGS.get(name, {})) == body("responses", name)


@pytest.mark.parametrize("name", OWN)
def test_what_this_dialect_alone_has_is_exactly_what_is_written_down(name):
    request, rest = OWN[name]
    assert encode(request, **rest) == body("responses", name)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_strict_server_refuses_nothing(name):
    assert problems("responses", json.dumps(encode(REQUESTS[name])).encode()) == []


def test_a_plain_question_is_five_keys_and_tools_make_six():
    plain = ask(user("Hi"), instructions="Be brief.")
    assert set(encode(plain)) == {"model", "instructions", "input", "store", "stream"}
    assert set(encode(replace(plain, tools=(LIST,)))) == {
        "model",
        "instructions",
        "input",
        "store",
        "stream",
        "tools",
    }


@pytest.mark.parametrize("instructions", ["", " \n", "\u3000"])
def test_blank_instructions_are_left_out(instructions):
    assert set(encode(ask(user("Hi"), instructions=instructions))) == {"model", "input", "store", "stream"}


def test_a_picture_out_of_a_tool_is_shown_by_the_user():
    shown = Message("tool", (ToolResult("c", "a plot"), Image("image/png", "AAAA")))
    sent = encode(ask(user("?"), assistant(ToolCall("c", "plot", "{}")), shown))["input"]
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
    assert sent[-1] == {"role": "user", "content": [picture]}


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_the_servers_memory_is_never_used(key):
    with pytest.raises(ProviderError, match=f"{key} is never sent"):
        encode(ask(user("Hi"), options={key: "x"}))


def test_what_the_user_set_goes_over_what_mino_would_send():
    request = ask(
        user("Hi"), options={"reasoning": {"summary": "auto"}, "store": True, "max_output_tokens": 7}
    )
    sent = encode(request, effort="high", max_tokens=100, extra_body={"max_output_tokens": 9, "user": "u"})
    assert sent["reasoning"] == {"effort": "high", "summary": "auto"}
    assert sent["store"] is True
    assert sent["max_output_tokens"] == 7
    assert sent["user"] == "u"


def test_item_ids_can_be_left_off():
    sent = encode(REQUESTS["reasoning"], strip_item_ids=True)
    assert [item.get("id") for item in sent["input"]] == [None] * len(sent["input"])
    assert any(item.get("type") == "reasoning" for item in sent["input"])


def test_another_model_gets_the_words_without_the_reasoning():
    sent = encode(replace(REQUESTS["reasoning"], model="other"))
    assert [item.get("type", "message") for item in sent["input"]] == [
        *("message", "message", "function_call", "function_call_output")
    ]
    assert sent["input"][1] == {"role": "assistant", "content": "Let me look."}
    assert "include" not in sent


def test_reasoning_without_what_it_led_to_is_left_out():
    """As after an answer that was cut short: its calls were not kept, its reasoning was."""
    cut = Message("assistant", (Text("Let me look."),), THOUGHTFUL.meta)
    sent = encode(ask(user("?"), cut, user("Go on.")))["input"]
    assert [item.get("type", "message") for item in sent] == ["message", "reasoning", "message", "message"]


def test_words_that_were_changed_since_keep_only_what_stood_before_them():
    changed = Message("assistant", (Text("Let me."), THOUGHTFUL.parts[-1]), THOUGHTFUL.meta)
    sent = encode(ask(user("?"), changed, result("call_A", "a")))["input"]
    assert [item.get("id") for item in sent if item.get("type") == "reasoning"] == ["rs_1"]
    assert {"role": "assistant", "content": "Let me."} in sent


@pytest.mark.parametrize("order", [None, [], ["x"], [{}], [{"text": "x"}], [{"text": 3}], [{"call": 7}], 5])
def test_a_damaged_echo_costs_only_the_echo(order):
    damaged = assistant(
        Text("Said."), ToolCall("c", "now", "{}"), openai_responses={"model": "demo", "order": order}
    )
    sent = encode(ask(user("?"), damaged, result("c", "1")))
    assert sent == encode(ask(user("?"), replace(damaged, meta={}), result("c", "1")))


@settings(deadline=None)
@given(conversations())
def test_one_more_turn_only_adds(messages):
    sent = [blocks(ask(*messages[:end])) for end in moments(messages)]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before


@settings(deadline=None)
@given(conversations(tidy=False))
def test_whatever_history_holds_a_strict_server_takes_it(messages):
    request = ask(*messages, user("And now?"))
    assert problems("responses", json.dumps(encode(request)).encode()) == []
    assert encode(request) == encode(request)
