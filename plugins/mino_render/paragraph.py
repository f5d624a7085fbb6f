"""A paragraph or a heading, row by row: what cannot change any more is let go."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .inline import inline
from .look import Row, Span, overlay
from .page import Page
from .width import cells
from .wrap import Wrapper

#: A line may be a table's header if its first bar stands within so many characters,
_FIRST_BAR = 40
#: and if it is no longer than this, and than half a screen.
_LONGEST_HEADER = 1000
_CLOSING_HASHES = re.compile(r"(?:^|(?<=\s))#+\s*$")


class Paragraph:
    """Takes text, gives rows. `first` and `rest` are the margins of its rows."""

    def __init__(
        self,
        page: Page,
        first: Sequence[Span],
        rest: Sequence[Span],
        *,
        bits: int = 0,
        is_heading: bool = False,
    ) -> None:
        self._page = page
        self._margins = first, rest
        self._bits = page.bits | bits
        self._limit = page.limit(sum(cells(text) for text, _ in rest))
        self.is_heading = is_heading
        self._wrapper = Wrapper(page.columns, first, rest)
        #: Whether the first margin is too wide for words beside it.
        self._is_parted = 2 * sum(cells(text) for text, _ in first) > page.columns
        self._text: list[str] = []
        self._tail = ""
        self._before = ""
        #: Where, in the tail, the last line begins; None where its beginning is settled.
        self._line: int | None = 0
        self._lines = 1
        self._head = ""

    def add(self, text: str) -> None:
        """More of the line that is being written."""
        self._text.append(text)

    def add_line(self, text: str) -> None:
        """The beginning of a further line."""
        self._gather()
        self._tail += "\n"
        self._line = len(self._tail)
        self._lines += 1
        self._text.append(text)

    @property
    def is_one_row(self) -> bool:
        """Whether all of it is one line that fits into one row."""
        self._gather()
        taken = sum(cells(text) for text, _ in self._margins[0])
        room = self._page.columns - (taken if 2 * taken <= self._page.columns else 0)
        return self._lines == 1 and cells(self._head) <= room and "<" not in self._head

    @property
    def margins(self) -> tuple[Sequence[Span], Sequence[Span]]:
        """The margins of the block that takes the place of the last line."""
        first, rest = self._margins
        return (first if self._lines == 1 and not self._is_parted else rest), rest

    @property
    def header(self) -> str | None:
        """The last line, where it may be the header of a table."""
        self._gather()
        line = self._tail[self._line or 0 :]
        return line if self._holds() is not None and "|" in line else None

    def without_header(self) -> list[Row]:
        """The rows that stand before the last line; the paragraph is over."""
        self._tail = self._tail[: self._line].rstrip("\n")
        return self.finish() if self._lines > 1 else self._wrapper.take()

    def heading(self, bits: int) -> None:
        """Make all of it a heading after the fact."""
        self._bits |= bits
        self._wrapper.restyle(lambda spans: overlay(spans, bits, self._page.palette))

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and those that still may."""
        self._gather()
        page = self._page
        self._wrapper = self._wrapper.resized(page.columns)
        page.parsed += len(self._tail)
        read = inline(
            self._tail,
            page.palette,
            bits=self._bits,
            before=self._before,
            limit=self._limit,
            lines=page.lines,
            hold=self._holds(),
            final=False,
        )
        if read.end:
            self._wrapper.add(read.settled)
            self._before = self._tail[read.end - 1]
            self._tail = self._tail[read.end :]
            if self._line is not None:
                self._line = self._line - read.end if self._line >= read.end else None
        done = self._wrapper.take()
        trial = self._wrapper.copy()
        trial.add(read.open)
        return done, trial.finish()

    def finish(self) -> list[Row]:
        """All rows that are left."""
        self._gather()
        page = self._page
        self._wrapper = self._wrapper.resized(page.columns)
        if self.is_heading:
            self._tail = _CLOSING_HASHES.sub("", self._tail)
        page.parsed += len(self._tail)
        read = inline(
            self._tail.rstrip(),
            page.palette,
            bits=self._bits,
            before=self._before,
            limit=self._limit,
            lines=page.lines,
        )
        self._wrapper.add(read.settled)
        return self._wrapper.finish()

    def _gather(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._tail += text
            if len(self._head) <= self._page.columns:
                self._head += text

    def _holds(self) -> int | None:
        """Where the last line begins, if it may turn out to be the header of a table."""
        if self.is_heading or self._line is None:
            return None
        line = self._tail[self._line :]
        may_be = len(line) < _FIRST_BAR or "|" in line[:_FIRST_BAR]
        most = min(_LONGEST_HEADER, self._page.room // 2)
        return self._line if may_be and cells(line) <= most else None
