"""The renderer `plain`: the words as they come, each once, and no cursor motion.

Into a pipe goes the answer alone, byte for byte. On a terminal it has a label in front, and mino's
own lines stand in between. Nothing is ever redrawn, so a screen reader reads it as it grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mino_core import (
    Idle,
    Notice,
    ReasoningDelta,
    RefusalDelta,
    RoundStarted,
    SessionEnded,
    SessionStarted,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

from . import asides

if TYPE_CHECKING:
    from mino_core import Event, Screen, Settings

#: Characters that may wait for the next `Idle`.
_MANY = 1 << 14


class Plain:
    """Writes deltas verbatim, at `Idle` or when many wait.

    Settings: `usage` (a line of token counts after each turn), `reasoning` (`show` or `hide`; in a
    pipe it never shows). Raises ConfigError for another value.
    """

    def __init__(self, settings: Settings, screen: Screen) -> None:
        self._screen = screen
        self._asides = asides.Asides(settings, screen)
        self._reasoning = asides.shows_reasoning(settings) and screen.is_terminal
        self._waiting: list[str] = []
        self._size = 0
        self._in_row = False
        self._begun = False
        self._kind: type | None = None

    def show(self, event: Event) -> None:
        """Remember a delta; write what waits at every other event."""
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self._say(type(event), text)
            case ReasoningDelta(text):
                if self._reasoning:
                    self._say(ReasoningDelta, text)
            case Idle():
                self._write()
            case TurnStarted() | RoundStarted():
                self._kind = None
                self._begun = self._begun and isinstance(event, RoundStarted)
            case ToolCall():
                self._asides.expect(event)
            case SessionStarted() | ToolStarted() | ToolEnded() | Notice() | SessionEnded():
                self._say_beside(event)
            case TurnEnded():
                self._say_beside(event)
                self._screen.flush()
                self._begun = False
            case _:
                pass

    def close(self) -> None:
        """Write what waits, and leave the cursor on a row of its own."""
        self._break()
        self._screen.flush()

    # -- the answer ----------------------------------------------------------------------------

    def _say(self, kind: type, text: str) -> None:
        if not text:
            return
        if kind is not self._kind:
            self._begin(kind)
        self._waiting.append(text)
        self._size += len(text)
        if self._size > _MANY:
            self._write()

    def _begin(self, kind: type) -> None:
        """Go from one kind of words to another."""
        if self._kind is not None:
            self._break()
        self._kind = kind
        if kind is ReasoningDelta:
            self._waiting.append(asides.THINKING)
        elif self._screen.is_terminal and not self._begun:
            self._waiting.append(asides.LABEL)
        self._begun = self._begun or kind is not ReasoningDelta
        if kind is RefusalDelta:
            if self._screen.is_terminal:
                self._waiting.append(asides.REFUSED)
            else:
                self._screen.aside(asides.REFUSED.rstrip() + "\n")

    def _write(self) -> None:
        """Write what waits. On a terminal blank space waits for the words after it."""
        if not self._waiting:
            return
        text = "".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        if self._screen.is_terminal:
            words = text.rstrip()
            if words != text:
                self._waiting.append(text[len(words) :])
            text = words
        if text:
            self._in_row = True
            self._screen.write(text)
            self._screen.flush()

    def _break(self) -> None:
        """Write what waits; on a terminal, go to a row of its own."""
        self._write()
        self._waiting.clear()
        if self._in_row and self._screen.is_terminal:
            self._screen.write("\n")
        self._in_row = False

    def _say_beside(self, event: Event) -> None:
        """What is mino's own stands in rows of its own."""
        self._break()
        self._kind = None
        for aside in self._asides.of(event):
            self._screen.aside(aside.text + "\n")
