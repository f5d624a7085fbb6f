"""An answer in Markdown as it grows: finished rows out of complete lines, and the rows still open.

Each line is looked at once, when it is whole, or as soon as nothing can change what it is; then its
text flows into the block that is open. A block lets go of the rows that can no longer change. So
the work, and what is still open, do not grow with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .containers import Item, Quote, bars, margins, number
from .fence import Fence, Indented
from .look import BOLD, ITALIC, UNDERLINED, Row, Span
from .page import Page
from .paragraph import Paragraph
from .starts import LONGEST, Start, continued, start
from .table import Table, is_delimiter
from .width import cells

_UNDERLINE = re.compile(r" {0,3}(?:=+|-+) *$")
#: How headings of the first, the second and the further levels look.
_HEADINGS = {1: BOLD | UNDERLINED, 2: BOLD, 3: BOLD | ITALIC}
#: Cells of a rule across the page.
_RULE = 40


class Document:
    """Feed it text, take its rows. `label` stands before its first row."""

    def __init__(self, page: Page, label: Sequence[Span] = ()) -> None:
        self.page = page
        self._label = list(label)
        self._text: list[str] = []
        self._line = ""
        self._flows = False
        self._containers: list[Quote | Item] = []
        self._leaf: Paragraph | Fence | Indented | Table | None = None
        self._blank: list[Span] | None = None
        self._is_begun = False
        self._rows: list[Row] = []

    def feed(self, text: str) -> None:
        """Append text."""
        self._text.append(text)

    def take(self) -> tuple[list[Row], list[Row]]:
        """The rows that will not change any more, and those that still may."""
        self._read()
        if self._leaf is None:
            still_open = list[Row]()
        else:
            done, still_open = self._leaf.take()
            self._rows += done
        if self._line.strip():
            still_open.append(Row(((self._newest(len(still_open)), self.page.plain),)))
        rows, self._rows = self._rows, []
        if not self._is_begun and still_open:
            still_open[0] = Row((*self._label, *still_open[0].spans))
        return rows, still_open

    def _newest(self, rows: int) -> str:
        """As much of the line being written as fits on the screen below so many rows: its end."""
        line, columns = self._line, self.page.columns
        room = max(columns, self.page.room - rows * columns)
        if cells(line) <= room:
            return line
        step = max(1, room // 4)  # so that it is not drawn anew for each letter
        return line[(len(line) // step - 1) * step :]

    def finish(self) -> list[Row]:
        """All rows that are left, the text being over."""
        self._read()
        if self._line:
            self._whole(self._line)
            self._line = ""
        elif self._flows:
            self._end_flow()
        self._close(0)
        rows, self._rows = self._rows, []
        return rows

    # -- lines ---------------------------------------------------------------------------------

    def _read(self) -> None:
        if not self._text:
            return
        first, *others = "".join(self._text).replace("\t", "    ").split("\n")
        self._text.clear()
        self._more(first)
        for line in others:
            if self._flows:
                self._end_flow()
            else:
                self._whole(self._line)
                self._line = ""
            self._more(line)
        if self._line and not self._flows:
            self._try_to_flow()

    def _more(self, text: str) -> None:
        if self._flows and isinstance(self._leaf, Paragraph | Fence | Indented):
            self._leaf.add(text)
        else:
            self._line += text

    def _end_flow(self) -> None:
        self._flows = False
        if isinstance(self._leaf, Paragraph):
            if self._leaf.is_heading:
                self._close_leaf()
        elif isinstance(self._leaf, Fence | Indented):
            self._leaf.end_line()

    def _try_to_flow(self) -> None:
        """Let the line that is being written flow into its block, once it is clear which that is."""
        line, leaf = self._line, self._leaf
        if isinstance(leaf, Fence):
            matched, rest = continued(line, self._containers)
            if matched < len(self._containers) or not leaf.begins(rest):
                return
        else:
            begun = self._start(line, is_whole=False)
            if begun is None or (isinstance(leaf, Table) and len(line) <= LONGEST):
                return
            self._apply(begun)
        self._flows, self._line = True, ""

    def _start(self, line: str, *, is_whole: bool) -> Start | None:
        in_paragraph = isinstance(self._leaf, Paragraph)
        return start(line, self._containers, in_paragraph=in_paragraph, is_whole=is_whole)

    def _whole(self, line: str) -> None:
        """Take a line that came whole, or that could not be told before it was."""
        matched, rest = continued(line, self._containers)
        if matched == len(self._containers) and self._goes_on(rest, is_short=len(line) <= LONGEST):
            return
        begun = self._start(line, is_whole=True)
        assert begun is not None
        self._apply(begun)
        if begun.kind in ("text", "heading", "code"):
            self._end_flow()

    def _goes_on(self, line: str, *, is_short: bool) -> bool:
        """Whether the open block has a use of its own for this line."""
        match self._leaf:
            case Fence() as fence:
                if fence.add_line(line):
                    self._close_leaf()
                return True
            case Table() as table if "|" in line and is_short and self._is_text(line):
                table.add_line(line)
                return True
            case Paragraph() as paragraph if not paragraph.is_heading:
                return self._underlines(paragraph, line)
        return False

    def _is_text(self, line: str) -> bool:
        begun = start(line, (), in_paragraph=False, is_whole=True)
        return begun is not None and begun.kind == "text" and not begun.opened

    def _underlines(self, paragraph: Paragraph, line: str) -> bool:
        """Whether `line` makes a heading or a table of what stands above it."""
        if _UNDERLINE.match(line) and paragraph.is_one_row:
            paragraph.heading(_HEADINGS[1 if "=" in line else 2])
            self._close_leaf()
            return True
        header = paragraph.header
        if header is None or not is_delimiter(line, header):
            return False
        first, rest = paragraph.margins
        if first is self._label:  # it gets a row of its own
            self._rows.append(Row(tuple(first)))
            first = rest
        self._rows += paragraph.without_header()
        self._leaf = Table(self.page, header, line, first, rest)
        return True

    # -- blocks --------------------------------------------------------------------------------

    def _apply(self, begun: Start) -> None:
        """Close what does not go on, open what begins."""
        goes_on = begun.matched == len(self._containers) and not begun.opened
        if begun.kind == "text" and not begun.opened and isinstance(self._leaf, Paragraph):
            self._leaf.add_line(begun.rest)
            return
        if begun.kind == "code" and goes_on and isinstance(self._leaf, Indented):
            self._leaf.add(begun.rest)
            return
        if begun.kind == "blank" and not begun.opened:
            self._close(begun.matched)
            self._blank = bars(self._containers, self.page)
            return
        if begun.opened and begun.matched < len(self._containers):
            number(begun.opened[0], self._containers[begun.matched])
        self._close(begun.matched)
        self._containers += begun.opened
        self._open(begun)

    def _open(self, begun: Start) -> None:
        page = self.page
        match begun.kind:
            case "text":
                self._leaf = Paragraph(page, *self._margins(is_words=True))
                self._leaf.add(begun.rest)
            case "heading":
                bits = _HEADINGS[min(begun.level, 3)]
                self._leaf = Paragraph(page, *self._margins(), bits=bits, is_heading=True)
                self._leaf.add(begun.rest)
            case "code":
                self._leaf = Indented(page, *self._margins())
                self._leaf.add(begun.rest)
            case "fence":
                self._alone()
                self._leaf = Fence(page, begun.fence, begun.rest, begun.indent)
            case "rule":
                first, _ = self._margins()
                room = page.columns - sum(cells(text) for text, _ in first)
                rule = ("─" * max(1, min(room, _RULE)), page.dim)
                self._rows.append(Row((*first, rule)))
            case "blank":  # an item without text
                pass

    def _margins(self, *, is_words: bool = False) -> tuple[list[Span], list[Span]]:
        """What stands before the rows of a new block; the blank row and the label come first."""
        first, rest = margins(self._containers, self.page)
        if not self._is_begun and self._label:
            if is_words and not self._containers:
                first = self._label
            else:
                self._rows.append(Row(tuple(self._label)))
        elif self._is_begun and self._blank is not None:
            self._rows.append(Row(tuple(self._blank)))
        self._is_begun, self._blank = True, None
        return first, rest

    def _alone(self) -> None:
        """Begin a block that has no margins: markers that wait get a row of their own."""
        is_marked = all(isinstance(item, Quote) or item.is_marked for item in self._containers)
        first, _ = self._margins()
        if not is_marked:
            self._rows.append(Row(tuple(first)))

    def _close(self, matched: int) -> None:
        self._close_leaf()
        if not all(isinstance(item, Quote) or item.is_marked for item in self._containers[matched:]):
            self._rows.append(Row(tuple(self._margins()[0])))
        del self._containers[matched:]

    def _close_leaf(self) -> None:
        if self._leaf is not None:
            self._rows += self._leaf.finish()
            self._leaf = None
