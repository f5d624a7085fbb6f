"""Code, line by line: nothing around it, nothing between its rows, so that it copies clean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .highlight import Highlighter
from .look import Row, Span
from .page import Page
from .width import cells

#: Characters of the longest line that is coloured.
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

    def end_line(self) -> None:
        """The line that is being written is whole."""
        line = "".join(self._line)
        self._rows.append(self._uncoloured(line) if self._is_begun else self._coloured(line))
        self._line.clear()
        self._is_begun = False

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and the one that still may."""
        line = "".join(self._line)
        still_open = [Row(((line, self._page.plain),))] if line else []
        self._line[:] = [line]
        if self._is_begun or self._is_long(line):
            self._rows += [row._replace(ends=False) for row in still_open]
            self._is_begun, still_open = True, []
            self._line.clear()
        rows, self._rows = self._rows, []
        return rows, still_open

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
        return self._uncoloured(line) if self._is_long(line) else Row(tuple(self._highlighter.line(line)))

    def _uncoloured(self, line: str) -> Row:
        self._highlighter.skip()
        return Row(((line, self._page.plain),))

    def _is_long(self, line: str) -> bool:
        """Whether a line is not coloured, and leaves the open block piece by piece."""
        return len(line) > _LONGEST or cells(line) > self._page.room


class Indented:
    """Code by indentation: shown as it is written, indentation included."""

    def __init__(self, page: Page, first: Sequence[Span], rest: Sequence[Span]) -> None:
        self._page = page
        space = ("    ", page.plain)
        #: What stands before the next letters; nothing where their row has begun.
        self._margin, self._indented = (*first, space), (*rest, space)
        self._rows: list[Row] = []
        self._line: list[str] = []

    def add(self, text: str) -> None:
        """More of the line that is being written."""
        self._line.append(text)

    def end_line(self) -> None:
        """The line that is being written is whole."""
        self._rows.append(self._row())
        self._margin = self._indented
        self._line.clear()

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and the one that still may."""
        line = "".join(self._line)
        self._line[:] = [line]
        still_open = [self._row()] if line else []
        if self._margin == () or cells(line) > self._page.room // 2:
            self._rows += [row._replace(ends=False) for row in still_open]
            self._margin, still_open = (), []
            self._line.clear()
        rows, self._rows = self._rows, []
        return rows, still_open

    def finish(self) -> list[Row]:
        """All rows that are left."""
        if any(self._line) or self._margin == ():
            self.end_line()
        return self.take()[0]

    def _row(self) -> Row:
        return Row((*self._margin, ("".join(self._line), self._page.plain)))
