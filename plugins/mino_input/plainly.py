"""The prompt and the line as they are drawn without prompt_toolkit: before it is there, or in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mino_core import sanitise

if TYPE_CHECKING:
    from mino_core import Screen

#: As drawing.style() has it: the early prompt is drawn over and must not change.
_COLOURED, _BOLD, _END = "\x1b[0;36;1m", "\x1b[0;1m", "\x1b[0m"


def prompt(screen: Screen, text: str) -> str:
    """The prompt in its colour."""
    return f"{_COLOURED if screen.colour else _BOLD}{text}{_END}"


def whole(screen: Screen, text: str, line: str) -> str:
    """A prompt and all that was sent after it, for the scrollback."""
    from . import hidden

    rows = sanitise(hidden.marked(line)).split("\n")
    return prompt(screen, text) + ("\n" + " " * len(text)).join(rows) + "\n"
