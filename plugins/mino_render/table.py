"""A table, row by row: the widths are fixed from its header and first rows, then each row is final.

Until then all of it is open, and drawn anew when a row makes it wider. Cells too long for their column
are wrapped in it, and where the window is too narrow for columns each row becomes a list of
`header: cell`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from .columns import Align, broken, fitting, padded, with_slack
from .inline import inline
from .look import BOLD, PLAIN, Row, Span
from .page import Page
from .width import cells, doubtful
from .wrap import Wrapper, joined

_DELIMITERS = re.compile(r" {0,3}\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$")
_BAR = re.compile(r"(?<!\\)\|")
#: Rows that are seen before the widths are fixed.
_FIRST_ROWS = 10
_GAP, _CROSSING = " │ ", "─┼─"
#: The cells of one row, read.
Cells: TypeAlias = Sequence[Sequence[Span]]


def is_delimiter(line: str, header: str) -> bool:
    """Whether `line` under `header` makes a table of them."""
    return "|" in line and bool(_DELIMITERS.match(line)) and len(_split(line)) == len(_split(header))


def _split(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]


def _cells(spans: Sequence[Span]) -> int:
    return sum(cells(text) for text, _ in spans)


def _align(delimiter: str) -> Align:
    if delimiter.endswith(":"):
        return "centre" if delimiter.startswith(":") else "right"
    return "left"


class Table:
    """Takes lines, gives rows. `first` and `rest` are the margins of its rows."""

    def __init__(
        self, page: Page, header: str, delimiters: str, first: Sequence[Span], rest: Sequence[Span]
    ) -> None:
        self._page = page
        self._margin, self._rest = tuple(first), tuple(rest)
        names = _split(header)
        self._header = [self._read(name, BOLD) for name in names]
        self._names = [self._read(f"{name}:", BOLD) for name in names]
        self._aligns = [_align(cell) for cell in _split(delimiters)]
        self._waiting: list[Cells] = []
        self._widths: list[int] | None = None
        self._rows: list[Row] = []
        #: How it would look if it ended now, and the width of the window that this was made for.
        self._draft: list[Row] = []
        self._drafted = 0

    def add_line(self, line: str) -> None:
        """A further row."""
        row = _split(line)
        size = len(self._header)
        if len(row) > size:  # what has no column of its own
            row = [*row[: size - 1], " | ".join(row[size - 1 :])]
        row += [""] * (size - len(row))
        cells_of_row = [self._read(cell) for cell in row]
        if self._widths is not None:
            self._rows += self._placed(self._laid(cells_of_row, self._widths))
            return
        self._waiting.append(cells_of_row)
        self._drafted = 0
        if len(self._waiting) >= _FIRST_ROWS or len(self._drawn()) > self._page.rows - 4:
            self._fix(is_whole=False)

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and those that still may."""
        rows, self._rows = self._rows, []
        return rows, [] if self._widths is not None else list(self._drawn())

    def finish(self) -> list[Row]:
        """All rows that are left."""
        if self._widths is None:
            self._fix(is_whole=True)
        return self.take()[0]

    def _drawn(self) -> list[Row]:
        if self._drafted != self._page.columns:
            margin, self._drafted = self._margin, self._page.columns
            self._draft = self._all(self._fitting(is_whole=True))
            self._margin = margin
        return self._draft

    def _fix(self, *, is_whole: bool) -> None:
        """Choose the widths, and lay out what has waited for them."""
        self._widths = self._fitting(is_whole=is_whole)
        self._rows += self._all(self._widths)
        self._waiting.clear()

    def _fitting(self, *, is_whole: bool) -> list[int]:
        rows = [self._header, *self._waiting]
        natural = [max(1, *(_natural(row[n]) for row in rows)) for n in range(len(self._header))]
        room = self._page.columns - _cells(self._rest)
        room -= cells(_GAP) * (len(natural) - 1)
        return fitting(natural if is_whole else with_slack(natural, room, self._aligns[-1]), room)

    def _read(self, cell: str, bits: int = 0) -> list[Span]:
        page = self._page
        page.parsed += len(cell)
        return inline(cell, page.palette, bits=page.bits | bits, limit=page.limit()).settled

    # -- rows ----------------------------------------------------------------------------------

    def _all(self, widths: Sequence[int]) -> list[Row]:
        """The header and what waits."""
        lines: list[Sequence[Span]] = []
        if widths:
            lines += self._laid(self._header, widths)
            under = list(widths)
            if self._aligns[-1] == "left":
                longest = max(_natural(row[-1]) for row in (self._header, *self._waiting))
                under[-1] = min(widths[-1], max(1, longest))
            lines.append([(_CROSSING.join("─" * width for width in under), self._page.dim)])
        for row in self._waiting:
            lines += self._laid(row, widths)
        return self._placed(lines)

    def _placed(self, lines: Iterable[Sequence[Span]]) -> list[Row]:
        """Lines behind their margins."""
        rows: list[Row] = []
        for line in lines:
            rows.append(Row((*(self._margin if line else self._rest), *joined(line))))
            self._margin = self._rest
        return rows

    def _laid(self, row: Cells, widths: Sequence[int]) -> list[Sequence[Span]]:
        """One row of cells, as the lines it takes; without columns a list, and an empty line."""
        if not widths:
            return [*self._listed(row), []]
        columns = [broken(cell, width) for cell, width in zip(row, widths, strict=True)]
        dim = self._page.dim
        last = len(columns) - 1
        lines: list[Sequence[Span]] = []
        for n in range(max(map(len, columns))):
            line: list[Span] = []
            column_of_gap, is_doubtful = 1 + _cells(self._rest), False
            for at, (column, width, align) in enumerate(zip(columns, widths, self._aligns, strict=True)):
                cell = column[n] if n < len(column) else []
                line += padded(cell, width, align, is_last=at == last)
                column_of_gap += width
                is_doubtful = is_doubtful or any(doubtful(text) for text, _ in cell)
                if at < last:
                    exact = self._page.moves and is_doubtful
                    line.append((_GAP, dim._replace(column=column_of_gap) if exact else dim))
                    column_of_gap += len(_GAP)
            lines.append(line)
        return lines

    def _listed(self, row: Cells) -> Iterator[Sequence[Span]]:
        """One row as `header: cell`, one under the other."""
        for name, cell in zip(self._names, row, strict=True):
            wrapper = Wrapper(max(1, self._page.columns - _cells(self._rest)))
            wrapper.add([*name, (" ", PLAIN), *cell])
            for line in wrapper.finish():
                yield line.spans


def _natural(cell: Sequence[Span]) -> int:
    text = "".join(text for text, _ in cell)
    return max(cells(line) for line in text.split("\n"))
