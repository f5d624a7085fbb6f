"""Columns of a table: how wide they are, and cells cut and padded to that width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from .look import PLAIN, Span
from .width import cells
from .wrap import Wrapper

Align: TypeAlias = Literal["left", "right", "centre"]

#: A column that would have to be narrower than this is none.
_NARROWEST = 4


def fitting(natural: Sequence[int], room: int) -> list[int]:
    """Widths that fit into `room`, the widest columns cut first; none where that cannot be."""
    if sum(natural) <= room:
        return list(natural)
    widths = [0] * len(natural)
    left = room
    order = sorted(range(len(natural)), key=natural.__getitem__)
    for done, n in enumerate(order):
        widths[n] = min(natural[n], left // (len(order) - done))
        left -= widths[n]
    is_legible = all(width >= min(_NARROWEST, natural[n]) for n, width in enumerate(widths))
    return widths if is_legible and min(widths, default=0) > 0 else []


def with_slack(natural: Sequence[int], room: int, last: Align) -> list[int]:
    """Wider, as far as there is room, for the rows that were not seen yet.

    A last column that begins at its left edge has all the room that is left.
    """
    spare = max(0, room - sum(natural))
    slack = [min(max(width // 4, 2), spare // len(natural)) for width in natural]
    if last == "left":
        slack[-1] = spare - sum(slack[:-1])
    return [width + more for width, more in zip(natural, slack, strict=True)]


def broken(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """A cell as lines of at most `width`; a word that is longer is cut."""
    wrapper = Wrapper(width)
    wrapper.add(spans)
    return [line for row in wrapper.finish() for line in chopped(row.spans, width)]


def chopped(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """The same letters in lines of at most `width`, wherever that cuts them."""
    lines: list[list[Span]] = []
    line: list[Span] = []
    taken = 0
    for text, look in spans:
        start = 0
        for at, char in enumerate(text):
            size = cells(char)
            if taken and taken + size > width:
                lines.append([*line, (text[start:at], look)])
                line, start, taken = [], at, 0
            taken += size
        line.append((text[start:], look))
    return [*lines, line]


def padded(cell: Sequence[Span], width: int, align: Align, *, is_last: bool) -> list[Span]:
    """A line of a cell as wide as its column. The last column has nothing behind it."""
    spare = max(0, width - sum(cells(text) for text, _ in cell))
    left = {"left": 0, "right": spare, "centre": spare // 2}[align]
    right = 0 if is_last else spare - left
    return [(" " * left, PLAIN), *cell, (" " * right, PLAIN)]
