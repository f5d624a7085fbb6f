"""Streams as servers and gateways break them: transcripts with events lost, doubled, moved and bent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from wire.wire_harness import Transcript, transcripts

SMALL = [one for one in transcripts() if one.status == 200 and 0 < len(one.body) < 20_000]
BY_DIALECT = {
    dialect: [one for one in SMALL if one.dialect == dialect] for dialect in ("chat", "responses", "messages")
}
#: What a field may hold instead.
VALUES = (
    None,
    "",
    " ",
    0,
    1,
    -1,
    True,
    1.5,
    [],
    {},
    [None],
    {"error": "x"},
    "x",
    "\ud83d",
    "<think>",
    "[DONE]",
)


def events_of(transcript: Transcript) -> list[str]:
    """The events of a transcript, each as its lines."""
    text = transcript.body.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return [event for event in text.split("\n\n") if event.strip()]


POOL = {dialect: [event for one in ours for event in events_of(one)] for dialect, ours in BY_DIALECT.items()}


@st.composite
def broken(draw: st.DrawFn, dialect: str) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a broken stream, and the settings that its transcript wants."""
    transcript = draw(st.sampled_from(BY_DIALECT[dialect]))
    events = events_of(transcript)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(events)))
        match draw(st.sampled_from(["lose", "double", "move", "bend", "bend", "insert", "cut", "garble"])):
            case "lose":
                del events[at : at + 1]
            case "double":
                events[at:at] = events[at : at + 1]
            case "move":
                moved = events[at : at + 1]
                del events[at : at + 1]
                to = draw(st.integers(0, len(events)))
                events[to:to] = moved
            case "bend":
                events[at : at + 1] = [_bent(draw, event) for event in events[at : at + 1]]
            case "insert":
                events.insert(at, draw(st.sampled_from(POOL[dialect])))
            case "cut":
                del events[at:]
            case "garble":
                events.insert(at, draw(st.text(st.sampled_from('data: {}[]":,\n\rx\x00é😀'), max_size=20)))
    end = draw(st.sampled_from(["\n\n", "\r\n\r\n", "\r\r"]))
    text = "".join(event + end for event in events)
    data = text.encode("utf-8", "replace")
    if draw(st.booleans()):
        data = data[: draw(st.integers(0, len(data)))]
    return data, transcript.options


def _bent(draw: st.DrawFn, event: str) -> str:
    """The event with one field of its JSON lost or replaced."""
    lines = event.split("\n")
    for n, line in enumerate(lines):
        if not line.startswith("data:"):
            continue
        try:
            value = json.loads(line[5:])
        except ValueError:
            continue
        if paths := list(_paths(value)):
            *way, last = draw(st.sampled_from(paths))
            inner = value
            for key in way:
                inner = inner[key]
            if draw(st.booleans()):
                del inner[last]
            else:
                inner[last] = draw(st.sampled_from(VALUES))
        lines[n] = "data: " + json.dumps(value)
    return "\n".join(lines)


def _paths(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*way, key)
        yield from _paths(value[key], (*way, key))


def cut_up(draw: st.DrawFn, data: bytes) -> Sequence[bytes]:
    """The same bytes in pieces of any size."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
