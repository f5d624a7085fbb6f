"""The order in which a reply spoke, thought and called, kept in its `meta` so that it goes back as it came.

It is a list of places: `{"text": characters}` are words, `{"call": id}` is a call, and what has a
`type` is an opaque item of the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from mino_core.types import Message, ToolCall

Place = dict[str, Any]


def order_of(items: Iterable[tuple[int, Place | None, Place]], length: int) -> list[Place]:
    """The places of a reply.

    Each item is how many characters stood before it, its place if it has one, and what is to be
    kept with the words behind it; `length` is the characters of all words.
    """
    began = list(items)
    ends = [*(start for start, _, _ in began), length]
    order: list[Place] = [{"text": ends[0]}] if ends[0] else []
    for (start, place, about), end in zip(began, ends[1:], strict=True):
        if place is not None:
            order.append(place)
        if end > start:
            order.append({"text": end - start, **about})
    return order


def is_plain(order: Sequence[Place]) -> bool:
    """Whether the message alone says as much: words, then calls."""
    are_calls = ["call" in place for place in order]
    return are_calls == sorted(are_calls) and all(place.keys() < {"text", "call"} for place in order)


def kept(message: Message, kind: str, model: str) -> Mapping[str, Any]:
    """What a dialect kept with a message, if it was this model that said it."""
    echo = message.meta.get(kind)
    return echo if isinstance(echo, dict) and echo.get("model") == model else {}


def laid_out(message: Message, order: object) -> Iterator[tuple[Place, str | ToolCall | None]]:
    """The places of a reply, each with the words or the call that belong there.

    Where the words were changed since, only what stood before them counts; a damaged order is none.
    """
    text = message.text
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    places = [place for place in order if isinstance(place, dict)] if isinstance(order, list) else []
    places = [place for place in places if "type" in place or isinstance(place.get("text", 0), int)]
    if sum(place["text"] for place in places if "type" not in place and "text" in place) != len(text):
        places = [*takewhile(lambda place: "type" in place, places), {"text": len(text)}]
    at = 0
    for place in places:
        if "type" in place:
            yield place, None
        elif "text" in place:
            yield place, text[at : at + place["text"]]
            at += place["text"]
        elif calls and calls[0].id == place.get("call"):
            yield place, calls.pop(0)
    for call in calls:
        yield {}, call
