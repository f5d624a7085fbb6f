"""Ids, times, and a message as JSON and back."""

import json
import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core.errors import HistoryError
from mino_core.records import new_id, record
from mino_core.records.finding import find_conversation
from mino_core.records.messages import (
    is_blank,
    message_from_json,
    message_to_json,
    parts_to_json,
    says_something,
    sum_usage,
    usage_from_json,
    usage_to_json,
)
from mino_core.types import File, Image, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Usage

# -- ids and times -----------------------------------------------------------------------------


def test_ids_have_the_shape_of_a_ulid():
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", new_id())


def test_ids_ascend_however_fast_they_are_made():
    ids = [new_id() for _ in range(5000)]
    assert ids == sorted(ids) and len(set(ids)) == len(ids)


def test_ids_ascend_when_the_clock_is_set_back():
    assert new_id() < new_id(now=1.0) < new_id()


def test_the_start_of_an_id_tells_what_was_made_in_one_instant_apart():
    ids = {new_id(now=4102444800.0)[:20] for _ in range(1000)}
    assert len(ids) == 1000


def test_an_id_begins_with_its_time():
    early, late = new_id(now=4102444800.0), new_id(now=4102444800.5)
    assert early[:10] < late[:10]


def test_a_record_says_what_it_is_and_when_in_utc():
    made = record("said", turn=3)
    assert list(made) == ["id", "time", "type", "turn"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["time"])
    assert (made["type"], made["turn"]) == ("said", 3)


def test_a_head_may_bring_its_own_id():
    assert record("head", id="X")["id"] == "X"


# -- messages as JSON --------------------------------------------------------------------------

_words = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates too
_images = st.builds(Image, _words, _words, _words)
_files = st.builds(File, _words, _words, _words)
_parts = {
    "user": st.builds(Text, _words) | _images | _files,
    "assistant": st.builds(Text, _words)
    | st.builds(Reasoning, _words)
    | st.builds(Refusal, _words)
    | st.builds(ToolCall, _words, _words, _words),
    "tool": st.builds(ToolResult, _words, _words, st.booleans()) | _images,
}
_meta = st.dictionaries(_words, st.dictionaries(_words, st.none() | st.booleans() | st.integers() | _words))
messages = st.sampled_from(sorted(_parts)).flatmap(
    lambda role: st.builds(Message, st.just(role), st.lists(_parts[role], max_size=4).map(tuple), _meta)
)


def _joined(value):
    """Surrogates that stand side by side are one character in JSON, whoever wrote them."""
    return json.loads(json.dumps(value))


@settings(deadline=None)
@given(messages)
def test_a_message_comes_back_from_json_as_it_was(message):
    kept = json.loads(json.dumps(message_to_json(message)))
    back = message_from_json(kept)
    assert message_to_json(back) == _joined(message_to_json(message))
    assert back.role == message.role and [type(part) for part in back.parts] == [
        type(p) for p in message.parts
    ]
    assert message_from_json(message_to_json(message)) == message


def test_every_kind_of_part_has_its_documented_form():
    parts = (
        Text("t"),
        Reasoning("r"),
        Refusal("no"),
        ToolCall("c1", "look", "{}"),
        ToolResult("c1", "seen", is_error=True),
        Image("image/png", "AA==", "a.png"),
        File("application/pdf", "AA==", "a.pdf"),
    )
    assert parts_to_json(parts) == [
        {"type": "text", "text": "t"},
        {"type": "reasoning", "text": "r"},
        {"type": "refusal", "text": "no"},
        {"type": "tool_call", "id": "c1", "name": "look", "arguments": "{}"},
        {"type": "tool_result", "call_id": "c1", "content": "seen", "is_error": True},
        {"type": "image", "media_type": "image/png", "data": "AA==", "name": "a.png"},
        {"type": "file", "media_type": "application/pdf", "data": "AA==", "name": "a.pdf"},
    ]


def test_what_a_later_mino_adds_to_a_message_is_ignored():
    value = {
        "role": "user",
        "mood": 1,
        "parts": [{"type": "smell", "notes": []}, {"type": "text", "text": "hi", "lang": "en"}],
    }
    assert message_from_json(value) == Message("user", (Text("hi"),))


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        1,
        "x",
        {},
        {"role": "user"},
        {"role": 5, "parts": []},
        {"role": "root", "parts": []},
        {"role": ["user"], "parts": []},
        {"role": "user", "parts": {"a": 1}},
        {"role": "user", "parts": "words"},
        {"role": "user", "parts": ["words"]},
        {"role": "user", "parts": [{}]},
        {"role": "user", "parts": [{"type": 1}]},
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "user", "parts": [{"type": "text", "text": None}]},
        {"role": "user", "parts": [], "meta": []},
        {"role": "user", "parts": [{"type": "tool_call", "id": "a", "name": "b", "arguments": "{}"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "b", "arguments": {}}]},
        {"role": "assistant", "parts": [{"type": "tool_result", "call_id": "a", "content": "x"}]},
        {"role": "tool", "parts": [{"type": "text", "text": "x"}]},
        {"role": "user", "parts": [{"type": "image", "media_type": "image/png"}]},
    ],
)
def test_a_wrong_shape_is_a_value_error(value):
    with pytest.raises(ValueError, match="a "):
        message_from_json(value)


# -- blank or not ------------------------------------------------------------------------------


def test_every_white_space_of_unicode_is_blank():
    spaces = [chr(n) for n in range(sys.maxunicode + 1) if chr(n).isspace()]
    assert is_blank("".join(spaces)) and is_blank("") and is_blank("\u200b\ufeff \u2060")


def test_a_visible_character_is_never_blank():
    visible = [chr(n) for n in range(0x3000) if unicodedata.category(chr(n))[0] in "LNPS" and n != 0x2800]
    shown = [char for char in visible if is_blank(char)]
    assert [unicodedata.name(char) for char in shown] == ["HANGUL CHOSEONG FILLER", "HANGUL JUNGSEONG FILLER"]
    assert not is_blank(" \u200b . ")


@pytest.mark.parametrize(
    ("parts", "something"),
    [
        ((), False),
        ((Text(" \u3000\u200b"),), False),
        ((Reasoning("deep thought"),), False),
        ((Refusal("no"),), True),
        ((Text(""), ToolCall("1", "x", "")), True),
    ],
)
def test_a_reply_says_something_with_words_or_with_a_call(parts, something):
    assert says_something(parts) is something


# -- usage -------------------------------------------------------------------------------------


def test_a_usage_keeps_only_what_was_reported():
    usage = Usage(input_tokens=5, output_tokens=0)
    assert usage_to_json(usage) == {"input_tokens": 5, "output_tokens": 0}
    assert usage_from_json(usage_to_json(usage)) == usage
    assert usage_to_json(None) is None and usage_from_json(None) is None


def test_what_is_no_count_was_not_reported():
    assert (
        usage_from_json({"input_tokens": "5", "output_tokens": -1, "total_tokens": True, "x": 1}) == Usage()
    )
    assert usage_from_json([1]) is None


def test_a_sum_counts_what_was_reported_and_never_invents_a_zero():
    assert sum_usage([]) is None and sum_usage([None]) is None
    total = sum_usage([Usage(input_tokens=1), None, Usage(input_tokens=2, output_tokens=3)])
    assert total == Usage(input_tokens=3, output_tokens=3)


# -- by the beginning of an id -----------------------------------------------------------------


class _Heads:
    def conversations(self):
        return iter([{"id": "01AAB"}, {"id": "01AAC"}, {"id": "02"}])


def test_the_beginning_of_an_id_is_enough():
    assert find_conversation(_Heads(), " 01aab")["id"] == "01AAB"
    assert find_conversation(_Heads(), "02")["id"] == "02"


@pytest.mark.parametrize("prefix", ["", "  ", "03", "../02"])
def test_an_id_that_no_conversation_has_is_named(prefix):
    with pytest.raises(HistoryError, match=re.escape(repr(prefix))):
        find_conversation(_Heads(), prefix)


def test_an_id_that_could_mean_two_names_both():
    with pytest.raises(HistoryError, match="01AAB, 01AAC"):
        find_conversation(_Heads(), "01")
