"""The events of Chat Completions, one quirk at a time. Whole streams are in tests/wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import (
    Delta,
    Finished,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    Usage,
)

from mino_openai.chat_events import decode
from mino_openai.think import ThinkTags


def chunk(finish: str | None = None, **delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def deltas(*data: str, **rest: Any) -> list[Delta]:
    return list(decode([("", piece) for piece in data], **rest))


def failure(*data: str, error: ProviderError | None = None, **rest: Any) -> tuple[list[Delta], ProviderError]:
    def events() -> Iterator[tuple[str, str]]:
        yield from (("", piece) for piece in data)
        if error is not None:
            raise error

    seen: list[Delta] = []
    with pytest.raises(ProviderError) as caught:
        seen.extend(decode(events(), **rest))
    return seen, caught.value


def test_each_piece_is_a_delta_of_its_kind_and_the_end_is_last() -> None:
    assert deltas(
        chunk(role="assistant", content=""),
        chunk(reasoning_content="hm"),
        chunk(content="Hel"),
        chunk(content="lo"),
        chunk(refusal="no"),
        chunk("stop"),
        "[DONE]",
        chunk(content="never read"),
    ) == [
        ReasoningDelta("hm"),
        TextDelta("Hel"),
        TextDelta("lo"),
        RefusalDelta("no"),
        Finished("stop", "stop", meta={"openai-chat": {"host": "", "reasoning": "reasoning_content"}}),
    ]


@pytest.mark.parametrize("word", ["stop", "end", "eos", "tool_calls", "function_call", "stop_sequence"])
def test_every_word_for_a_good_end(word: str) -> None:
    assert deltas(chunk(content="a"), chunk(word))[-1] == Finished("stop", word)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "filter"),
        ("sensitive", "filter"),
    ],
)
def test_every_word_for_an_early_end(word: str, reason: Any) -> None:
    assert deltas(chunk(content="a"), chunk(word))[-1] == Finished(reason, word)


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource", "abort"])
def test_every_word_for_a_failure(word: str) -> None:
    seen, error = failure(chunk(content="a"), chunk(word))
    assert seen == [TextDelta("a")]
    assert (error.kind, word in error.message) == ("server", True)


def test_details_of_reasoning_are_kept_piece_by_piece_to_go_back() -> None:
    first, second = {"type": "reasoning.text", "text": "hm"}, {"type": "reasoning.encrypted", "data": "x"}
    end = deltas(chunk(reasoning_details=[first]), chunk("stop", content="a", reasoning_details=[second]))[-1]
    assert end == Finished(
        "stop", "stop", meta={"openai-chat": {"host": "", "reasoning_details": [first, second]}}
    )


def test_the_name_of_a_call_may_come_after_its_id() -> None:
    pieces = [{"index": 0, "id": "c"}, {"index": 0, "function": {"name": "f", "arguments": "{}"}}]
    assert deltas(*(chunk(tool_calls=[piece]) for piece in pieces), chunk("tool_calls")) == [
        ToolCall("c", "f", "{}"),
        Finished("tool_calls", "tool_calls"),
    ]


def test_a_bad_end_is_not_undone_by_a_good_one() -> None:
    assert deltas(chunk("length", content="a"), chunk("stop"))[-1] == Finished("length", "length")


def test_an_end_that_is_no_word_is_no_fault_of_ours() -> None:
    for odd in ({"a": 1}, ["stop"], 7, True):
        _, error = failure(json.dumps({"choices": [{"delta": {"content": "a"}, "finish_reason": odd}]}))
        assert error.kind == "protocol"


def test_without_a_finish_reason_there_is_no_end() -> None:
    assert deltas(chunk(content="a"), "[DONE]") == [TextDelta("a")]
    assert deltas(chunk(content="a")) == [TextDelta("a")]
    assert deltas("[DONE]") == []
    assert deltas() == []


def test_done_can_be_trusted_where_text_came_and_no_call_is_open() -> None:
    def end(*data: str) -> Delta | None:
        return next(iter(deltas(*data, trust_done=True)[::-1]), None)

    assert end(chunk(content="a"), "[DONE]") == Finished("stop", "stop")
    assert end(chunk(content="a"), chunk(content=" "), "[DONE]") == Finished("stop", "stop")
    assert end(chunk("length", content="a"), "[DONE]") == Finished("length", "length")
    assert end(chunk(content="a")) == TextDelta("a")
    assert end(chunk(content=" "), "[DONE]") == TextDelta(" ")
    assert end(chunk(reasoning="a"), "[DONE]") == ReasoningDelta("a")
    half = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a'}}
    assert end(chunk(content="a", tool_calls=[half]), "[DONE]") == TextDelta("a")


@pytest.mark.parametrize("kind", ["stream", "timeout"])
def test_a_break_after_the_finish_reason_costs_nothing(kind: str) -> None:
    def events() -> Iterator[tuple[str, str]]:
        yield "", chunk("stop", content="a")
        raise ProviderError(kind, "gone", 200)

    assert list(decode(events())) == [TextDelta("a"), Finished("stop", "stop")]


def test_a_break_before_it_keeps_what_came_and_gives_up_what_was_held() -> None:
    broke = ProviderError("stream", "gone", 200)
    seen, error = failure(chunk(content="a \ud83d"), error=broke)
    assert seen == [TextDelta("a "), TextDelta("\ufffd")]
    assert error is broke
    seen, _ = failure(chunk(content="<thi"), error=broke, think_tags=True)
    assert seen == [TextDelta("<thi")]


@pytest.mark.parametrize(
    "data",
    [
        '{"error": {"message": "boom"}}',
        '{"error": "boom"}',
        '{"choices": [], "error": {"message": "boom"}, "usage": null}',
        '{"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "boom"}}]}',
        '{"object": "error", "message": "boom"}',
        '{"message": "boom"}',
        '{"x_groq": {"error": "boom"}}',
    ],
)
def test_an_error_in_the_stream_beats_every_success(data: str) -> None:
    seen, error = failure(chunk("stop", content="a"), data, "[DONE]")
    assert seen == [TextDelta("a")]
    assert (error.kind, "boom" in error.message) == ("server", True)


@pytest.mark.parametrize(
    "data", ['{"choices": [], "error": null}', '{"choices": [], "error": {}}', "{}", "null", "[]"]
)
def test_what_says_nothing_is_nothing(data: str) -> None:
    assert deltas(data, chunk("stop", content="a")) == [TextDelta("a"), Finished("stop", "stop")]


KEYS = (
    *("choices", "delta", "content", "index", "finish_reason", "tool_calls", "function", "arguments", "id"),
    *("usage", "error", "x_groq", "message", "refusal", "reasoning", "reasoning_details", "thinking", "type"),
    *("text", "prompt_tokens", "prompt_tokens_details"),
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=20,
    )
)
def test_nothing_a_server_sends_is_a_fault_of_ours(value: object) -> None:
    for event in (
        value,
        {"choices": value},
        {"choices": [value], "usage": value},
        {"choices": [{"delta": value, "finish_reason": "stop"}]},
        {"choices": [{"delta": {"content": value, "tool_calls": [value]}, "finish_reason": value}]},
    ):
        try:
            deltas(json.dumps(event), think_tags=True)
        except ProviderError:
            pass


def test_usage_is_passed_on_when_it_says_something_new() -> None:
    def report(n: int) -> str:
        return json.dumps({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": n}})

    seen = deltas(report(1), report(1), report(2), chunk("stop", content="a"))
    usages = [delta.output_tokens for delta in seen if isinstance(delta, Usage)]
    assert usages == [1, 2]


def test_usage_comes_before_an_error() -> None:
    seen, _ = failure('{"usage": {"prompt_tokens": 3}, "error": "boom"}')
    assert seen == [Usage(input_tokens=3)]


# -- calls -------------------------------------------------------------------------------------


def called(*fragments: Any, finish: str = "tool_calls") -> list[Delta]:
    return deltas(*(chunk(tool_calls=[fragment]) for fragment in fragments), chunk(finish))


def fragment(index: int | None, call_id: str = "", name: str = "", arguments: Any = "") -> dict[str, Any]:
    at = {} if index is None else {"index": index}
    return {**at, "id": call_id, "function": {"name": name, "arguments": arguments}}


def test_fragments_are_put_together_by_index() -> None:
    assert called(
        fragment(0, "a", "f", '{"x'),
        fragment(1, "b", "g"),
        fragment(0, arguments='": 1}'),
        fragment(1, arguments="{}"),
    ) == [ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"), Finished("tool_calls", "tool_calls")]


def test_a_call_without_an_id_gets_one_and_without_a_name_is_none() -> None:
    assert called(fragment(0, "", "f"), fragment(1, "b"), finish="stop") == [
        ToolCall("call_1", "f", ""),
        Finished("tool_calls", "stop"),
    ]


def test_a_call_that_is_no_json_is_passed_on_at_a_good_end_and_dropped_at_an_early_one() -> None:
    half = fragment(0, "a", "f", '{"x')
    assert called(half)[0] == ToolCall("a", "f", '{"x')
    assert called(half, fragment(1, "b", "g", "{}"), finish="length") == [
        ToolCall("b", "g", "{}"),
        Finished("length", "length"),
    ]


def test_calls_come_only_with_an_end() -> None:
    assert deltas(chunk(tool_calls=[fragment(0, "a", "f", "{}")])) == []


# -- think tags --------------------------------------------------------------------------------


def split(*pieces: str, is_open: bool = False) -> tuple[str, str]:
    """What is reasoning and what is answer."""
    tags = ThinkTags(is_open)
    said = [part for piece in pieces for part in tags.feed(piece)] + list(tags.flush())
    return "".join(text for is_r, text in said if is_r), "".join(text for is_r, text in said if not is_r)


@pytest.mark.parametrize(
    ("text", "is_open", "reasoning", "answer"),
    [
        ("<think>\nhm\n</think>\n\nYes", False, "hm\n", "Yes"),
        ("\n <think>hm</think>Yes", False, "hm", "Yes"),
        ("<think></think>Yes", False, "", "Yes"),
        ("Yes <think>no</think>", False, "", "Yes <think>no</think>"),
        ("<think>a</think>b <think>c</think>", False, "a", "b <think>c</think>"),
        ("<thinking>a", False, "", "<thinking>a"),
        ("<think>never closed </thi", False, "never closed </thi", ""),
        ("  \n", False, "", "  \n"),
        ("hm</think>Yes", True, "hm", "Yes"),
        ("\nhm</think>\nYes", True, "hm", "Yes"),
        ("<think>hm</think>Yes", True, "hm", "Yes"),
        ("hm </thonk></think>Yes", True, "hm </thonk>", "Yes"),
    ],
)
def test_tags_are_told_from_text_however_they_are_cut(
    text: str, is_open: bool, reasoning: str, answer: str
) -> None:
    for size in (1, 2, 3, 7, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert split(*pieces, is_open=is_open) == (reasoning, answer), size


def test_nothing_is_held_back_that_cannot_become_a_tag() -> None:
    tags = ThinkTags()
    assert list(tags.feed("<thx")) == [(False, "<thx")]
    assert tags.is_over
    tags = ThinkTags()
    assert list(tags.feed("<think>abc")) == [(True, "abc")]
    assert list(tags.feed(" </p")) == [(True, " </p")]
    assert list(tags.feed(" </")) == [(True, " ")]
