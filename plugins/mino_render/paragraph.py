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
#: and if it is no longer than this.
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
        self.is_heading = is_heading
        self._wrapper = Wrapper(page.columns, first, rest)
        self._text: list[str] = []
        self._tail = ""
        self._before = ""
        self._line = 0
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
        return (first if self._lines == 1 else rest), rest

    @property
    def header(self) -> str | None:
        """The last line, where it may be the header of a table."""
        self._gather()
        line = self._tail[self._line :]
        is_header = self._holds() and "|" in line
        return line if is_header else None

    def without_header(self) -> list[Row]:
        """The rows that stand before the last line; the paragraph is over."""
        self._tail = self._tail[: self._line].rstrip("\n")
        return self.finish() if self._lines > 1 else []

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
            limit=page.limit,
            hold=self._line if self._holds() else None,
            final=False,
        )
        if read.end:
            self._wrapper.add(read.settled)
            self._before = self._tail[read.end - 1]
            self._tail = self._tail[read.end :]
            self._line = max(0, self._line - read.end)
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
        self._wrapper.add(
            inline(
                self._tail.rstrip(), page.palette, bits=self._bits, before=self._before, limit=page.limit
            ).settled
        )
        return self._wrapper.finish()

    def _gather(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._tail += text
            if len(self._head) <= self._page.columns:
                self._head += text

    def _holds(self) -> bool:
        """Whether the last line may turn out to be the header of a table."""
        if self.is_heading:
            return False
        length = len(self._tail) - self._line
        if length > _LONGEST_HEADER:
            return False
        return length < _FIRST_BAR or "|" in self._tail[self._line : self._line + _FIRST_BAR]
