"""Code, line by line: nothing around it, nothing between its rows, so that it copies clean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .highlight import Highlighter
from .look import Row, Span
from .page import Page
from .width import cells

#: Longer lines are not coloured, and leave the open block piece by piece.
_LONGEST = 1000


class Fence:
    """Fenced code. A corner above and one below it tell where it begins and ends."""

    def __init__(self, page: Page, fence: str, info: str, indent: int = 0) -> None:
        self._page = page
        self._closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}} *$")
        self._may_close = re.compile(rf" {{0,3}}{re.escape(fence[0])}* *$")
        self._indent = re.compile(rf" {{0,{indent}}}")
        self._dim = page.dim
        language = re.split(r"[\s{,:]", info.lstrip("{."), maxsplit=1)[0]
        self._highlighter = Highlighter("" if page.bits else language, page.palette, page.plain)
        top = f"╭─ {info}".rstrip()
        self._rows = [Row(((top, self._dim),))]
        self._line: list[str] = []
        self._size = 0
        self._is_begun = False

    def add_line(self, line: str) -> bool:
        """A whole line; True where it is the closing one."""
        if self._closing.match(line):
            return True
        self._rows.append(self._coloured(self._cut(line)))
        return False

    def begins(self, partial: str) -> bool:
        """Whether a line that begins like this is code for sure; then `add` takes it from here."""
        if self._may_close.match(partial):
            return False
        self.add(self._cut(partial))
        return True

    def add(self, text: str) -> None:
        """More of the line that is being written."""
        self._line.append(text)
        self._size += len(text)

    def end_line(self) -> None:
        """The line that is being written is whole."""
        line = "".join(self._line)
        row = Row(((line, self._page.plain),)) if self._is_begun else self._coloured(line)
        self._rows.append(row)
        self._line.clear()
        self._size, self._is_begun = 0, False

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and the one that still may."""
        if self._size > _LONGEST:
            self._rows.append(Row((("".join(self._line), self._page.plain),), ends=False))
            self._line.clear()
            self._size, self._is_begun = _LONGEST + 1, True
        rows, self._rows = self._rows, []
        if self._is_begun:
            return rows, []
        line = "".join(self._line)
        self._line[:] = [line]
        return rows, [Row(((line, self._page.plain),))] if line else []

    def finish(self) -> list[Row]:
        """All rows that are left."""
        if any(self._line) or self._is_begun:
            self.end_line()
        rows, self._rows = self._rows, []
        return [*rows, Row((("╰─", self._dim),))]

    def _cut(self, line: str) -> str:
        found = self._indent.match(line)
        return line[found.end() :] if found else line

    def _coloured(self, line: str) -> Row:
        self._page.parsed += len(line)
        if len(line) > _LONGEST or cells(line) > self._page.columns * max(self._page.rows - 2, 1):
            self._highlighter.skip()
            return Row(((line, self._page.plain),))
        return Row(tuple(self._highlighter.line(line)))


class Indented:
    """Code by indentation: shown as it is written, indentation included."""

    def __init__(self, page: Page, first: Sequence[Span], rest: Sequence[Span]) -> None:
        self._page = page
        self._margin, self._rest = tuple(first), tuple(rest)
        self._rows: list[Row] = []
        self._line: list[str] = []

    def add(self, text: str) -> None:
        """More of the line that is being written."""
        self._line.append(text)

    def end_line(self) -> None:
        """The line that is being written is whole."""
        self._rows.append(self._row())
        self._margin = self._rest
        self._line.clear()

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and the one that still may."""
        rows, self._rows = self._rows, []
        self._line[:] = ["".join(self._line)]
        return rows, [self._row()] if self._line[0] else []

    def finish(self) -> list[Row]:
        """All rows that are left."""
        if any(self._line):
            self.end_line()
        return self.take()[0]

    def _row(self) -> Row:
        return Row((*self._margin, ("    " + "".join(self._line), self._page.plain)))
