"""The words of a turn on their way from the document they make to the rows on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .document import Document
from .look import DIM, LABEL, PLAIN, Look, Row
from .page import Page
from .painter import Painter
from .width import beginning

if TYPE_CHECKING:
    from mino_core import Screen


class Answer:
    """Paints one document after the other. Where nothing is open the cursor is in column 0."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._painter = Painter(screen)
        self._document: Document | None = None
        self._open: list[Row] = []
        self._is_waiting = False

    @property
    def is_open(self) -> bool:
        """Whether rows are on the screen, or may come, that belong to a document."""
        return self._document is not None or self._is_waiting

    def begin(self, label: str, *, dim: bool = False) -> None:
        """Start a new document."""
        self.finish()
        page = Page.of(self._screen, DIM if dim else 0)
        self._document = Document(page, [(label, page.palette.look(LABEL))] if label else [])

    def feed(self, text: str) -> None:
        """Append text to the document that was begun."""
        if self._document is not None:
            self._document.feed(text)

    def paint(self, below: Sequence[str] = (), above: str | None = None, look: Look = PLAIN) -> None:
        """Bring the screen up to date; `below` stands under the open rows for now, `above` over them."""
        done: list[Row] = []
        if self._document is not None:
            self._document.page.resize(self._screen)
            done, self._open = self._document.take()
        if above is not None:
            goes_on = not done[-1].ends if done else self._painter.begins_mid_row
            done += [Row(())] if goes_on else []
            done += [Row(((line, look),)) for line in above.split("\n")]
        if not self._open and (not done[-1].ends if done else self._painter.begins_mid_row):
            below = ()  # a row that goes on has no place below it
        room = self._screen.columns - 1
        waiting = [Row(((beginning(line.replace("\t", "    "), room), Look("2")),)) for line in below]
        self._is_waiting = bool(waiting)
        self._screen.passing = ""
        self._painter.paint(done, [*self._open, *waiting])
        if waiting:  # said before it is there to be seen: from then on a Ctrl-Z may come
            up = f"\x1b[{len(waiting) - 1}A" if waiting[1:] else ""
            self._screen.passing = f"{up}\r\x1b[J"
        self._screen.flush()

    def finish(self) -> None:
        """The document is over: paint all of it, and go to a row of its own."""
        if not self.is_open:
            return
        rows: list[Row] = []
        if self._document is not None:
            self._document.page.resize(self._screen)
            rows = self._document.finish()
        self._document, self._open, self._is_waiting = None, [], False
        self._screen.passing = ""
        self._painter.paint(rows)
        if self._painter.is_mid_row:
            self._painter.paint([Row(())])
        self._screen.flush()
