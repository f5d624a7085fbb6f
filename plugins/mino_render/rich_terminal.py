"""The renderer `rich`: Markdown on a terminal, painted when nothing more has arrived.

Finished rows go to the scrollback once; only the rows that can still change are repainted. What is
heavy is imported while the first request is on its way, or in `warm`, which the shell calls once
its prompt is drawn.
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
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

from . import asides

if TYPE_CHECKING:
    from mino_core import Event, Screen, Settings

    from .answer import Answer

#: Characters that may wait for the next `Idle`.
_MANY = 1 << 12
#: A wait that is longer is shown, in seconds; a little less than the one between two ticks.
_MOMENT = 0.9
#: How many lines of a running tool's output are shown, and of how many characters.
_LINES, _TAIL = 3, 1000


class Rich:
    """Draws Markdown. Settings as those of `plain`: `usage` and `reasoning`."""

    def __init__(self, settings: Settings, screen: Screen) -> None:
        self._screen = screen
        self._asides = asides.Asides(settings, screen)
        self._reasoning = asides.shows_reasoning(settings)
        self._made: Answer | None = None
        self._size = 0
        self._is_waiting = False
        self._kind: type | None = None
        self._is_labelled = False
        self._output = ""

    def show(self, event: Event) -> None:
        """Remember a delta; paint at every other event, and when many characters wait."""
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self._say(type(event), text)
            case ReasoningDelta(text):
                if self._reasoning:
                    self._say(ReasoningDelta, text)
            case Idle():
                if self._made is None:
                    self.warm()  # the request is on its way: there is time
                elif self._size or self._is_waiting:
                    self._paint()
            case TurnStarted():
                self._finish()
                self._is_labelled = False
            case RoundStarted():
                self._finish()
            case ToolCall():
                self._asides.expect(event)
                self._finish()  # a question may follow
            case ToolStarted() | ToolEnded() | TurnEnded() | SessionEnded():
                self._finish()
                self._output = ""
                self._say_beside(event)
            case ToolOutput(_, text):
                self._show_output(text)
            case SessionStarted() | Notice():
                self._say_beside(event)
            case _:
                pass

    def warm(self) -> None:
        """Import what the first answer needs."""
        from . import highlight

        highlight.warm()
        self._answer()

    def tick(self, seconds: float) -> None:
        """Show for how long nothing has come; the next event takes that away.

        What is open is brought up to date as well: the window may have changed.
        """
        if self._screen.can_move and seconds >= _MOMENT:
            self._is_waiting = True
            self._answer().paint(below=(f"… {seconds:.0f} s",))
        elif self._made is not None and self._made.is_open:
            self._paint()

    def close(self) -> None:
        """Finish the open block, and leave the cursor on a row of its own."""
        self._finish()
        self._screen.flush()

    # -- the answer ----------------------------------------------------------------------------

    def _answer(self) -> Answer:
        if self._made is None:
            from .answer import Answer

            self._made = Answer(self._screen)
        return self._made

    def _say(self, kind: type, text: str) -> None:
        if not text:
            return
        answer = self._made or self._answer()
        if kind is not self._kind:
            answer.begin(self._label(kind), dim=kind is ReasoningDelta)
            self._kind = kind
        answer.feed(text)
        self._size += len(text)
        if self._size > _MANY:
            self._paint()

    def _label(self, kind: type) -> str:
        if kind is ReasoningDelta:
            return ""
        label = "" if self._is_labelled or not self._screen.is_terminal else asides.LABEL
        self._is_labelled = True
        return label + asides.REFUSED if kind is RefusalDelta else label

    def _paint(self) -> None:
        self._size, self._is_waiting = 0, False
        self._answer().paint()

    def _finish(self) -> None:
        """The words so far are over."""
        self._kind, self._size, self._is_waiting = None, 0, False
        if self._made is not None:
            self._made.finish()

    # -- beside it -----------------------------------------------------------------------------

    def _show_output(self, text: str) -> None:
        """The last lines that a running tool wrote; they are gone when it ends."""
        self._output = (self._output + text)[-_TAIL:]
        if self._screen.can_move:
            lines = [line for line in self._output.split("\n") if line.strip()]
            self._answer().paint(below=lines[-_LINES:])

    def _say_beside(self, event: Event) -> None:
        for text, sgr in self._asides.of(event):
            self._aside(text, sgr)

    def _aside(self, text: str, sgr: str) -> None:
        """Lines of mino's own, over what is still open."""
        is_styled = sgr == asides.QUIET or self._screen.colour
        if self._made is not None and self._made.is_open and self._screen.can_move:
            from .look import PLAIN, Look

            self._size, self._is_waiting = 0, False
            self._made.paint(above=text, look=Look(sgr) if is_styled else PLAIN)
            return
        if sgr and is_styled and self._screen.can_move:
            text = "\n".join(f"\x1b[{sgr}m{line}\x1b[m" for line in text.split("\n"))
        self._screen.aside(text + "\n")
