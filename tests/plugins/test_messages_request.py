"""The body of Anthropic Messages."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from dialect_conversations import conversations, moments
from dialect_requests import REQUESTS, SCHEMA, THOUGHTFUL, ask, assistant, body, result, user
from hypothesis import given, settings
from mino_core import Image, Message, Request, Text, ToolCall
from mino_core.testing.strict import problems

from mino_anthropic.messages_request import encode

SETTINGS = {"options": {"effort": "low", "max_tokens": 100}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def echo(*order: object, **rest: object) -> dict[str, object]:
    return {"model": "demo", "order": list(order), **rest}


def blocks(request: Request) -> list[object]:
    """What is said to the model, block by block, without the marks for the cache."""
    return [
        (turn["role"], {key: value for key, value in block.items() if key != "cache_control"})
        for turn in encode(request)["messages"]
        for block in turn["content"]
    ]


def kinds(sent: dict[str, object]) -> list[list[str]]:
    return [[turn["role"], *(block["type"] for block in turn["content"])] for turn in sent["messages"]]


#: What only this dialect has: the request, and the settings it goes out with.
OWN = {
    "schema": (
        ask(user("Where?"), options={"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        {"effort": "low"},
    ),
    "thinking": (
        ask(
            user("What is here?"),
            THOUGHTFUL,
            result("call_A", "a.txt"),
            options={"thinking": {"type": "enabled", "budget_tokens": 2048}},
        ),
        {},
    ),
    "paused": (
        ask(user("Search."), assistant(anthropic_messages=echo(SEARCH, stop="pause_turn"))),
        {},
    ),
    "searched": (
        ask(
            user("Search."),
            assistant(
                Text("I look. Found."), anthropic_messages=echo({"text": 8}, SEARCH, FOUND, {"text": 6})
            ),
            user("More."),
        ),
        {},
    ),
    "no-cache": (ask(user("Hi"), instructions="Be brief."), {"cache": False, "max_tokens": 5}),
    "extra-body": (
        ask(user("Hi"), options={"metadata": {"user_id": "me"}}),
        {"extra_body": {"metadata": {"user_id": "x"}, "speed": "fast"}},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_body_is_exactly_what_is_written_down(name):
    assert encode(REQUESTS[name], **SETTINGS.get(name, {})) == body("messages", name)


@pytest.mark.parametrize("name", OWN)
def test_what_this_dialect_alone_has_is_exactly_what_is_written_down(name):
    request, rest = OWN[name]
    assert encode(request, **rest) == body("messages", name)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_strict_server_refuses_nothing(name):
    assert problems("messages", json.dumps(encode(REQUESTS[name])).encode()) == []


def test_marks_for_the_cache_stand_after_the_instructions_and_the_last_two_user_turns():
    sent = encode(replace(REQUESTS["three-turns"], instructions="Be brief."))
    marked = [
        block.get("text")
        for turn in sent["messages"]
        for block in turn["content"]
        if "cache_control" in block
    ]
    assert marked == ["Two?", "Three?"]
    assert sent["system"][-1]["cache_control"] == {"type": "ephemeral"}


def test_without_caching_nothing_is_marked():
    request = replace(REQUESTS["three-turns"], instructions="Be brief.")
    assert "cache_control" not in json.dumps(encode(request, cache=False))


def test_what_the_user_set_goes_over_what_mino_would_send():
    request = ask(user("Hi"), options={"max_tokens": 7, "output_config": {"format": "x"}})
    sent = encode(request, effort="high", max_tokens=100, extra_body={"max_tokens": 9, "speed": "fast"})
    assert sent["max_tokens"] == 7
    assert sent["output_config"] == {"effort": "high", "format": "x"}
    assert sent["speed"] == "fast"


@pytest.mark.parametrize("picture", [Image("image/svg+xml", "PHN2Zz4=", "a.svg"), Image("image/png", "")])
def test_a_picture_that_would_be_refused_is_named_and_left_out(picture):
    (turn,) = encode(ask(Message("user", (Text("See"), picture))))["messages"]
    assert [block["type"] for block in turn["content"]] == ["text", "text"]
    assert f"The file {picture.name} ({picture.media_type}) is left out" in turn["content"][1]["text"]


def test_another_model_gets_the_words_without_the_thinking():
    assert kinds(encode(replace(REQUESTS["reasoning"], model="other"))) == [
        ["user", "text"],
        ["assistant", "text", "tool_use"],
        ["user", "tool_result"],
    ]


def test_thinking_at_the_end_of_a_turn_is_left_out():
    """As after an answer that was cut short: its calls were not kept, its thinking was."""
    cut = Message("assistant", (Text("Let me look."),), THOUGHTFUL.meta)
    assert kinds(encode(ask(user("?"), cut, user("Go on."))))[1] == ["assistant", "thinking", "text"]


def test_words_that_were_changed_since_keep_only_what_stood_before_them():
    changed = Message("assistant", (Text("Let me."), THOUGHTFUL.parts[-1]), THOUGHTFUL.meta)
    sent = encode(ask(user("?"), changed, result("call_A", "a")))
    assert kinds(sent)[1] == ["assistant", "thinking", "text", "tool_use"]


@pytest.mark.parametrize("order", [None, [], ["x"], [{}], [{"text": "x"}], [{"text": 3}], [{"call": 7}], 5])
def test_a_damaged_echo_costs_only_the_echo(order):
    kept = {"model": "demo", "order": order}
    damaged = assistant(Text("Said."), ToolCall("c", "now", "{}"), anthropic_messages=kept)
    sent = encode(ask(user("?"), damaged, result("c", "1")))
    assert sent == encode(ask(user("?"), replace(damaged, meta={}), result("c", "1")))


@pytest.mark.parametrize("block", [{"type": "server_tool_use"}, {"type": "x_tool_result", "tool_use_id": []}])
def test_a_damaged_block_is_left_out(block):
    damaged = assistant(Text("Said."), anthropic_messages=echo(block, {"text": 5}))
    assert kinds(encode(ask(user("?"), damaged, user("?"))))[1] == ["assistant", "text"]


def test_a_paused_answer_goes_back_as_it_is_with_nothing_behind_it():
    paused = assistant(Text("Searching. "), anthropic_messages=echo({"text": 11}, SEARCH, stop="pause_turn"))
    assert encode(ask(user("?"), paused))["messages"][1:] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Searching. "}, SEARCH]}
    ]


def test_a_pause_after_a_thought_ends_with_it():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    paused = assistant(Text("So."), anthropic_messages=echo({"text": 3}, thought, stop="pause_turn"))
    assert kinds(encode(ask(user("?"), paused)))[1] == ["assistant", "text", "thinking"]
    over = assistant(Text("So."), anthropic_messages=echo({"text": 3}, thought))
    assert kinds(encode(ask(user("?"), over, user("!"))))[1] == ["assistant", "text"]


def test_a_reply_is_never_the_first_nor_the_last():
    assert blocks(ask(assistant(Text("So.")))) == [
        ("user", {"type": "text", "text": "(continued)"}),
        ("assistant", {"type": "text", "text": "So."}),
        ("user", {"type": "text", "text": "Continue exactly where you stopped."}),
    ]


def test_a_pause_without_words_goes_back_and_goes_on():
    paused = assistant(anthropic_messages=echo(SEARCH, stop="pause_turn"))
    resumed = assistant(Text("Found."), anthropic_messages=echo(FOUND, {"text": 6}))
    assert encode(ask(user("?"), paused))["messages"][1:] == [{"role": "assistant", "content": [SEARCH]}]
    assert kinds(encode(ask(user("?"), paused, resumed, user("More?"))))[1] == [
        "assistant",
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    other = replace(ask(user("?"), paused, user("Well?")), model="other")
    assert kinds(encode(other)) == [["user", "text", "text"]]


def test_a_resumed_answer_is_one_turn_and_the_search_keeps_its_result():
    paused = assistant(Text("Searching."), anthropic_messages=echo({"text": 10}, SEARCH, stop="pause_turn"))
    resumed = assistant(Text("Found."), anthropic_messages=echo(FOUND, {"text": 6}))
    before, after = ask(user("?"), paused), ask(user("?"), paused, resumed, user("More?"))
    assert kinds(encode(after))[1] == [
        "assistant",
        "text",
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    assert blocks(after)[: len(blocks(before))] == blocks(before)


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_a_search_that_was_never_resumed_is_left_out(kind):
    order = echo({"text": 10}, {**SEARCH, "type": kind}, stop="pause_turn")
    paused = assistant(Text("Searching."), anthropic_messages=order)
    assert kinds(encode(ask(user("?"), paused, user("Well?")))) == [
        ["user", "text"],
        ["assistant", "text"],
        ["user", "text"],
    ]


def test_only_the_answer_that_is_resumed_may_have_loose_ends():
    paused = assistant(Text("Searching."), anthropic_messages=echo({"text": 10}, SEARCH, stop="pause_turn"))
    assert [len(turn) - 1 for turn in kinds(encode(ask(user("?"), paused, user("Well?"), paused)))] == [
        1,
        1,
        1,
        2,
    ]


def test_a_paused_answer_that_ends_in_words_ends_without_blanks():
    paused = assistant(Text("Well. \n"), anthropic_messages=echo({"text": 7}, stop="pause_turn"))
    assert encode(ask(user("?"), paused))["messages"][-1]["content"] == [{"type": "text", "text": "Well."}]


def test_the_user_has_the_first_and_the_last_word():
    sent = encode(ask(assistant(Text("I was saying"))))
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]


def test_ids_are_of_the_letters_that_are_allowed_and_never_used_twice():
    calls = [assistant(ToolCall(name, "now", "{}")) for name in ("a/b", "a_b", "", "call")]
    spoken = [message for call in calls for message in (call, result(call.parts[0].id, "1"))]
    sent = encode(ask(user("?"), *spoken))["messages"]
    ids = [block["id"] for turn in sent for block in turn["content"] if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for turn in sent for block in turn["content"] if "tool_use_id" in block]
    assert ids == answered == ["a_b", "a_b_2", "call", "call_2"]


@settings(deadline=None)
@given(conversations())
def test_one_more_turn_only_adds(messages):
    sent = [blocks(ask(*messages[:end])) for end in moments(messages)]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before


@settings(deadline=None)
@given(conversations(tidy=False))
def test_whatever_history_holds_a_strict_server_takes_it(messages):
    request = ask(*messages, user("And now?"), instructions="Be brief.")
    assert problems("messages", json.dumps(encode(request)).encode()) == []
    assert encode(request) == encode(request)
