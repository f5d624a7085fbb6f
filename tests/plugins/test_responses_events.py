"""What the events of OpenAI Responses come to, beyond the transcripts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialect_requests import ask, result, said, user
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import (
    Finished,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    Usage,
)
from mino_core.transport import WHOLE

from mino_openai.responses_events import decode
from mino_openai.responses_request import encode

Event = tuple[str, str]


def event(type: str, **fields: Any) -> Event:
    return type, json.dumps({"type": type, **fields})


def text(delta: str, at: int = 0, part: int = 0) -> Event:
    return event("response.output_text.delta", output_index=at, content_index=part, delta=delta)


def item(type: str, at: int = 0, done: bool = True, **fields: Any) -> Event:
    name = f"response.output_item.{'done' if done else 'added'}"
    return event(name, output_index=at, item={"type": type, **fields})


def message(words: str, at: int = 0, **fields: Any) -> Event:
    return item("message", at, content=[{"type": "output_text", "text": words}], **fields)


def call(id: str, at: int, arguments: str = "{}", **fields: Any) -> Event:
    return item("function_call", at, call_id=id, name="now", arguments=arguments, **fields)


def completed(type: str = "response.completed", **response: Any) -> Event:
    return event(type, response={"status": "completed", **response})


def all_of(*events: Event) -> list[Any]:
    return list(decode(events, model="demo"))


def words(*events: Event) -> str:
    return "".join(delta.text for delta in all_of(*events) if isinstance(delta, TextDelta))


def error(*events: Event) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        all_of(*events)
    return raised.value


DONE = Finished("stop", "completed")


def test_deltas_come_out_one_by_one():
    assert all_of(text("Hel"), text("lo"), completed()) == [TextDelta("Hel"), TextDelta("lo"), DONE]


def test_nothing_is_asked_for_after_the_terminal_event():
    def events():
        yield completed()
        raise AssertionError("the answer was over")

    assert list(decode(events())) == [DONE]


def test_events_without_a_type_are_known_by_their_names():
    assert words(("response.output_text.delta", '{"delta": "Hi"}'), completed()) == "Hi"


# -- nothing is said twice, nothing is left out ---------------------------------------------------


def test_what_the_deltas_left_out_is_said_from_the_whole():
    whole = event("response.output_text.done", output_index=0, content_index=0, text="Hello, all")
    assert words(text("Hello"), whole, message("Hello, all!"), completed()) == "Hello, all!"


def test_a_whole_that_contradicts_its_deltas_says_nothing():
    assert words(text("Hello"), message("Bonjour"), completed()) == "Hello"


def test_a_whole_under_another_index_is_not_said_again():
    assert words(text("Hello", at=0), message("Hello", at=1), completed()) == "Hello"


def test_two_parts_of_one_message_are_two_runs():
    both = item(
        "message", content=[{"type": "output_text", "text": "One."}, {"type": "output_text", "text": "Two."}]
    )
    assert words(text("One."), text("Two.", part=1), both, completed()) == "One.Two."


@pytest.mark.parametrize("name", ["response.completed", "response.done"])
def test_an_answer_that_stands_only_in_the_terminal_event_is_said(name):
    output = [{"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}]
    assert words(completed(name, output=output)) == "Hi."


def test_half_a_character_is_completed_by_the_terminal_event():
    output = [{"type": "message", "content": [{"type": "output_text", "text": "😀"}]}]
    assert words(text("\ud83d"), completed(output=output)) == "😀"


def test_calls_that_stand_only_in_the_terminal_event_are_made():
    output = [
        {"type": "function_call", "call_id": "a", "name": "now", "arguments": "{}"},
        {"type": "message", "content": [{"type": "output_text", "text": "Another wording."}]},
        {"type": "function_call", "call_id": "b", "name": "now", "arguments": ""},
    ]
    assert all_of(text("Hi."), call("a", 1), completed(output=output)) == [
        TextDelta("Hi."),
        ToolCall("a", "now", "{}"),
        ToolCall("b", "now", ""),
        Finished("tool_calls", "completed"),
    ]


def test_halves_of_a_character_are_joined_across_deltas():
    assert words(text("a\ud83d"), text("\ude00b"), completed()) == "a😀b"


def test_half_a_character_that_stays_alone_is_replaced():
    assert words(text("a\ud83d"), text("b"), text("\ud83d"), completed()) == "a\ufffdb\ufffd"
    assert words(text("a\ud83d")) == "a\ufffd"


def test_a_half_is_given_up_where_another_part_begins():
    assert words(text("a\ud83d"), text("b", part=1), completed()) == "a\ufffdb"


def test_the_whole_completes_a_half():
    assert words(text("a\ud83d"), message("a😀"), completed()) == "a😀"


# -- reasoning and refusals -----------------------------------------------------------------------


def test_parts_of_reasoning_stand_apart():
    def thought(words: str, part: int) -> Event:
        return event("response.reasoning_summary_text.delta", output_index=0, summary_index=part, delta=words)

    got = all_of(thought("One", 0), thought("Two", 1), text("Hi", 1), completed())
    assert got[:-2] == [ReasoningDelta("One"), ReasoningDelta("\n\n"), ReasoningDelta("Two")]


def test_raw_reasoning_is_reasoning_too():
    raw = event("response.reasoning_text.delta", output_index=0, content_index=0, delta="Hm.")
    assert all_of(raw, text("Hi", 1), completed()) == [ReasoningDelta("Hm."), TextDelta("Hi"), DONE]


def test_a_refusal_is_a_refusal_however_it_comes():
    streamed = event("response.refusal.delta", output_index=0, content_index=0, delta="No.")
    whole = item("message", content=[{"type": "refusal", "refusal": "No."}])
    for events in ([streamed, whole], [whole], [streamed]):
        assert all_of(*events, completed()) == [RefusalDelta("No."), DONE]


# -- calls ----------------------------------------------------------------------------------------


def test_arguments_are_joined_from_pieces_where_no_whole_comes():
    def piece(delta: str) -> Event:
        return event("response.function_call_arguments.delta", output_index=1, delta=delta)

    begun = item("function_call", 1, done=False, call_id="c", name="now", arguments="")
    assert ToolCall("c", "now", '{"a": "😀"}') in all_of(
        begun, piece('{"a": "\ud83d'), piece('\ude00"}'), completed()
    )


def test_a_server_may_leave_indexes_out():
    events = [
        event(
            "response.output_item.added",
            item={"type": "function_call", "id": f"fc_{n}", "call_id": n, "name": "now"},
        )
        for n in "ab"
    ]
    pieces = [event("response.function_call_arguments.delta", item_id=f"fc_{n}", delta="{}") for n in "ba"]
    assert [delta.id for delta in all_of(*events, *pieces, completed()) if isinstance(delta, ToolCall)] == [
        "a",
        "b",
    ]


def test_items_with_one_id_are_told_apart_by_their_indexes():
    items = [{"type": "function_call", "id": "x", "call_id": one, "name": "now"} for one in "ab"]
    came = [event("response.output_item.added", output_index=at, item=item) for at, item in enumerate(items)]
    pieces = [
        event("response.function_call_arguments.delta", output_index=at, item_id="x", delta=f'{{"n":{at}}}')
        for at in (1, 0)
    ]
    end = event("response.completed", response={"status": "completed"})
    calls = [one for one in all_of(*came, *pieces, end) if isinstance(one, ToolCall)]
    assert calls == [ToolCall("a", "now", '{"n":0}'), ToolCall("b", "now", '{"n":1}')]


def test_reasoning_that_stands_only_in_the_terminal_event_is_said_and_goes_back():
    thought = {"type": "reasoning", "id": "rs", "encrypted_content": "x"}
    output = [thought, {"type": "message", "content": [{"type": "output_text", "text": "So."}]}]
    spoken = [{**thought, "summary": [{"type": "summary_text", "text": "hm"}]}, output[1]]
    assert all_of(completed(output=spoken))[:2] == [ReasoningDelta("hm"), TextDelta("So.")]
    (end,) = all_of(completed(output=output))[1:]
    assert end.meta["openai-responses"]["order"] == [{**thought, "summary": []}, {"text": 3}]


def test_a_summary_of_the_conversation_goes_back_as_it_came():
    compacted = {"type": "compaction", "id": "cmp", "encrypted_content": "x"}
    end = all_of(item(**compacted), text("So.", 1), completed())[-1]
    assert end.meta["openai-responses"]["order"] == [compacted, {"text": 3}]


def test_words_that_were_also_thought_are_said():
    thought = event("response.reasoning_text.delta", output_index=0, content_index=0, delta="Yes")
    whole = event("response.output_text.done", output_index=1, content_index=0, text="Yes")
    assert all_of(thought, whole, completed()) == [ReasoningDelta("Yes"), TextDelta("Yes"), DONE]


def test_what_is_no_text_is_no_delta_and_what_has_no_name_no_call():
    assert all_of(text(None), text("Hi"), item("function_call", 1, call_id="c"), completed()) == [
        TextDelta("Hi"),
        DONE,
    ]


def test_a_call_without_an_id_gets_one():
    assert ToolCall("call_1", "now", "{}") in all_of(call("", 0), completed())


def test_calls_of_other_kinds_are_not_ours():
    others = [
        item("web_search_call", 0, id="ws"),
        item("custom_tool_call", 1, call_id="c", name="x", input="y"),
    ]
    assert all_of(*others, text("Hi", 2), completed()) == [TextDelta("Hi"), DONE]


def test_an_answer_cut_short_keeps_only_calls_that_are_whole():
    cut = event("response.incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}})
    assert all_of(call("a", 0), call("b", 1, '{"pa'), cut) == [
        ToolCall("a", "now", "{}"),
        Finished("length", "max_output_tokens"),
    ]


def test_a_completed_answer_keeps_a_call_that_cannot_be_parsed():
    assert ToolCall("b", "now", '{"pa') in all_of(call("b", 1, '{"pa'), completed())


# -- endings --------------------------------------------------------------------------------------


def test_without_a_terminal_event_there_is_no_end():
    assert all_of(text("Hi"), message("Hi"), ("", "[DONE]")) == [TextDelta("Hi")]


@pytest.mark.parametrize("type", ["response.created", "response.in_progress", "response.queued"])
def test_only_terminal_events_end_an_answer(type):
    assert all_of(event(type, response={"status": "completed", "output": []}), text("Hi")) == [
        TextDelta("Hi")
    ]


@pytest.mark.parametrize(
    ("name", "response", "reason", "raw"),
    [
        ("response.completed", {}, "stop", "completed"),
        ("response.incomplete", {"status": "completed"}, "stop", "completed"),
        ("response.incomplete", {}, "length", "incomplete"),
        ("response.completed", {"status": "incomplete"}, "length", "incomplete"),
        (
            "response.incomplete",
            {"incomplete_details": {"reason": "content_filter"}},
            "filter",
            "content_filter",
        ),
        ("response.incomplete", {"incomplete_details": {"reason": "max_messages"}}, "length", "max_messages"),
    ],
)
def test_the_status_says_how_it_ended(name, response, reason, raw):
    assert all_of(text("Hi"), event(name, response=response))[-1] == Finished(reason, raw)


@pytest.mark.parametrize(
    ("name", "response", "kind", "told"),
    [
        ("response.failed", {}, "server", "failed"),
        ("response.failed", {"status": "completed"}, "server", "failed"),
        ("response.cancelled", {}, "server", "cancelled"),
        ("response.cancelled", {"status": "completed"}, "server", "cancelled"),
        ("response.completed", {"status": "failed"}, "server", "failed"),
        (
            "response.completed",
            {"status": "completed", "error": {"code": "bio_policy", "message": "No."}},
            "server",
            "No.",
        ),
        ("response.failed", {"error": {"code": None, "message": "Down."}}, "server", "Down."),
        ("response.completed", {"status": "queued"}, "protocol", "queued"),
        ("response.completed", {"status": ["?"]}, "protocol", "?"),
    ],
)
def test_every_other_end_is_a_failure(name, response, kind, told):
    failure = error(text("Hi"), event(name, response=response))
    assert failure.kind == kind
    assert told in failure.message


@pytest.mark.parametrize(
    "bad",
    [
        event("error", code="rate_limit_exceeded", message="Slow down.", param=None),
        ("", '{"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."}'),
        ("", '{"error": {"message": "Slow down."}}'),
        ("", '{"error": "Slow down."}'),
        ("error", '{"type": "server_error", "message": "Slow down."}'),
        ("error", "Slow down."),
    ],
)
def test_every_form_of_error_is_one(bad):
    failure = error(text("Hi"), bad, completed())
    assert failure.kind == "server"
    assert "Slow down." in failure.message


def test_an_error_that_is_null_is_none():
    assert (
        words(("", '{"type": "response.output_text.delta", "delta": "Hi", "error": null}'), completed())
        == "Hi"
    )


def test_the_error_of_one_of_the_servers_tools_is_not_the_answers():
    failed = event("response.mcp_call.failed", error={"message": "No such tool."})
    assert words(text("Hi"), failed, completed()) == "Hi"


def test_what_is_no_json_is_a_failure_that_keeps_the_words():
    deltas = decode([text("Hi"), ("", "{cut")])
    assert next(deltas) == TextDelta("Hi")
    with pytest.raises(ProviderError, match="malformed"):
        next(deltas)


def test_usage_is_reported_even_of_a_failure():
    usage = {"input_tokens": 3, "output_tokens": -1, "total_tokens": "x", "input_tokens_details": None}
    deltas = decode([event("response.failed", response={"usage": usage})])
    assert next(deltas) == Usage(input_tokens=3)
    with pytest.raises(ProviderError):
        next(deltas)


@pytest.mark.parametrize("body", ["{}", '{"message": "hi"}', '{"output": {}}'])
def test_json_that_is_no_response_is_a_failure(body):
    assert error((WHOLE, body)).kind == "protocol"


def test_json_with_an_error_is_that_error():
    assert "Bad key" in error((WHOLE, '{"error": {"message": "Bad key"}}')).message


def test_a_whole_response_is_an_answer():
    body = {
        "status": "completed",
        "error": None,
        "output": [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]},
            {"type": "function_call", "call_id": "c", "name": "now", "arguments": "{}"},
        ],
    }
    assert all_of((WHOLE, json.dumps(body))) == [
        ReasoningDelta("Hm."),
        TextDelta("Hi."),
        ToolCall("c", "now", "{}"),
        Finished("tool_calls", "completed"),
    ]


# -- what was said goes back as it was said -------------------------------------------------------

PIECES = st.lists(st.text("ab ", min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=3)


@st.composite
def outputs(draw: st.DrawFn) -> list[tuple[dict[str, Any], list[str]]]:
    """Items as a model makes them, each with the pieces of its words."""
    items: list[tuple[dict[str, Any], list[str]]] = []
    for n in range(draw(st.integers(1, 6))):
        match draw(st.sampled_from(["reasoning", "message", "function_call"])):
            case "reasoning":
                thought = {"type": "reasoning", "id": f"rs_{n}", "encrypted_content": "x"}
                summary = [{"type": "summary_text", "text": text} for text in draw(st.just([]) | PIECES)]
                items.append((thought | {"summary": summary}, []))
            case "message":
                phase = draw(st.sampled_from([{}, {"phase": "commentary"}]))
                items.append(({"type": "message", **phase}, draw(PIECES)))
            case "function_call":
                items.append(
                    ({"type": "function_call", "call_id": f"c{n}", "name": "now", "arguments": "{}"}, [])
                )
    return items


@settings(deadline=None)
@given(outputs())
def test_the_next_request_holds_the_answer_item_by_item(output):
    events = []
    for at, (made, pieces) in enumerate(output):
        events.append(item(at=at, done=False, **made))
        events += [text(piece, at) for piece in pieces]
        content = [{"type": "output_text", "text": "".join(pieces)}] if pieces else []
        events.append(item(at=at, content=content, **made))
    reply = said(all_of(*events, completed()))
    results = [result(made["call_id"], "1") for made, _ in output if made["type"] == "function_call"]
    sent = encode(ask(user("?"), reply, *results))["input"]
    got = [given for given in sent[1:] if given.get("type") != "function_call_output"]

    expected: list[dict[str, Any]] = []
    for made, pieces in output:
        rest = {key: value for key, value in made.items() if key != "type"}
        is_message = made["type"] == "message"
        expected.append({"role": "assistant", "content": "".join(pieces), **rest} if is_message else made)
    while expected and "encrypted_content" in expected[-1]:
        expected.pop()
    assert _joined(got) == _joined(expected)


def _joined(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages in a row with one phase are one: the user cannot tell them apart, nor does the model."""
    out: list[dict[str, Any]] = []
    for one in items:
        if out and "role" in one and "role" in out[-1] and one.get("phase") == out[-1].get("phase"):
            out[-1] = {**one, "content": out[-1]["content"] + one["content"]}
        else:
            out.append(one)
    return out


# -- nothing that a server sends is a fault of ours -----------------------------------------------

VALUES = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "x", "\ud83d", "completed", "message", "function_call"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner)
    ),
    max_leaves=4,
)
TYPES = st.sampled_from(
    [
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.delta",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.completed",
        "response.brand_new",
    ]
)
FIELDS = st.sampled_from(
    [
        "delta",
        "text",
        "output_index",
        "content_index",
        "summary_index",
        "item",
        "part",
        "response",
        "arguments",
        "name",
    ]
)
NAMES = st.sampled_from(["", WHOLE, "response.completed"])


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, st.one_of(TYPES, VALUES), st.dictionaries(FIELDS, VALUES)), max_size=6))
def test_whatever_comes_is_deltas_or_a_sentence(events):
    deltas = []
    came = [(name, json.dumps({"type": kind, **fields})) for name, kind, fields in events]
    try:
        deltas.extend(decode(came))
    except ProviderError:
        assert not any(isinstance(delta, Finished) for delta in deltas)
    assert [delta for delta in deltas if isinstance(delta, Finished)] in ([], deltas[-1:])
    json.dumps([getattr(delta, "text", "") for delta in deltas], ensure_ascii=False).encode()
    if any(isinstance(delta, Finished) for delta in deltas):
        encode(ask(user("?"), said(deltas), user("?")))
