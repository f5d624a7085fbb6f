"""Which of the lines that can be gone back to begin with a pasted text: those are never commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer


class PasteWatch:
    """Watches a buffer. A line that is emptied, or is given another beginning by hand, is typed."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._first: dict[int, str] = {}
        buffer.on_text_changed += lambda _: self._look()

    def insert(self, text: str) -> None:
        """Put a pasted text at the cursor."""
        before = self._buffer.document.text_before_cursor
        self._buffer.insert_text(text, fire_event=False)
        if not before.strip() and text.strip():
            self._first[self._buffer.working_index] = text.lstrip()[0]

    def begins_the_line(self) -> bool:
        """Whether the line begins with what was pasted."""
        return self._buffer.working_index in self._first

    def forget(self) -> None:
        """Another line begins."""
        self._first.clear()

    def _look(self) -> None:
        first = self._first.get(self._buffer.working_index)
        if first is not None and not self._buffer.text.lstrip().startswith(first):
            del self._first[self._buffer.working_index]
