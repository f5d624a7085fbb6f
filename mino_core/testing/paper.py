"""What a terminal shows, kept whole: pyte's screen, with a scrollback and fewer surprises.

pyte drops the rest of a text at a joiner or a variation selector, draws a wide letter into half a
cell at the right edge, forgets what scrolls away when the window shrinks, clears the screen with the
scrollback, prints some escape sequences that it does not know, and does not know of faint letters: they
have the colour `faint`. All that is made good here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

try:
    import pyte
    from pyte.modes import DECAWM, IRM
    from wcwidth import wcwidth
except ImportError as missing:
    raise ImportError("mino_core.testing.Terminal needs pyte: pip install 'mino-shell[test]'") from missing

from .keys import FRESH_MODES

if TYPE_CHECKING:
    from pyte.screens import Char, StaticDefaultDict

Line: TypeAlias = "StaticDefaultDict[int, Char]"

_OPEN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?)?\Z")
_UNKNOWN_TO_PYTE = re.compile(
    rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]"  # keyboard protocols, secondary device attributes
    rb"|\x1b\[\?[0-9;]*\$?[mnpu]"  # private reports
    rb"|\x1b\[[0-9;]*:[0-9;:]*m"  # colours with colons
    rb"|\x1b\[[0-9;]*[tu]"  # window operations
    rb"|\x1b[PX^_][^\x1b\x07]*(?:\x1b\\|\x07)"  # device control and other strings
)
_PRIVATE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


def _is_faint(attrs: Sequence[int]) -> bool:
    """Whether a 2 is among these that is no part of a colour."""
    rest = list(attrs)
    while rest:
        match rest.pop(0):
            case 2:
                return True
            case 38 | 48 if rest:
                del rest[: {2: 4, 5: 2}.get(rest[0], 1)]
    return False


class _Screen(pyte.Screen):
    """A screen that hands over what scrolls off its top."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], object]) -> None:
        self.above: list[Line] = []
        self._answer = answer
        super().__init__(columns, rows)

    def write_process_input(self, data: str) -> None:
        self._answer(data.encode())

    def select_graphic_rendition(self, *attrs: int, **kwargs: Any) -> None:
        super().select_graphic_rendition(*attrs, **kwargs)
        ink = self.cursor.attrs.fg
        if ink == "default" and _is_faint(attrs):
            self.cursor.attrs = self.cursor.attrs._replace(fg="faint")
        elif ink == "faint" and 22 in attrs:
            self.cursor.attrs = self.cursor.attrs._replace(fg="default")

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.above.append(self.buffer[0])
        super().index()

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        if how == 3:
            self.above.clear()
        else:
            super().erase_in_display(how, *args, **kwargs)

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        rows = [self.buffer[y] for y in range(self.lines)]
        height = lines or self.lines
        gone = max(0, self.cursor.y + 1 - height)
        if height < self.lines:
            self.above += rows[:gone]
            self.buffer.clear()
            self.buffer.update(enumerate(rows[gone : gone + height]))
            self.cursor.y -= gone
            self.lines = height
        super().resize(height, columns)
        self.set_margins()
        self.cursor.x = min(self.cursor.x, self.columns)
        self.dirty.update(range(self.lines))

    def draw(self, data: str) -> None:
        for char in data:
            width = wcwidth(char)
            if width > 0:
                self._put(char, width)
            elif width == 0:
                self._attach(char)
        self.dirty.add(self.cursor.y)

    def _put(self, char: str, width: int) -> None:
        if self.cursor.x + width > self.columns:
            if DECAWM in self.mode:
                self.carriage_return()
                self.linefeed()
            else:
                self.cursor.x = max(0, self.columns - width)
        if IRM in self.mode:
            self.insert_characters(width)
        line, x = self.buffer[self.cursor.y], self.cursor.x
        line[x] = self.cursor.attrs._replace(data=char)
        if width == 2 and x + 1 < self.columns:
            line[x + 1] = self.cursor.attrs._replace(data="")
        self.cursor.x = min(x + width, self.columns)

    def _attach(self, mark: str) -> None:
        """Add a mark without a width to the letter before it."""
        line, x = self.buffer[self.cursor.y], self.cursor.x - 1
        while x > 0 and line[x].data == "":
            x -= 1
        if x >= 0:
            line[x] = line[x]._replace(data=unicodedata.normalize("NFC", line[x].data + mark))


class Paper:
    """Everything that a program drew. `answer` gets what a real terminal would report back."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], object]) -> None:
        self._screen = _Screen(columns, rows, answer)
        self._stream = pyte.ByteStream(self._screen)
        self._rest = b""
        self._above: list[str] = []
        self.modes = FRESH_MODES

    def feed(self, data: bytes) -> None:
        """Draw the next bytes; an escape sequence that is not whole waits for its rest."""
        data = self._rest + data
        unfinished = _OPEN.search(data)
        end = unfinished.start() if unfinished else len(data)
        data, self._rest = data[:end], data[end:]
        for numbers, switch in _PRIVATE.findall(data):
            changed = {int(number) for number in numbers.split(b";") if number}
            self.modes = self.modes | changed if switch == b"h" else self.modes - changed
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; what no longer fits moves into the scrollback."""
        self._screen.resize(rows, columns)

    @property
    def columns(self) -> int:
        """The width in cells."""
        return int(self._screen.columns)

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, from 0."""
        return self._screen.cursor.y, self._screen.cursor.x

    @property
    def pen_is_plain(self) -> bool:
        """Whether what is drawn next has no colour and no weight."""
        return bool(self._screen.cursor.attrs == self._screen.default_char)

    @property
    def scrollback(self) -> list[str]:
        """The rows above the visible ones, oldest first, without trailing blanks."""
        above = self._screen.above
        if len(above) < len(self._above):
            self._above.clear()
        self._above += map(words, above[len(self._above) :])
        return list(self._above)

    @property
    def lines(self) -> list[str]:
        """The visible rows, without trailing blanks."""
        return [words(self._screen.buffer[y]) for y in range(self._screen.lines)]

    def cells(self, scrollback: bool) -> list[Line]:
        """The visible rows, or all, as cells with colours; none that are blank at the end."""
        rows = [self._screen.buffer[y] for y in range(self._screen.lines)]
        rows = [*self._screen.above, *rows] if scrollback else rows
        while rows and not words(rows[-1]):
            rows.pop()
        return rows


def words(line: Line) -> str:
    """The letters of one row."""
    return "".join(line[x].data for x in range(max(line, default=-1) + 1)).rstrip()
