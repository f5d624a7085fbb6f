"""What blocks stand in: quotes and list items, and the margins that these give to rows."""

from __future__ import annotations

from collections.abc import Iterable

from .look import Span
from .page import Page


class Quote:
    """A block quote: a bar before each of its rows."""


class Item:
    """A list item: its marker before the first row, as much space before the others.

    `indent` is the column, in its parent's text, in which its own text begins.
    """

    def __init__(self, indent: int, marker: str, number: int | None = None) -> None:
        self.indent = indent
        self.marker = marker
        self.number = number
        self.is_marked = False

    @property
    def kind(self) -> str:
        """Items of one kind that follow one another make one list."""
        return "bullet" if self.number is None else self.marker[-2]


def number(item: Quote | Item, before: Quote | Item) -> None:
    """Count on from the item before, unless this one bears a higher number itself."""
    if isinstance(item, Quote) or isinstance(before, Quote) or item.kind != before.kind:
        return
    if item.number is not None and before.number is not None and item.number <= before.number:
        item.number = before.number + 1
        item.marker = f"{item.number}{item.kind} "


def bars(containers: Iterable[Quote | Item], page: Page) -> list[Span]:
    """What stands in an empty row: the bars of quotes."""
    containers = list(containers)
    while containers and isinstance(containers[-1], Item):
        containers.pop()
    spans = [
        ("│ ", page.dim) if isinstance(container, Quote) else (" " * len(container.marker), page.plain)
        for container in containers
    ]
    return [*spans[:-1], ("│", page.dim)] if spans else []


def margins(containers: Iterable[Quote | Item], page: Page) -> tuple[list[Span], list[Span]]:
    """What stands before the next row, and before the rows after it. Markers are used up."""
    first: list[Span] = []
    rest: list[Span] = []
    bar = ("│ ", page.dim)
    for container in containers:
        if isinstance(container, Quote):
            first.append(bar)
            rest.append(bar)
            continue
        space = (" " * len(container.marker), page.plain)
        first.append(space if container.is_marked else (container.marker, page.plain))
        rest.append(space)
        container.is_marked = True
    return first, rest
