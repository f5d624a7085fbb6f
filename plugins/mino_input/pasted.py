"""Where in the line being edited something was pasted: that is no command, and attaches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mino_core import Pasted

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer

Spans = tuple[tuple[int, int], ...]


class PasteWatch:
    """Watches a buffer. What was pasted stays so while the text around it is edited by hand.

    It stays so too when it is deleted and brought back, or comes back with Up.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._pasted: list[str] = []
        self._seen: dict[int, Pasted] = {}
        buffer.on_text_changed += lambda _: self._look()

    def insert(self, text: str) -> None:
        """Put a pasted text at the cursor."""
        self._look()
        self._pasted.append(text)
        before = self._seen[self._buffer.working_index]
        at = self._buffer.cursor_position
        self._buffer.insert_text(text, fire_event=False)
        spans = (*_moved(before.spans, at, at, len(text)), (at, at + len(text)))
        self._seen[self._buffer.working_index] = Pasted(self._buffer.text, _merged(spans))

    def line(self) -> str:
        """The line: a Pasted where something in it was pasted."""
        self._look()
        seen = self._seen[self._buffer.working_index]
        return seen if seen.spans else str(seen)

    def begins_the_line(self) -> bool:
        """Whether the line begins with what was pasted."""
        line = self.line()
        return isinstance(line, Pasted) and line.covers(len(line) - len(line.lstrip()))

    def forget(self) -> None:
        """Another line begins."""
        self._pasted.clear()
        self._seen.clear()

    def _look(self) -> None:
        """Notice what has changed since the last look."""
        index, text = self._buffer.working_index, self._buffer.text
        before = self._seen.get(index)
        if isinstance(text, Pasted):  # it has just come back
            self._seen[index] = text
        elif before is None or not (before.spans or self._pasted):
            self._seen[index] = Pasted(text, ())
        elif before != text:
            self._seen[index] = self._changed(before, text)

    def _changed(self, before: Pasted, text: str) -> Pasted:
        start = _common(before, text)
        size = min(len(before), len(text)) - start
        end = _common(before[::-1][:size], text[::-1][:size])
        inserted = text[start : len(text) - end]
        spans = _moved(before.spans, start, len(before) - end, len(inserted))
        if len(inserted) < 2:
            return Pasted(text, spans)
        if any(inserted in pasted for pasted in self._pasted):  # it was cut, and is back
            return Pasted(text, _merged((*spans, (start, start + len(inserted)))))
        # Another program changed more than one place: pasted words that are still there stay so.
        cut = (before[max(first, start) : min(last, len(before) - end)] for first, last in before.spans)
        words = set(" ".join(cut).split())
        found = (word.span() for word in re.finditer(r"\S+", inserted) if word[0] in words)
        return Pasted(text, _merged((*spans, *((start + first, start + last) for first, last in found))))


def _moved(spans: Iterable[tuple[int, int]], start: int, end: int, inserted: int) -> Spans:
    """The spans after the text from `start` to before `end` was replaced by that many characters."""
    by = start + inserted - end
    before = [(first, min(last, start)) for first, last in spans]
    after = [(max(first, end) + by, last + by) for first, last in spans]
    return _merged((*before, *after))


def _merged(spans: Iterable[tuple[int, int]]) -> Spans:
    """The same places, in order, each once."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(span for span in spans if span[0] < span[1]):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
