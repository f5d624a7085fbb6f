"""Where an unfinished text is cut: what stands before that place is read, and never again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .emphasis import Item
from .wrap import last_break


class Division(NamedTuple):
    """The items of the first `end` characters, and those of the rest."""

    end: int
    settled: Sequence[Item]
    open: Sequence[Item]


def divided(items: Sequence[Item], closed: Sequence[tuple[int, int]], end: int, limit: int) -> Division:
    """Cut at the last place up to `end` where a row may be broken and that no construct surrounds.

    `closed` are the constructs, from where to where. Where nothing may be broken for longer than
    `limit` (a word wider than any window), the cut goes through it.
    """
    for n in range(len(items) - 1, -1, -1):
        item = items[n]
        if item.start < end and item.is_plain:
            upto = min(len(item.text), end - item.start)
            start = max(0, upto - limit)
            at = last_break(item.text, start, upto)
            if at > start or item.text[:at].endswith((" ", "\n")):
                return _through(items, n, at)
            if start:
                return _through(items, n, upto - limit // 4)
    if end > 2 * limit:
        return _between(items, closed, end)
    return Division(0, (), items)


def _through(items: Sequence[Item], n: int, at: int) -> Division:
    item = items[n]
    head, tail = Item(item.text[:at], item.start), Item(item.text[at:], item.start + at)
    return Division(tail.start, [*items[:n], head], [tail, *items[n + 1 :]])


def _between(items: Sequence[Item], closed: Sequence[tuple[int, int]], end: int) -> Division:
    """Cut behind the last of many constructs that stand side by side."""
    ends = [stop for _, stop in closed]
    # behind `!` there may come the rest of a picture
    ends += [item.start + len(item.text) for item in items if item.is_plain and item.text[-1] != "!"]
    places = sorted((stop for stop in ends if stop <= end), reverse=True)
    at = next((at for at in places if not any(start < at < stop for start, stop in closed)), 0)
    settled = [item for item in items if item.start < at]
    return Division(at, settled, [item for item in items if item.start >= at])
