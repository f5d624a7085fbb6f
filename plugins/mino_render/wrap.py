"""Words into rows, greedily, as they come.

A row is broken at spaces and between ideographs. A word wider than the window (an address, a hash)
starts a row of its own and is left whole for the terminal to wrap, so that it can be copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from .look import Row, Span
from .width import cells

_CLOSING = "、。，．！？；：）」』】〉》〕｝’”…％ー々〻ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ・"
_OPENING = "（「『【〈《〔｛‘“"
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60"
    "\uffe0-\uffe6\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_MARKS = "\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f\u3099\u309a\U0001f3fb-\U0001f3ff"
_ASCII_UNIT = re.compile(r"(?P<newline>\n)|(?P<space>[ ]+)|(?P<word>\S+|.)")
#: The same for every script. Like the next one it is compiled when it is needed: that takes 3 ms each.
_UNIT = (
    rf"(?P<newline>\n)|(?P<space>[ ]+)"
    rf"|(?P<glue>[{_CLOSING}{_MARKS}\u200d]+)"
    rf"|(?P<wide>[{_OPENING}]*[{_WIDE}](?:[{_MARKS}]|\u200d[^\s])*[{_CLOSING},.!?;:)\]}}]*)"
    rf"|(?P<word>[^\s{_CLOSING}{_WIDE}]+|.)"
)
_BREAK = rf"[ \n]|(?<=[{_WIDE}])(?=[{_WIDE}])(?![{_CLOSING}{_MARKS}])(?<![{_OPENING}])"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def last_break(text: str, start: int, end: int) -> int:
    """The last place after `start`, and up to `end`, in which a row may be broken; else `start`."""
    window = end
    while window > start:
        window = max(window - _WINDOW, start)
        places = [match.end() for match in _compiled(_BREAK).finditer(text, window, end)]
        if places and places[-1] > start:
            return places[-1]
    return start


_WINDOW = 64
#: Characters of a word that is not kept open any longer, however narrow it is: marks upon marks.
_CROWD = 500


class Wrapper:
    """Takes spans, gives rows. `first` and `rest` stand in front of the first and the further rows."""

    def __init__(self, columns: int, first: Sequence[Span] = (), rest: Sequence[Span] = ()) -> None:
        self._columns = columns
        self._rest = tuple(rest) if _cells(rest) * 2 <= columns else ()
        self._rows: list[Row] = []
        self._space: list[Span] = []
        self._word: list[Span] = []
        self._word_cells = 0
        self._after_wide = False
        self._is_broken = False
        self._row: list[Span] = []
        self._prefix = self._column = 0
        self._has_words = self._is_long = self._goes_on = False
        if _cells(first) * 2 <= columns:
            self._begin(first)
        else:
            self._begin(self._rest)
            self._rows.append(Row(tuple(first)))

    def copy(self) -> Wrapper:
        """One that goes on from here without changing this one."""
        other = object.__new__(Wrapper)
        other.__dict__.update(self.__dict__)
        other._rows, other._row = list(self._rows), list(self._row)
        other._space, other._word = list(self._space), list(self._word)
        return other

    def add(self, spans: Iterable[Span]) -> None:
        """Append text; a newline in it ends a row."""
        for text, look in spans:
            units = _ASCII_UNIT if text.isascii() else _compiled(_UNIT)
            for match in units.finditer(text):
                kind, unit = match.lastgroup, match.group()
                if kind == "glue" or (kind == "word" and not self._after_wide):
                    self._word.append((unit, look))
                    self._word_cells += cells(unit)
                    continue
                self._set_word()
                self._after_wide = kind == "wide"
                self._goes_on = False
                if kind == "newline":
                    self._end_row()
                    self._is_broken = True
                elif kind == "space":
                    self._space.append((unit, look))
                else:
                    self._word.append((unit, look))
                    self._word_cells += cells(unit)

    def take(self) -> list[Row]:
        """The rows that will not change any more."""
        is_crowded = sum(len(text) for text, _ in self._word) > _CROWD
        if is_crowded or self._word_cells > self._columns or (self._goes_on and self._word):
            self._set_word()
            self._goes_on = True
            self._is_long = self._is_long or is_crowded
        if self._is_long and self._row:
            self._rows.append(Row(tuple(self._row), ends=False))
            self._row, self._prefix = [], 0
        rows, self._rows = self._rows, []
        return rows

    def finish(self) -> list[Row]:
        """All rows that are left; the last one has its end."""
        self._set_word()
        if self._has_words or not self._is_broken:
            self._end_row()
        return self.take()

    def resized(self, columns: int) -> Wrapper:
        """One that goes on from here in a window of another width."""
        if columns == self._columns:
            return self
        if self._is_long:
            return self._moved(columns)
        other = Wrapper(columns, self._row[: self._prefix], self._rest)
        other._rows[:0] = self._rows
        other.add([*self._row[self._prefix :], *self._space, *self._word])
        other._goes_on = self._goes_on
        return other

    def _moved(self, columns: int) -> Wrapper:
        other = self.copy()
        other.__dict__.update(_columns=columns, _column=min(self._column, columns))
        return other

    def restyle(self, change: Callable[[Iterable[Span]], list[Span]]) -> None:
        """Give the words of the row that is not ended another look."""
        self._row[self._prefix :] = change(self._row[self._prefix :])
        self._word = change(self._word)

    # -- one row -------------------------------------------------------------------------------

    def _begin(self, prefix: Sequence[Span]) -> None:
        self._row = list(prefix)
        self._prefix = len(self._row)
        self._column = _cells(prefix)
        self._has_words = self._is_long = self._goes_on = False
        self._space.clear()

    def _end_row(self) -> None:
        self._rows.append(Row(tuple(self._row)))
        self._begin(self._rest)

    def _set_word(self) -> None:
        """Put the word into this row, or at the start of the next."""
        if not self._word:
            return
        end = self._column + _cells(self._space) + self._word_cells
        if end > self._columns and self._has_words and not self._goes_on:
            self._end_row()
            end = self._column + self._word_cells
        if self._has_words:
            self._row += self._space
        else:
            end -= _cells(self._space)
        self._row += self._word
        self._is_long = self._is_long or end > self._columns
        self._column = (end - 1) % self._columns + 1
        self._has_words = True
        self._space.clear()
        self._word = []
        self._word_cells = 0


def _cells(spans: Iterable[Span]) -> int:
    return sum(cells(text) for text, _ in spans)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Neighbours of one look made one span."""
    result: list[Span] = []
    for text, look in spans:
        if result and result[-1][1] == look:
            result[-1] = (result[-1][0] + text, look)
        elif text:
            result.append((text, look))
    return result
