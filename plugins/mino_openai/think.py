"""Reasoning that a model writes into its answer, between `<think>` and `</think>`."""

from __future__ import annotations

from collections.abc import Iterator

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Tells reasoning from answer, delta by delta.

    The opening tag counts only at the very start of an answer; after the closing one everything
    is text, so a tag that the answer talks about stays in it. What may yet become a tag is held
    back. With `is_open` the server's template has written the opening tag already.
    """

    def __init__(self, is_open: bool = False) -> None:
        self._held = ""
        self._inside = is_open
        self._trim = is_open  # line breaks next to a tag belong to it
        self._at_start = True
        #: Nothing is left to be told apart: all that comes is text, and this can be forgotten.
        self.is_over = False

    def feed(self, text: str) -> Iterator[tuple[bool, str]]:
        """Pieces as (is reasoning, text)."""
        self._held += text
        if self._at_start and not self._begin():
            return
        if self._inside:
            yield from self._reason()
        if not self._inside:
            yield from self._answer()

    def flush(self) -> Iterator[tuple[bool, str]]:
        """What was held back when the answer ended."""
        held, self._held = self._held, ""
        if held:
            yield self._inside, held

    def _begin(self) -> bool:
        """Look for the opening tag; False while it is undecided."""
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held = start[len(_OPEN) :]
            self._inside = self._trim = True
        elif _OPEN.startswith(start):
            return False
        self._at_start = False
        return True

    def _reason(self) -> Iterator[tuple[bool, str]]:
        self._trimmed()
        said, tag, rest = self._held.partition(_CLOSE)
        if tag:
            self._held, self._inside, self._trim = rest, False, True
        else:
            cut = len(said) - _overlap(said)
            said, self._held = said[:cut], said[cut:]
        if said:
            yield True, said

    def _answer(self) -> Iterator[tuple[bool, str]]:
        self._trimmed()
        said, self._held = self._held, ""
        if said:
            self.is_over = True
            yield False, said

    def _trimmed(self) -> None:
        if self._trim:
            self._held = self._held.lstrip("\r\n")
            self._trim = not self._held


def _overlap(text: str) -> int:
    """How many characters at the end may be the beginning of the closing tag."""
    return next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
