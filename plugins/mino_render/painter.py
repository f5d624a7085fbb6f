"""The rows of an answer on a terminal: finished ones are written once, the open ones may change.

What is on the screen is compared with what should be there, and writing starts at the first letter
that differs. Nothing above the open rows is ever touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from .columns import chopped
from .look import Row, Span
from .width import cells, doubtful, narrowest, place
from .wrap import joined

if TYPE_CHECKING:
    from mino_core import Screen

_SYNC, _END_SYNC = "\x1b[?2026h", "\x1b[?2026l"
#: Marks of one letter; beyond them no terminal shows any.
_MARKS = 64
#: What stands between two line breaks.
Line: TypeAlias = list[Span]


class Painter:
    """Paints on a screen that can move its cursor. Elsewhere it writes finished rows only."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        #: The open lines as they were painted. The cursor stands at the end of the last one.
        self._shown: list[Line] = [[]]
        #: The column in which the first of them begins: not 0 where a finished row goes on.
        self._start = 0
        self._columns = screen.columns
        self._visits = screen.visits

    @property
    def is_mid_row(self) -> bool:
        """Whether the cursor stands in a row that has something in it."""
        return bool(self._start or self._shown != [[]])

    @property
    def begins_mid_row(self) -> bool:
        """Whether the open rows go on where a finished one has no end yet."""
        return bool(self._start)

    def paint(self, done: Sequence[Row], still_open: Sequence[Row] = ()) -> None:
        """Write finished rows, and the open ones in place of those painted before."""
        if not self._screen.can_move:
            self._screen.write("".join(_letters(row.spans) + "\n" * row.ends for row in done))
            return
        if self._visits != self._screen.visits:  # what was open belongs to another program's rows now
            self._visits = self._screen.visits
            self._shown, self._start = [[]], 0
            self._screen.write("\r\x1b[J")
        columns = self._screen.columns
        if columns != self._columns and self._start and self._shown != [[]]:
            self._shown, self._start = [[]], 0  # nobody knows where the finished part of this row ends now
            self._screen.write("\n")
        lines: list[Line] = [[]]
        finished, begun = 0, 0
        for row in done:
            lines[-1] += row.spans
            if row.ends:
                lines.append([])
            finished, begun = len(lines) - 1, 0 if row.ends else len(lines[-1])
        for n, row in enumerate(still_open):
            if n:
                lines.append([])
            goes_on = bool(lines[-1] or (self._start and not finished and not n))
            first, *others = [row.spans] if goes_on else _certain(row.spans, columns)
            lines[-1] += first
            lines += map(list, others)
        self._update([joined(line) for line in lines], columns)
        start = 0 if finished else self._start
        _, self._start = _place(lines[finished][:begun], start, columns) if begun else (0, start)
        lines[finished] = lines[finished][begun:]
        self._shown = [joined(line) for line in lines[finished:]]
        self._columns = columns

    def _update(self, new: list[Line], columns: int) -> None:
        old = self._shown
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        unsure = self._unsure(columns)
        same = min(same, unsure)
        if same == len(new) == len(old):
            return
        if same == len(old):  # only lines to add
            self._screen.write("\n" + "\n".join(map(_letters, new[same:])))
            return
        if same == len(new):  # only lines to take away
            same -= 1
        kept = _common(old[same], new[same])
        if kept == old[same] and same == len(old) - 1 and same < unsure:  # only letters to add
            self._screen.write(_rest(new, same, kept))
            return
        if columns != self._columns or any(doubtful(text) for text, _ in kept):
            kept = []
        up, column, same, kept = self._way(same, kept, new, columns)
        move = (f"\x1b[{up}A" if up else "") + (f"\x1b[{column + 1}G" if column else "\r") + "\x1b[J"
        text = move + _rest(new, same, kept)
        self._screen.write(f"{_SYNC}{text}{_END_SYNC}" if up else text)

    def _unsure(self, columns: int) -> int:
        """The first open line that stands otherwise in a window of this width, or their number."""
        if columns == self._columns:
            return len(self._shown)
        starts = [self._start] + [0] * (len(self._shown) - 1)
        for n, (line, at) in enumerate(zip(self._shown, starts, strict=True)):
            if _place(line, at, columns) != _place(line, at, self._columns):
                return n
        return len(self._shown)

    def _way(self, same: int, kept: Line, new: list[Line], columns: int) -> tuple[int, int, int, Line]:
        """How far up, and to which column, writing starts: after `kept` of line `same`, or later.

        A window may have changed its width, and the terminal may have wrapped anew what stood in
        it, or not. Where that is not known, of the heights a line may have the smallest one is sure
        not to be finished.
        """
        old = self._shown
        starts = [self._start] + [0] * (len(old) - 1)
        widths = (columns,) if self._screen.wraps_anew else (columns, self._columns)
        downs = [
            min(place(narrowest(text), at, width)[0] for width in widths)
            for text, at in zip(map(_text, old), starts, strict=True)
        ]
        reach = self._screen.rows - 1
        while True:
            start = min(starts[same], columns)
            down, column = _place(kept, start, columns)
            while column >= columns and kept:  # beyond the last column there is no place to go to
                kept = _shorter(kept)
                down, column = _place(kept, start, columns)
            if column >= columns:
                down, column = down + 1, 0
            up = sum(downs[same:]) + len(old) - 1 - same - down
            if up <= reach:
                return max(up, 0), column, same, kept
            is_last = same == min(len(old), len(new)) - 1
            if is_last or _text(old[same]) != _text(new[same]):  # rather than lose words, show some again
                return reach, 0, same, []
            same, kept = same + 1, []


def _rest(new: Sequence[Line], same: int, kept: Line) -> str:
    """What follows `kept` of line `same`."""
    first = list(new[same])
    size = sum(len(text) for text, _ in kept)
    while first and size >= len(first[0][0]):
        size -= len(first.pop(0)[0])
    if size:
        first[0] = (first[0][0][size:], first[0][1])
    return "\n".join(map(_letters, [first, *new[same + 1 :]]))


def _shorter(line: Line) -> Line:
    """The line without its last letter."""
    *before, (text, look) = line
    return [*before, (text[:-1], look)] if len(text) > 1 else before


def _common(old: Line, new: Line) -> Line:
    """The letters with which both lines begin."""
    kept: Line = []
    for (text, look), (other, look_of_other) in zip(old, new, strict=False):
        if look != look_of_other:
            break
        if text == other:
            kept.append((text, look))
            continue
        size = _alike(text, other)
        for start in range(size, max(size - _MARKS, -1), -1):  # a mark stays with its letter
            if not start or all(cells(rest[start : start + 1] or " ") for rest in (text, other)):
                size = start
                break
        if size:
            kept.append((text[:size], look))
        break
    return kept


def _alike(text: str, other: str) -> int:
    """With how many letters both begin."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _certain(spans: Sequence[Span], columns: int) -> Sequence[Sequence[Span]]:
    """Open letters in lines whose height is certain, though terminals disagree about their width."""
    text = _text(spans)
    return chopped(spans, columns) if doubtful(text) and cells(text) > columns else [spans]


def _text(line: Iterable[Span]) -> str:
    return "".join(text for text, _ in line)


def _place(line: Iterable[Span], column: int, columns: int) -> tuple[int, int]:
    return place(_text(line), column, columns)


def _letters(spans: Iterable[Span]) -> str:
    """Spans as a terminal takes them; the pen is plain before and after each."""
    parts: list[str] = []
    for text, look in spans:
        if look.column:
            parts.append(f"\x1b[{look.column}G")
        styled = f"\x1b[{look.sgr}m{text}\x1b[m" if look.sgr else text
        parts.append(f"\x1b]8;;{look.link}\x1b\\{styled}\x1b]8;;\x1b\\" if look.link else styled)
    return "".join(parts)
