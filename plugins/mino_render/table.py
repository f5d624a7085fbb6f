"""A table, row by row: the widths are fixed from its header and first rows, then each row is final.

Until then its source is shown as it comes. Cells too long for their column are wrapped in it, and
where the window is too narrow for columns each row becomes a list of `header: cell`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .columns import Align, broken, fitting, padded, with_slack
from .inline import inline
from .look import BOLD, PLAIN, Row, Span
from .page import Page
from .width import cells, doubtful
from .wrap import BLANK, Wrapper, joined

_DELIMITERS = re.compile(r" {0,3}\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$")
_BAR = re.compile(r"(?<!\\)\|")
#: Rows that are seen before the widths are fixed.
_FIRST_ROWS = 10
_GAP, _CROSSING = " │ ", "─┼─"


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
        self._header = _split(header)
        self._aligns = [_align(cell) for cell in _split(delimiters)]
        self._source = [header.strip(), delimiters.strip()]
        self._waiting: list[list[str]] = []
        self._widths: list[int] | None = None
        self._rows: list[Row] = []

    def add_line(self, line: str) -> None:
        """A further row."""
        row = _split(line)
        size = len(self._header)
        if len(row) > size:  # what has no column of its own
            row = [*row[: size - 1], " | ".join(row[size - 1 :])]
        row += [""] * (size - len(row))
        if self._widths is not None:
            self._lay(row)
            return
        self._waiting.append(row)
        self._source.append(line.strip())
        columns = self._page.columns
        height = sum(cells(source) // columns + 1 for source in self._source)
        if len(self._waiting) >= _FIRST_ROWS or height > self._page.rows - 4:
            self._fix(is_whole=False)

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and the source of those that still may."""
        rows, self._rows = self._rows, []
        if self._widths is not None:
            return rows, []
        return rows, [Row((*self._rest, (line, self._page.plain))) for line in self._source]

    def finish(self) -> list[Row]:
        """All rows that are left."""
        if self._widths is None:
            self._fix(is_whole=True)
        return self.take()[0]

    def _fix(self, *, is_whole: bool) -> None:
        """Choose the widths, and lay out what has waited for them."""
        rows = [self._header, *self._waiting]
        natural = [max(1, *(self._natural(row[n]) for row in rows)) for n in range(len(self._header))]
        room = self._page.columns - _cells(self._rest)
        room -= cells(_GAP) * (len(natural) - 1)
        self._widths = fitting(natural if is_whole else with_slack(natural, room), room)
        if self._widths:
            self._lay(self._header, BOLD)
            widths = [*self._widths[:-1], min(self._widths[-1], natural[-1])]
            rule = _CROSSING.join("─" * width for width in widths)
            self._add([(rule, self._page.dim)])
        for row in self._waiting:
            self._lay(row)
        self._waiting.clear()

    def _natural(self, cell: str) -> int:
        text = "".join(text for text, _ in self._read(cell))
        return max(cells(line) for line in text.split("\n"))

    def _read(self, cell: str, bits: int = 0) -> list[Span]:
        page = self._page
        page.parsed += len(cell)
        return inline(cell, page.palette, bits=page.bits | bits, limit=page.limit).settled

    # -- rows ----------------------------------------------------------------------------------

    def _lay(self, row: Sequence[str], bits: int = 0) -> None:
        """One row of cells, as the rows it takes."""
        if not self._widths:
            self._list(row)
            return
        columns = [
            broken(self._read(cell, bits), width) for cell, width in zip(row, self._widths, strict=True)
        ]
        dim = self._page.dim
        last = len(columns) - 1
        for n in range(max(map(len, columns))):
            line: list[Span] = []
            column_of_gap, is_doubtful = 1 + _cells(self._rest), False
            for at, (column, width, align) in enumerate(
                zip(columns, self._widths, self._aligns, strict=True)
            ):
                cell = column[n] if n < len(column) else []
                line += padded(cell, width, align, is_last=at == last)
                column_of_gap += width
                is_doubtful = is_doubtful or any(doubtful(text) for text, _ in cell)
                if at < last:
                    exact = self._page.moves and is_doubtful
                    line.append((_GAP, dim._replace(column=column_of_gap) if exact else dim))
                    column_of_gap += len(_GAP)
            self._add(line)

    def _list(self, row: Sequence[str]) -> None:
        """One row as `header: cell`, one under the other."""
        for name, cell in zip(self._header, row, strict=True):
            wrapper = Wrapper(self._page.columns, self._margin, self._rest)
            self._margin = self._rest
            wrapper.add([*self._read(f"{name}:", BOLD), (" ", PLAIN), *self._read(cell)])
            self._rows += wrapper.finish()
        self._rows.append(Row(self._rest) if self._rest else BLANK)

    def _add(self, line: Sequence[Span]) -> None:
        self._rows.append(Row((*self._margin, *joined(line))))
        self._margin = self._rest
