"""Events out of bytes: the rules of the specification, our deviations, and what it costs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import ProviderError
from mino_core.transport import WHOLE, sse
from mino_core.transport.sse import Reader, read_events

Pairs = list[tuple[str, str]]


def events(*chunks: bytes) -> Pairs:
    return list(read_events(chunks))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [("", "a"), ("", "b"), ("", "c")]),
        (b"data:a\n\n", [("", "a")]),
        (b"data:  a \n\n", [("", " a ")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b"data: a\ndata\ndata: b\n\n", [("", "a\n\nb")]),
        (b"event: ping\ndata: 1\n\ndata: 2\n\n", [("ping", "1"), ("", "2")]),
        (b"event: one\nevent: two\ndata: 1\n\n", [("two", "1")]),
        (b": comment\n\nid: 7\nretry: 10\n\ndata: a\n\n", [("", "a")]),
        (b"event: ping\n\ndata: a\n\n", [("", "a")]),
        (b"data:\n\ndata: \n\ndata:   \n\ndata: a\n\n", [("", "a")]),
        (b"unknown: x\ndata: a\nDATA: b\n\n", [("", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", "a")]),
        ("data: \ufeffa\n\n".encode(), [("", "\ufeffa")]),
        (
            "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(),
            [("", "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")],
        ),
        (b"data: \xe4\xb8\n\ndata: \xff\n\n", [("", "\ufffd"), ("", "\ufffd")]),
        (b"data: a:b: c\n\n", [("", "a:b: c")]),
        (b"\n\n\n", []),
        (b"retry: 10\n", []),
        (b"id: 1\nevent: ping", []),
        (b"", []),
    ],
)
def test_the_rules_hold_however_the_bytes_are_cut(body: bytes, expected: Pairs) -> None:
    for size in (1, 2, 3, 5, len(body) or 1):
        assert events(*(body[at : at + size] for at in range(0, len(body), size))) == expected, size


@given(
    st.lists(st.sampled_from([b"data: x", b"\r", b"\n", b"\r\n", b":c", b"event: e", "é".encode()])),
    st.data(),
)
def test_any_cut_of_any_stream_gives_the_same_events(pieces: list[bytes], data: Any) -> None:
    body = b": a stream\n" + b"".join(pieces)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)))))
    edges = [0, *cuts, len(body)]
    parts = [body[a:b] for a, b in pairwise(edges)]
    assert events(*parts) == events(body)


def test_an_event_is_given_at_its_last_line_end_without_waiting_for_more() -> None:
    reader = Reader()
    assert reader.feed(b"data: a\r\n\r") == [("", "a")]
    assert reader.feed(b"\ndata: b\r\r") == [("", "b")]


def test_a_pending_event_counts_at_a_clean_end_only_if_it_is_whole() -> None:
    assert events(b'data: {"a": 1}') == [("", '{"a": 1}')]
    assert events(b"data: [DONE]\n") == [("", "[DONE]")]
    assert events(b'data: {"a": ') == []
    assert events(b"data: half") == []


def test_a_pending_event_is_dropped_where_the_connection_broke() -> None:
    def broken() -> Iterable[bytes]:
        yield b'data: {"a": 1}\n\ndata: {"b": 2}'
        raise ProviderError("stream", "gone")

    seen = []
    with pytest.raises(ProviderError, match="gone"):
        seen.extend(read_events(broken()))
    stream = read_events(broken())
    assert next(stream) == ("", '{"a": 1}')
    with pytest.raises(ProviderError):
        next(stream)


@pytest.mark.parametrize("line", [b"data: ", b"x"], ids=["data", "anything"])
def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr(sse, "LIMIT", 1 << 20)
    with pytest.raises(ProviderError, match="larger than") as caught:
        list(read_events([b": hello\n", line, *[b"a" * 65536] * 17]))
    assert caught.value.kind == "protocol"


def test_an_endless_event_of_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LIMIT", 1 << 16)
    with pytest.raises(ProviderError, match="larger than"):
        events(*[b"data: " + b"a" * 1000 + b"\n"] * 100)


def test_a_body_that_is_no_stream_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LIMIT", 1 << 16)
    with pytest.raises(ProviderError, match="larger than"):
        events(*[b"<p>" + b"a" * 1000 + b"</p>\n"] * 100)


def test_json_that_is_no_stream_is_one_event() -> None:
    body = b'{\n "data": [],\n "id": "x"\n}\n'
    assert events(*(body[at : at + 1] for at in range(len(body)))) == [(WHOLE, body.decode().strip())]
    assert events(b"\xef\xbb\xbf {}") == [(WHOLE, "{}")]


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"<!doctype html><title>Sign in\n to &amp; Wi-Fi</title>", "protocol", "Sign in to & Wi-Fi"),
        (b"<html><body>hello</body></html>", "protocol", "an HTML page"),
        (b"\xef\xbb\xbf \n<html><style>\n:root {}\ndata: {}\n</style>", "protocol", "an HTML page"),
        (b"Not \x1b[31mhere\x1b[0m\x07", "protocol", "Not here"),
        (b'{"a": ', "protocol", "malformed"),
        (b"[]", "protocol", "no event stream but this: []"),
        (b'[{"a": 1}, 2]', "protocol", "no event stream"),
        (b'{"a": 1}\n{"b": 2}\n', "protocol", "malformed"),
        (b'{"error": {"message": "no such model", "type": "oops"}}', "server", "[oops] no such model"),
        (b'[{"error": {"message": "bad key", "code": 400}}]', "server", "bad key"),
        (b'{"type": "error", "error": "down"}', "server", "down"),
        (b"[" * 100_000, "protocol", "malformed"),
    ],
)
def test_any_other_body_is_an_error_that_says_what_came(body: bytes, kind: str, words: str) -> None:
    for size in (1, len(body)):
        with pytest.raises(ProviderError) as caught:
            list(read_events(body[at : at + size] for at in range(0, len(body), size)))
        assert caught.value.kind == kind
        assert words in caught.value.message
        assert len(caught.value.message) < 300


def test_a_byte_more_does_not_copy_the_line_so_far() -> None:
    reader = Reader()
    reader.feed(b": stream\n")
    reader.feed(b"data: " + b"a" * 1_000_000)
    peaks = []
    for _ in range(5):
        tracemalloc.start()
        reader.feed(b"a")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert min(peaks) < 100_000
    assert len(reader.feed(b"\n\n")) == 1
