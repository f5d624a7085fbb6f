"""The prompt and the line as they are drawn and told without prompt_toolkit."""

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

    rows = [row.expandtabs(4) for row in sanitise(hidden.marked(line)).split("\n")]
    return prompt(screen, text) + ("\n" + " " * len(text)).join(rows) + "\n"


def not_sent(lines: int) -> str:
    """What to say of lines that were typed ahead, when a Ctrl-C has stopped what they would have followed."""
    if lines == 1:
        return "[the line that you had typed is not sent yet: Enter sends it]"
    return f"[the {lines} lines that you had typed are not sent yet: here is the first, and Enter sends each]"
