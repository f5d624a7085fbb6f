"""What every dialect does with an event, and what it does with a conversation before it goes out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import (
    File,
    Image,
    Message,
    Part,
    ProviderError,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from mino_core.transport import (
    SurrogateJoiner,
    count,
    fitted_ids,
    mended,
    parse_event,
    server_error,
    usage,
)
from mino_core.transport.bodies import encoded
from mino_core.transport.decoding import error_text
from mino_core.transport.mending import NO_RESULT


def test_an_event_is_an_object_or_says_nothing() -> None:
    assert parse_event("", '{"a": 1}') == {"a": 1}
    for data in ("null", "1", '"x"', "[1]"):
        assert parse_event("", data) == {}


@pytest.mark.parametrize("data", ['{"a"', "nonsense", "[" * 100_000, '{"a": 1} x'])
def test_malformed_json_is_never_skipped(data: str) -> None:
    with pytest.raises(ProviderError, match="malformed") as caught:
        parse_event("", data)
    assert caught.value.kind == "protocol"
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    "data",
    ["it broke", '{"type": "server_error", "message": "it broke"}', '{"error": {"message": "it broke"}}'],
)
def test_an_event_named_error_is_one_whatever_it_holds(data: str) -> None:
    with pytest.raises(ProviderError, match="it broke") as caught:
        parse_event("error", data)
    assert caught.value.kind == "server"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("just words", "just words"),
        ({"message": "m"}, "m"),
        ({"error": {"message": "m", "type": "t"}}, "[t] m"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "[overloaded_error] m"),
        ({"message": "m", "code": 429}, "[429] m"),
        ({"message": "m", "type": None, "code": "c"}, "[c] m"),
        ([{"error": {"message": "m", "code": 400, "status": "INVALID"}}], "[400] m"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "body: field required"),
        ({"detail": [{"loc": ["body", "tools", 0], "msg": "m", "type": "t"}]}, "[t] body.tools.0: m"),
        ({"detail": "gone"}, "gone"),
        ({"message": "m", "code": 502, "metadata": {"raw": "upstream said"}}, "[502] m upstream said"),
        ({"success": False, "error": "nope"}, "nope"),
        ({"a": 1}, '{"a": 1}'),
        ({}, "{}"),
        (None, "null"),
        (7, "7"),
        ([], "[]"),
    ],
)
def test_the_words_are_found_in_every_shape_of_error(value: object, expected: str) -> None:
    assert error_text(value) == expected


def test_an_error_is_one_bounded_clean_line() -> None:
    message = server_error({"message": "a\n\x1b[31mred\x1b[0m\x9b2J\u202eb\t" + "x" * 10_000}).message
    assert message.startswith("a red 2J b xx")
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize(
    "error",
    [
        {"type": "overloaded_error"},
        {"code": "rate_limit_exceeded"},
        {"code": 503},
        {"type": "InternalServerError"},
        {"error": {"code": "server_error", "type": None}},
    ],
)
def test_an_error_that_may_pass_says_to_ask_again(error: dict[str, Any]) -> None:
    assert server_error({"message": "No.", **error}).message.endswith("; ask again in a while")
    lasting = ({"type": "invalid_request_error"}, {"code": 400}, {"code": "context_length_exceeded"}, {})
    assert not any(
        "ask again" in server_error({"message": "503 overloaded", **one}).message for one in lasting
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_no_error_object_is_a_fault_of_ours(value: object) -> None:
    server_error(value)


def test_a_number_of_tokens_is_an_integer_from_zero_up() -> None:
    assert [count(value) for value in (0, 7, -1, True, 1.5, "7", None)] == [0, 7] + [None] * 5


def test_the_total_is_summed_where_it_is_missing() -> None:
    assert usage(input=2, output=3) == Usage(input_tokens=2, output_tokens=3, total_tokens=5)
    assert usage(input=2, output=3, total=9) == Usage(input_tokens=2, output_tokens=3, total_tokens=9)
    assert usage(input=2) == Usage(input_tokens=2)
    assert usage(input=-1, output="x") is None


def test_halves_of_a_character_are_joined_across_deltas() -> None:
    join = SurrogateJoiner()
    assert [join.feed("a\ud83d"), join.feed("\ude00b"), join.flush()] == ["a", "😀b", ""]
    assert [join.feed("\ud83d"), join.feed("x"), join.flush()] == ["", "\ufffdx", ""]
    assert [join.feed("\ude00"), join.feed("\ud83d"), join.flush()] == ["\ufffd", "", "\ufffd"]
    assert [join.feed("\ud83d"), join.feed("\ud83d"), join.feed("\ude00")] == ["", "\ufffd", "😀"]
    assert [join.feed(""), join.feed("世界"), join.flush()] == ["", "世界", ""]


@given(st.lists(st.text(st.sampled_from("aé\ud83d\ude00"))))
def test_what_was_joined_can_always_be_encoded(pieces: list[str]) -> None:
    join = SurrogateJoiner()
    text = "".join([*map(join.feed, pieces), join.flush()])
    text.encode()
    assert text == "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def test_a_body_can_always_be_sent() -> None:
    assert encoded({"a": "世\ud83d", "b": "\ud83d\ude00"}) == '{"a":"世\ufffd","b":"😀"}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_an_option_that_is_no_json_is_named_as_one(value: object) -> None:
    with pytest.raises(ProviderError, match="options") as caught:
        encoded({"a": value})
    assert caught.value.kind == "config"


# -- mending -----------------------------------------------------------------------------------

CALL, OTHER = ToolCall("c1", "now", "{}"), ToolCall("c2", "read", '{"p": 1}')


def user(*texts: str) -> Message:
    return Message("user", tuple(map(Text, texts)))


def said(*parts: Part) -> Message:
    return Message("assistant", parts)


def result(*results: ToolResult) -> Message:
    return Message("tool", results)


def test_a_conversation_in_order_is_left_as_it_is() -> None:
    messages = (
        user("hi"),
        said(Reasoning("hm"), Text("let me see"), CALL, OTHER),
        result(ToolResult("c1", "noon"), ToolResult("c2", "x", is_error=True)),
        said(Text("noon")),
        user("thanks"),
    )
    assert mended(messages) == messages


def test_consecutive_user_messages_become_one() -> None:
    assert mended([user("a"), user("b", "c"), user("d")]) == (user("a", "b", "c", "d"),)


def test_blank_words_and_what_then_is_empty_are_dropped() -> None:
    blank = [
        user("  \n"),
        said(Text("")),
        said(Reasoning("only a thought")),
        user("a", "\u200b "),
        said(Refusal(" ")),
    ]
    assert mended(blank) == (user("a"),)
    assert mended([user("a"), said(Text(" ")), user("b")]) == (user("a", "b"),)


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    lost = ToolResult("c2", NO_RESULT, is_error=True)
    noon = ToolResult("c1", "noon")
    assert mended([said(CALL, OTHER), result(noon), user("b")]) == (
        said(CALL, OTHER),
        result(noon, lost),
        user("b"),
    )
    assert mended([said(OTHER)]) == (said(OTHER), result(lost))
    assert mended([said(OTHER), said(CALL), result(noon)]) == (
        said(OTHER),
        result(lost),
        said(CALL),
        result(noon),
    )


def test_results_of_separate_messages_are_put_together_in_the_order_of_the_calls() -> None:
    one, two = ToolResult("c1", "1"), ToolResult("c2", "2")
    assert mended([said(CALL, OTHER), result(two), result(one)]) == (said(CALL, OTHER), result(one, two))


def test_a_result_without_a_call_is_dropped() -> None:
    stray = result(ToolResult("c9", "?"))
    assert mended([stray, user("a"), stray, said(Text("b")), stray]) == (user("a"), said(Text("b")))
    assert mended([said(CALL), result(ToolResult("c1", "1"), ToolResult("c9", "?"))])[1] == result(
        ToolResult("c1", "1")
    )


def test_a_second_result_for_a_call_is_dropped() -> None:
    assert mended([said(CALL), result(ToolResult("c1", "1")), result(ToolResult("c1", "2"))]) == (
        said(CALL),
        result(ToolResult("c1", "1")),
    )


def test_calls_that_share_an_id_get_their_results_in_order() -> None:
    """Some servers give every call of an answer one id."""
    twin, one, two = ToolCall("c1", "other", "{}"), ToolResult("c1", "1"), ToolResult("c1", "2")
    assert mended([said(CALL, twin), result(one), result(two)]) == (said(CALL, twin), result(one, two))
    lost = ToolResult("c1", NO_RESULT, is_error=True)
    assert mended([said(CALL, twin), result(one)]) == (said(CALL, twin), result(one, lost))


@given(st.lists(st.text(max_size=30)), st.integers(10, 20))
def test_ids_of_calls_are_short_and_none_comes_twice(ids: list[str], limit: int) -> None:
    used: set[str] = set()
    cut = len(ids) // 2
    made = fitted_ids(ids[:cut], used, limit) + fitted_ids(ids[cut:], used, limit)
    assert all(0 < len(one) <= limit for one in made)
    assert set(made) == used
    assert len(made) == len(used) == len(ids)
    assert fitted_ids(made, set(), limit) == made


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("read-file_2", "read-file_2"),
        ("tool:sh.run x", "tool_sh_run_x"),
        ("n" * 70, "n" * 64),
        ("", "unnamed"),
    ],
)
def test_a_call_has_a_name_that_every_server_takes(name: str, sent: str) -> None:
    call = ToolCall("c1", name, "{}")
    assert mended([said(call), result(ToolResult("c1", "no"))])[0] == said(ToolCall("c1", sent, "{}"))


def test_pictures_stay_with_a_user_and_with_a_tool_and_nowhere_else() -> None:
    picture, paper = Image("image/png", "AAAA"), File("application/pdf", "AAAA", "a.pdf")
    shown = Message("tool", (ToolResult("c1", "see"), picture))
    messages = (Message("user", (Text("look"), picture, paper)), said(CALL), shown)
    assert mended(messages) == messages
    assert mended([said(picture)]) == ()


PARTS = st.sampled_from(
    [Text("a"), Text(" "), CALL, OTHER, Reasoning("r"), ToolResult("c1", "1"), ToolResult("c2", "")]
)
MESSAGES = st.builds(
    Message, st.sampled_from(["user", "assistant", "tool"]), st.lists(PARTS, max_size=4).map(tuple)
)


@given(st.lists(MESSAGES, max_size=12))
def test_whatever_history_holds_a_strict_server_accepts(messages: list[Message]) -> None:
    out = mended(messages)
    assert mended(out) == out
    for before, message in zip((None, *out), out, strict=False):
        assert message.parts
        calls = [part.id for part in before.parts if isinstance(part, ToolCall)] if before else []
        if message.role == "tool":
            assert [part.call_id for part in message.parts if isinstance(part, ToolResult)] == calls
        else:
            assert not calls
        assert before is None or not (before.role == message.role == "user")
