"""A screen in memory, drawn by the emulator, and answers to draw on it."""

from __future__ import annotations

import random
import re

from mino_core import Idle, RoundStarted, Settings, TextDelta, TurnEnded, TurnStarted
from mino_core.testing.paper import Paper

from mino_render.rich_terminal import Rich


class Sheet:
    """What a renderer needs of a Screen; `written` is all that was written, piece by piece."""

    def __init__(self, columns=80, rows=24, *, colour=True, hyperlinks=False):
        self.columns, self.rows = columns, rows
        self.is_terminal = self.can_move = True
        self.colour, self.hyperlinks = colour, hyperlinks
        self.visits, self.wraps_anew, self.passing = 0, False, ""
        self.written = []
        self._held = []
        self._paper = Paper(columns, rows, lambda data: None)

    def write(self, text):
        self._held.append(text)

    def flush(self):
        if self._held:
            text = "".join(self._held)
            self._held.clear()
            self.written.append(text)
            self._paper.feed(text.replace("\n", "\r\n").encode())

    def aside(self, text):
        self.write(text)
        self.flush()

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self._paper.resize(columns, rows)

    def wrap_anew(self, columns):
        """Another width, in a terminal that wraps its rows anew; all was written straight on so far."""
        assert "A" not in re.findall(r"\x1b\[[?0-9;]*([A-Za-z])", self.raw)
        self.columns = columns
        self._paper = Paper(columns, self.rows, lambda data: None)
        self._paper.feed(self.raw.replace("\n", "\r\n").encode())

    @property
    def raw(self):
        return "".join(self.written)

    @property
    def lines(self):
        return self._paper.lines

    @property
    def cursor(self):
        return self._paper.cursor

    @property
    def text(self):
        """Scrollback and visible rows, without blank rows at the end."""
        return "\n".join([*self._paper.scrollback, *self._paper.lines]).rstrip("\n")

    @property
    def styled(self):
        """The same with the look of every letter."""
        return [
            [
                (x, cell.data, cell.fg, cell.bold, cell.italics, cell.underscore, cell.strikethrough)
                for x, cell in sorted(line.items())
                if cell.data.strip()
            ]
            for line in self._paper.cells(True)
        ]


def rich(sheet, **settings):
    return Rich(Settings({"usage": False, **settings}), sheet)


def draw(sheet, pieces, idle_every=1):
    """One turn that says `pieces`, with an Idle after each so many; returns the renderer."""
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    renderer.show(RoundStarted(1))
    for n, piece in enumerate(pieces, 1):
        renderer.show(TextDelta(piece))
        if idle_every and n % idle_every == 0:
            renderer.show(Idle())
    renderer.show(TurnEnded(1, "completed"))
    return renderer


def cut(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def cut_at_random(text, seed):
    dice = random.Random(seed)
    pieces, at = [], 0
    while at < len(text):
        size = dice.choice((1, 2, 3, 5, 8, 40, 200))
        pieces.append(text[at : at + size])
        at += size
    return pieces
