"""What the events of Anthropic Messages come to, beyond the transcripts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialect_requests import ask, result, said, user
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import Finished, ProviderError, ReasoningDelta, TextDelta, ToolCall, Usage
from mino_core.transport import WHOLE

from mino_anthropic.messages_events import decode
from mino_anthropic.messages_request import encode

Event = tuple[str, str]


def event(type: str, **fields: Any) -> Event:
    return type, json.dumps({"type": type, **fields})


def start(type: str, at: int = 0, **fields: Any) -> Event:
    return event("content_block_start", index=at, content_block={"type": type, **fields})


def delta(type: str, at: int = 0, **fields: Any) -> Event:
    return event("content_block_delta", index=at, delta={"type": f"{type}_delta", **fields})


def text(words: str, at: int = 0) -> Event:
    return delta("text", at, text=words)


def thought(words: str, at: int = 0) -> Event:
    return delta("thinking", at, thinking=words)


def piece(json_text: str, at: int = 0) -> Event:
    return delta("input_json", at, partial_json=json_text)


def call(id: str, at: int = 0, **fields: Any) -> Event:
    return start("tool_use", at, id=id, name="now", **fields)


def stopped(reason: str | None = "end_turn", usage: Any = None, **fields: Any) -> Event:
    rest = {} if usage is None else {"usage": usage}
    return event("message_delta", delta={"stop_reason": reason, **fields}, **rest)


STOP = event("message_stop")


def all_of(*events: Event) -> list[Any]:
    return list(decode(events, model="demo"))


def words(*events: Event) -> str:
    return "".join(one.text for one in all_of(*events) if isinstance(one, TextDelta))


def error(*events: Event) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        all_of(*events)
    return raised.value


def test_deltas_come_out_one_by_one():
    assert all_of(start("text", text=""), text("Hel"), text("lo"), stopped(), STOP) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        Finished("stop", "end_turn"),
    ]


def test_events_without_a_type_are_known_by_their_names():
    bare = ("content_block_delta", '{"index": 0, "delta": {"type": "text_delta", "text": "Hi"}}')
    assert words(bare, stopped()) == "Hi"


def test_a_block_may_begin_with_words():
    assert words(start("text", text="Hel"), text("lo"), stopped()) == "Hello"


def test_a_block_may_come_without_its_start():
    assert all_of(thought("Hm."), text("Hi", 1), piece("{}", 2), stopped())[:2] == [
        ReasoningDelta("Hm."),
        TextDelta("Hi"),
    ]


def test_blocks_of_thinking_stand_apart():
    events = [start("thinking", 0), thought("One."), start("thinking", 1), thought("Two.", 1), stopped()]
    assert "".join(one.text for one in all_of(*events) if isinstance(one, ReasoningDelta)) == "One.\n\nTwo."


def test_halves_of_a_character_are_joined_across_deltas():
    assert words(text("a\ud83d"), text("\ude00b"), stopped()) == "a😀b"


def test_half_a_character_that_stays_alone_is_replaced():
    assert (
        words(text("a\ud83d"), start("text", 1, text=""), text("b", 1), text("\ud83d", 1)) == "a\ufffdb\ufffd"
    )


# -- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "arguments"),
    [
        ([call("c", input={}), piece('{"a": "\ud83d'), piece('\ude00"}')], '{"a": "😀"}'),
        ([call("c", input={"a": 1}), piece("")], '{"a": 1}'),
        ([call("c", input={"a": 1})], '{"a": 1}'),
        ([call("c", input={})], "{}"),
        ([call("c")], "{}"),
    ],
)
def test_the_input_of_a_call_is_what_was_streamed_or_else_what_it_began_with(events, arguments):
    assert all_of(*events, stopped("tool_use")) == [
        ToolCall("c", "now", arguments),
        Finished("tool_calls", "tool_use"),
    ]


def test_a_call_at_an_ordinary_stop_is_still_to_be_run():
    assert all_of(call("c"), stopped("end_turn"))[-1] == Finished("tool_calls", "end_turn")


def test_a_call_without_an_id_gets_one_and_without_a_name_is_none():
    events = [start("tool_use", 0, name="now"), start("tool_use", 1, id="x")]
    assert [one for one in all_of(*events, stopped()) if isinstance(one, ToolCall)] == [
        ToolCall("call_1", "now", "{}")
    ]


def test_the_servers_own_tools_are_not_ours():
    search = [start("server_tool_use", 0, id="s", name="web_search", input={}), piece('{"query": "x"}')]
    assert not any(isinstance(one, ToolCall) for one in all_of(*search, text("Hi", 1), stopped()))


def test_an_answer_cut_short_keeps_only_calls_that_are_whole():
    events = [call("a", 0), piece("{}", 0), call("b", 1), piece('{"pa', 1)]
    assert all_of(*events, stopped("max_tokens")) == [
        ToolCall("a", "now", "{}"),
        Finished("length", "max_tokens"),
    ]


# -- usage ----------------------------------------------------------------------------------------


def test_usage_is_the_last_of_each_number_never_a_sum():
    first = {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 10,
        "output_tokens": 1,
    }
    begun = event("message_start", message={"usage": first})
    last = {"output_tokens": 7, "input_tokens": None, "output_tokens_details": {"thinking_tokens": 3}}
    assert [one for one in all_of(begun, text("Hi"), stopped(usage=last)) if isinstance(one, Usage)] == [
        Usage(115, 100, 10, 1, None, 116),
        Usage(115, 100, 10, 7, 3, 122),
    ]


@pytest.mark.parametrize("usage", [None, {}, [], {"input_tokens": "x", "output_tokens": -1}])
def test_what_is_not_reported_is_not_known(usage):
    begun = event("message_start", message={"usage": usage})
    assert not any(isinstance(one, Usage) for one in all_of(begun, text("Hi"), stopped()))


# -- endings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("compaction", "pause"),
    ],
)
def test_the_stop_reason_says_how_it_ended(raw, reason):
    ending = all_of(text("Hi"), stopped(raw), STOP)[-1]
    assert (ending.reason, ending.raw_reason) == (reason, raw)


def test_a_refusal_is_explained():
    details = {"type": "refusal", "category": "cyber", "explanation": "Declined by policy."}
    assert all_of(text("I"), stopped("refusal", stop_details=details))[-1] == Finished(
        "refusal", "refusal", "cyber: Declined by policy."
    )


def test_an_explanation_is_one_bounded_line():
    details = {"category": "cyber", "explanation": "long\n\x1b[31m" * 500}
    finished = all_of(text("Hm."), stopped("refusal", stop_details=details))[-1]
    assert finished.detail.startswith("cyber: long long")
    assert len(finished.detail) <= 220
    assert finished.detail.isprintable()


def test_blocks_that_share_an_index_are_told_apart():
    """Some gateways number them all 0, some send a start twice, or late."""
    end = event("content_block_stop", index=0)
    calls = [call("a"), piece('{"x": 1}'), end, call("b"), piece("{}"), end]
    made = [one for one in all_of(*calls, stopped("tool_use")) if isinstance(one, ToolCall)]
    assert made == [ToolCall("a", "now", '{"x": 1}'), ToolCall("b", "now", "{}")]
    twice = all_of(call("a"), call("a"), piece("{}"), end, stopped("tool_use"))
    assert [one for one in twice if isinstance(one, ToolCall)] == [ToolCall("a", "now", "{}")]
    signed = [start("thinking"), thought("Hm."), delta("signature", signature="A=="), end]
    again = [start("thinking"), thought("So."), delta("signature", signature="B=="), end]
    finished = all_of(*signed, *again, text("Yes."), stopped())[-1]
    order = finished.meta["anthropic-messages"]["order"]
    assert [(place.get("thinking"), place.get("signature")) for place in order[:2]] == [
        ("Hm.", "A=="),
        ("So.", "B=="),
    ]
    late = all_of(piece('{"x": 1}'), call("a"), end, stopped("tool_use"))
    assert [one for one in late if isinstance(one, ToolCall)] == [ToolCall("a", "now", '{"x": 1}')]


def test_an_unknown_stop_reason_is_a_failure_that_names_it():
    failure = error(text("Hi"), stopped("tired"), STOP)
    assert failure.kind == "protocol"
    assert "'tired'" in failure.message


@pytest.mark.parametrize("end", [[], [STOP], [stopped(None), STOP], [("", "[DONE]")], [event("ping")]])
def test_without_a_stop_reason_there_is_no_end(end):
    assert all_of(text("Hi"), *end) == [TextDelta("Hi")]


@pytest.mark.parametrize("kind", ["stream", "timeout"])
def test_what_breaks_after_the_stop_reason_does_not_undo_it(kind):
    def events(*first: Event):
        yield from first
        raise ProviderError(kind, "broke", 200)

    assert list(decode(events(text("Hi"), stopped())))[-1] == Finished("stop", "end_turn")
    with pytest.raises(ProviderError, match="broke"):
        list(decode(events(text("Hi"))))


@pytest.mark.parametrize(
    "bad",
    [
        event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ("", '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'),
        ("", '{"error": {"message": "Overloaded"}}'),
        ("error", "Overloaded"),
    ],
)
@pytest.mark.parametrize("before", [[], [stopped()]], ids=["amid", "after the stop reason"])
def test_every_form_of_error_is_one(bad, before):
    failure = error(text("Hi"), *before, bad, STOP)
    assert failure.kind == "server"
    assert "Overloaded" in failure.message


def test_an_error_event_names_its_request():
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Full."}, "request_id": "req_9"}
    for name in ("", "error"):
        told = error((name, json.dumps(body)))
        assert (told.message, told.request_id) == ("[overloaded_error] Full.; ask again in a while", "req_9")


def test_what_is_no_json_is_a_failure_that_keeps_the_words():
    deltas = decode([text("Hi"), ("", "{cut")])
    assert next(deltas) == TextDelta("Hi")
    with pytest.raises(ProviderError, match="malformed"):
        next(deltas)


@pytest.mark.parametrize("body", ["{}", '{"message": "hi"}', '{"content": {}}'])
def test_json_that_is_no_message_is_a_failure(body):
    assert error((WHOLE, body)).kind == "protocol"


def test_json_with_an_error_is_that_error():
    assert "Bad key" in error((WHOLE, '{"type": "error", "error": {"message": "Bad key"}}')).message


def test_a_whole_message_is_an_answer():
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Hi."},
        {"type": "tool_use", "id": "c", "name": "now", "input": {"a": 1}},
    ]
    body = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"output_tokens": 2}}
    came = all_of((WHOLE, json.dumps(body)))
    assert came[:-1] == [
        ReasoningDelta("Hm."),
        TextDelta("Hi."),
        Usage(output_tokens=2),
        ToolCall("c", "now", '{"a": 1}'),
    ]
    assert came[-1].reason == "tool_calls"


# -- what was said goes back as it was said -------------------------------------------------------

PIECES = st.lists(st.text("ab ", min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=3)
FOUND = {
    "type": "web_search_tool_result",
    "content": [{"type": "web_search_result", "encrypted_content": "x"}],
}


@st.composite
def answers(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Blocks as a model makes them."""
    blocks: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 6))):
        match draw(st.sampled_from(["thinking", "redacted", "text", "call", "search"])):
            case "thinking":
                blocks.append(
                    {"type": "thinking", "thinking": draw(st.sampled_from(["", "Hm.\n"])), "signature": "s"}
                )
            case "redacted":
                blocks.append({"type": "redacted_thinking", "data": f"opaque {n}"})
            case "text":
                blocks.append({"type": "text", "text": "".join(draw(PIECES))})
            case "call":
                blocks.append({"type": "tool_use", "id": f"toolu_{n}", "name": "now", "input": {"n": n}})
            case "search":
                search = {"id": f"srvtoolu_{n}", "name": "web_search", "input": {"query": "q"}}
                blocks.append({"type": "server_tool_use", **search})
                blocks.append({**FOUND, "tool_use_id": f"srvtoolu_{n}"})
    return blocks


def streamed(at: int, block: dict[str, Any]) -> list[Event]:
    """A block as events."""
    match block["type"]:
        case "text":
            return [start("text", at, text=""), *(text(char, at) for char in block["text"])]
        case "thinking":
            empty = start("thinking", at, thinking="", signature="")
            signed = delta("signature", at, signature=block["signature"])
            return [empty, *(thought(char, at) for char in block["thinking"]), signed]
        case "tool_use" | "server_tool_use":
            whole = json.dumps(block["input"])
            begun = {key: value for key, value in block.items() if key not in ("type", "input")}
            return [
                start(block["type"], at, **begun, input={}),
                piece("", at),
                piece(whole[:3], at),
                piece(whole[3:], at),
            ]
    return [event("content_block_start", index=at, content_block=block)]


@settings(deadline=None)
@given(answers())
def test_the_next_request_holds_the_answer_block_by_block(answer):
    events = [made for at, block in enumerate(answer) for made in streamed(at, block)]
    reply = said(all_of(*events, stopped(), STOP))
    results = [result(block["id"], "1") for block in answer if block["type"] == "tool_use"]
    turns = encode(ask(user("?"), reply, *results, user("And?")), cache=False)["messages"]

    expected = _joined(answer)
    while expected and "thinking" in expected[-1]["type"]:
        expected.pop()
    if any(block["type"] in ("text", "tool_use") for block in answer):
        assert turns[1] == {"role": "assistant", "content": expected}
    else:
        assert [turn["role"] for turn in turns] == ["user"]


def _joined(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Texts in a row are one: neither the user nor the model can tell them apart."""
    out: list[dict[str, Any]] = []
    for block in blocks:
        if out and block["type"] == out[-1]["type"] == "text":
            out[-1] = {"type": "text", "text": out[-1]["text"] + block["text"]}
        else:
            out.append(block)
    return out


def test_thinking_without_a_signature_never_goes_back():
    reply = said(all_of(start("thinking"), thought("Hm."), text("Hi", 1), stopped()))
    sent = encode(ask(user("?"), reply, user("And?")))["messages"][1]["content"]
    assert sent == [{"type": "text", "text": "Hi"}]


# -- nothing that a server sends is a fault of ours -----------------------------------------------

VALUES = st.recursive(
    st.sampled_from(
        [
            None,
            True,
            0,
            -1,
            1.5,
            "",
            "x",
            "\ud83d",
            "end_turn",
            "thinking",
            "text_delta",
            "tool_use",
            "server_tool_use",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "name", "input", "stop_reason", "thinking"]), inner
        )
    ),
    max_leaves=5,
)
TYPES = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "brand_new",
    ]
)
FIELDS = st.sampled_from(["index", "delta", "content_block", "message", "usage", "content", "stop_reason"])
NAMES = st.sampled_from(["", WHOLE, "message_delta"])


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, st.one_of(TYPES, VALUES), st.dictionaries(FIELDS, VALUES)), max_size=6))
def test_whatever_comes_is_deltas_or_a_sentence(events):
    deltas = []
    came = [(name, json.dumps({"type": kind, **fields})) for name, kind, fields in events]
    try:
        deltas.extend(decode(came))
    except ProviderError:
        assert not any(isinstance(one, Finished) for one in deltas)
    assert [one for one in deltas if isinstance(one, Finished)] in ([], deltas[-1:])
    json.dumps([getattr(one, "text", "") for one in deltas], ensure_ascii=False).encode()
    if any(isinstance(one, Finished) for one in deltas):
        encode(ask(user("?"), said(deltas), user("?")))


def kept(*events: Event) -> Any:
    """What goes back with the message that these events are."""
    return all_of(*events)[-1].meta.get("anthropic-messages")


@pytest.mark.parametrize(
    "content", [({"content": "Until now: x."},), ({}, "Until now", ": x.")], ids=["at once", "in pieces"]
)
def test_a_compaction_is_kept_with_the_reason_to_resume(content):
    begun, *pieces = content
    came = [start("compaction", **begun), *(delta("compaction", content=piece) for piece in pieces)]
    block = {"type": "compaction", "content": "Until now: x."}
    assert kept(*came, stopped("compaction")) == {"model": "demo", "order": [block], "stop": "compaction"}


def test_a_pause_is_kept_although_the_words_alone_say_it_all():
    assert kept(text("Hi"), stopped("pause_turn")) == {
        "model": "demo",
        "order": [{"text": 2}],
        "stop": "pause_turn",
    }


def test_a_search_that_was_cut_and_blocks_that_nobody_knows_do_not_go_back():
    cut = [start("server_tool_use", 0, id="s", name="web_search"), piece('{"query', 0)]
    assert kept(*cut, start("hologram", 1), text("Hi", 2), stopped("pause_turn"))["order"] == [{"text": 2}]


def test_a_half_that_is_given_up_counts_where_the_words_stood():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    came = [text("a\ud83d"), start(at=1, **thinking), text("b", 2), stopped()]
    assert kept(*came)["order"] == [{"text": 2}, thinking, {"text": 1}]
    assert words(*came) == "a\ufffdb"


def test_blocks_under_one_index_that_never_end_are_told_apart_by_what_they_are():
    came = [
        start("thinking", thinking="Hm.", signature="s"),
        call("a"),
        piece('{"n": 1}'),
        call("b"),
        piece("{}"),
    ]
    calls = [one for one in all_of(*came, stopped("tool_use")) if isinstance(one, ToolCall)]
    assert calls == [ToolCall("a", "now", '{"n": 1}'), ToolCall("b", "now", "{}")]
    again = [call("a"), piece('{"n":'), call("a"), piece(" 1}")]  # a start that is repeated
    calls = [one for one in all_of(*again, stopped("tool_use")) if isinstance(one, ToolCall)]
    assert calls == [ToolCall("a", "now", '{"n": 1}')]
