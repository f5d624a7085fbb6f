"""The schema of a record says what mino writes, and what it takes for a wrong shape."""

import json
import re

import pytest
import record_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core.records import fold, record
from mino_core.records.messages import message_from_json, usage_from_json

VALID = record_schema.validator()
SCHEMA = json.loads(record_schema.SCHEMA.read_text("utf-8"))


def is_valid(value):
    try:
        VALID(value)
    except ValueError:
        return False
    return True


def test_the_schema_knows_the_types_that_the_page_describes():
    page = record_schema.SCHEMA.with_name("history-format.md").read_text("utf-8")
    table = page.partition("| type | further fields | what")[2].partition("\n\n")[0]
    described = set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))
    known = {rule["if"]["properties"]["type"]["const"] for rule in SCHEMA["allOf"]}
    assert known | {"cleared"} == described


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "head", "format": 1, "mino": "1", "directory": ""},
        {"type": "head", "format": 2, "directory": "/", "parent": {"conversation": "x", "record": ""}},
        {"type": "said", "turn": 1, "message": {"role": "user", "parts": []}, "usage": None},
        {"type": "partial", "turn": 1, "parts": [{"type": "text", "text": ""}], "more": True},
        {"type": "ended", "turn": 1, "outcome": "failed", "error": {"kind": "http", "message": ""}},
        {"type": "cleared"},
        {"type": "undone", "turns": 3},
        {"type": "retried", "turn": 1},
        {"type": "compacted", "summary": "", "upto": "x", "usage": {"output_tokens": 0}},
        {"type": "titled", "title": ""},
        {"type": "from the future", "anything": [None]},
    ],
    ids=lambda fields: fields["type"],
)
def test_each_type_of_record_is_accepted_and_without_a_field_refused(fields):
    kind = fields.pop("type")
    assert is_valid(record(kind, **fields))
    required = {"head": {"format", "directory"}, "said": {"turn", "message"}, "ended": {"turn", "outcome"}}
    for key in required.get(kind, set()):
        assert not is_valid(record(kind, **{name: value for name, value in fields.items() if name != key}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "short"},
        {"id": 5},
        {"time": "yesterday"},
        {"time": "2026-03-18T09:45:12+01:00"},
        {"type": ""},
        {"turn": 0},
        {"turn": "1"},
        {"outcome": "great"},
        {"message": {"role": "root", "parts": []}},
        {
            "message": {
                "role": "user",
                "parts": [{"type": "tool_call", "id": "", "name": "", "arguments": ""}],
            }
        },
        {"message": {"role": "user", "parts": [], "meta": []}},
        {"error": {"kind": "http"}},
        {"usage": {"input_tokens": -1}},
    ],
    ids=str,
)
def test_a_wrong_field_is_refused(wrong):
    said = record("said", turn=1, message={"role": "user", "parts": []})
    assert is_valid(said) and not is_valid({**said, **wrong})


_json = st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3) | st.just([]) | st.just({})
_texts = st.sampled_from(["id", "name", "arguments", "text", "call_id", "content", "media_type", "data"])
_kinds = ["text", "reasoning", "refusal", "tool_call", "tool_result", "image", "file"]
_part = st.builds(
    lambda kind, fields, more: {"type": kind, "is_error": False, **fields, **more},
    st.sampled_from(_kinds),
    st.just(
        dict.fromkeys(["id", "name", "arguments", "text", "call_id", "content", "media_type", "data"], "x")
    ),
    st.dictionaries(_texts, _json, max_size=1),
)
_message = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "root"]),
        "parts": st.lists(_part, max_size=2) | _json,
    },
    optional={"meta": st.just({}) | st.integers()},
)


@settings(deadline=None)
@given(_message)
def test_the_schema_and_the_reader_agree_on_messages(message):
    try:
        message_from_json(message)
        read = True
    except ValueError:
        read = False
    assert is_valid(record("said", turn=1, message=message)) == read


@settings(deadline=None)
@given(
    st.sampled_from(["ended", "undone", "retried", "titled", "compacted"]),
    st.dictionaries(st.sampled_from(["turn", "turns", "outcome", "title", "summary", "upto"]), _json),
)
def test_what_the_schema_accepts_is_never_skipped(kind, fields):
    said = record("said", turn=1, message={"role": "user", "parts": [{"type": "text", "text": "q"}]})
    if isinstance(fields.get("upto"), str):
        fields["upto"] = said["id"]
    each = record(kind, **fields)
    if is_valid(each):
        assert fold([said, each]).skipped == 0


@given(st.dictionaries(st.sampled_from(["input_tokens", "total_tokens"]), st.integers(0, 9)))
def test_a_usage_that_the_schema_accepts_is_read(usage):
    assert is_valid(record("ended", turn=1, outcome="completed", usage=usage))
    read = usage_from_json(usage)
    assert {name: getattr(read, name) for name in usage} == usage


def test_a_file_that_is_not_as_documented_is_found(tmp_path):
    folder = tmp_path / "history" / "x"
    folder.mkdir(parents=True)
    file = folder / "y.jsonl"
    file.write_text(json.dumps(record("head", format=1, directory="/")) + "\n")
    assert record_schema.check(tmp_path) == 1
    for wrong in (record("head"), {"type": "x"}, "no record"):
        file.write_text(json.dumps(wrong) + "\n")
        with pytest.raises(AssertionError, match=r"y\.jsonl"):
            record_schema.check(tmp_path)
    file.unlink()
