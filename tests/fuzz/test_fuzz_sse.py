"""The reader of server-sent events against a plain reading of the standard, on any bytes in any pieces."""

from __future__ import annotations

import json
import re

from broken_streams import cut_up
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import ProviderError
from mino_core.transport import WHOLE
from mino_core.transport.sse import Reader, read_events

PIECES = st.sampled_from(
    [
        *(b"data: {}", b'data: {"a": 1}', b"data:", b"data", b"data: [DONE]", b"data:  x", b"event: error"),
        *(
            b"event:",
            b"id: 7\x00",
            b"retry: 10",
            b": ping",
            b":",
            b"foo: bar",
            b"\xef\xbb\xbf",
            b" ",
            b"{",
            b"}",
        ),
        *("é😀".encode(), b"\xf0\x9f", b"\x00", b"\xff", "\u2028\u0085".encode(), b"\x0b\x0c"),
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r"),
    ]
)
BODIES = st.lists(PIECES, max_size=30).map(b"".join) | st.binary(max_size=60)


def by_the_book(body: bytes) -> list[tuple[str, str]]:
    """The events of a body read at once, as the standard says, with our three deviations."""
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = re.split("\r\n|\r|\n", text)
    events, name, data = [], "", []
    for n, line in enumerate([*lines, ""]):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            said = "\n".join(data)
            is_pending = n >= len(lines) - 1  # no blank line came: counts only if it is whole
            if said.strip() and (not is_pending or is_whole(said)):
                events.append((name, said))
            name, data = "", []
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value
    return events


def is_whole(data: str) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return data.strip() == "[DONE]"
    return True


@settings(deadline=None)
@given(st.sampled_from([b"", b"\xef\xbb\xbf"]), BODIES, st.data())
def test_any_bytes_in_any_pieces_are_read_by_the_book(mark: bytes, body: bytes, data: st.DataObject) -> None:
    body = mark + b": stream\n" + body
    reader = Reader()
    events = [event for piece in cut_up(data.draw, body) for event in reader.feed(piece)]
    assert events + reader.close() == by_the_book(body)


@settings(deadline=None)
@given(st.data())
def test_pieces_do_not_matter(data: st.DataObject) -> None:
    body = data.draw(BODIES)
    assert outcome(cut_up(data.draw, body)) == outcome([body])


def outcome(pieces: object) -> tuple[list[tuple[str, str]], str]:
    events: list[tuple[str, str]] = []
    try:
        events.extend(read_events(pieces))  # type: ignore[arg-type]
    except ProviderError as error:
        assert error.message.isprintable()
        assert len(error.message) < 300
        return events, error.kind
    assert all(data.strip() for name, data in events)
    assert all(name != WHOLE or len(events) == 1 for name, _ in events)
    return events, ""
