"""The input `editor`: the prompt is there at once, and behind it a line editor that takes its time.

From before the prompt is drawn every key is kept. So the prompt need not wait for prompt_toolkit to
be imported, and what was typed ahead is in the line when it is.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal

from mino_core import MinoError

from . import modes, plainly

if TYPE_CHECKING:
    from mino_core import Screen, Session, Settings

    from .completion import Candidate
    from .line import Line
    from .past import Past

_MODES = ("emacs", "vi")
#: Cells that an answer to a question needs behind its prompt.
_ROOM = 10


class Editor:
    """Edits lines on a terminal.

    Settings: `mode`, whose keys are bound (`emacs` or `vi`); `history`, whether what is typed is kept
    for the next run. Raises ConfigError for another mode.
    """

    def __init__(self, settings: Settings, screen: Screen) -> None:
        mode = settings.text("mode", "emacs")
        if mode not in _MODES:
            raise settings.error("mode", f"must be {' or '.join(_MODES)}, not {mode!r}")
        self._vi = mode == "vi"
        self._past_file = settings.home / "input-history.jsonl" if settings.flag("history", True) else None
        self._screen = screen
        self._session: Session | None = None
        self._line: Line | None = None
        self._holds = False
        #: What waits to be drawn above the line.
        self._above: deque[Callable[[], None]] = deque()

    def attach(self, session: Session) -> None:
        """Complete this session's commands."""
        self._session = session

    def read(self, prompt: str) -> str:
        """The next line. EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C; with a text, it is cleared."""
        with modes.raw():
            ahead = modes.pending()
            self._draw_early(prompt)
            line = self.warm()
            held = line.keyboard.typed_ahead(ahead, hold=self._holds)
            self._holds = False
            if held:
                self._say(plainly.not_sent(held), "info")
            text = line.read(prompt)
            line.past.add(text)
            self._tell(line.past)
            return text

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """One of the choices; None at Escape and Ctrl-D, the first that says no at Enter alone.

        What was typed before the question is kept for the next prompt.
        """
        from .choices import offer, pose

        prompt = offer(choices)
        if len(prompt) + _ROOM > self._screen.columns:
            question, prompt = f"{question} {prompt}", "> "
        with modes.raw():
            ahead = modes.pending()
            pose(self._session, self._screen, question)
            self._draw_early(prompt)
            from .question import answer

            keyboard = self.warm().keyboard
            keyboard.typed_ahead(ahead)
            kept = keyboard.take()
            try:
                return answer(self._screen, keyboard, prompt, choices)
            except EOFError:  # the terminal has hung up
                return None
            finally:
                keyboard.put_back(kept)

    def hold(self) -> None:
        """Send nothing that was typed ahead by itself: it stands at the prompt."""
        self._holds = True

    def above(self, draw: Callable[[], None]) -> None:
        """Draw something above the line being edited, from any thread.

        Where none is being edited, the main thread draws at once, and another's waits for the next.
        """
        from threading import current_thread, main_thread

        is_main = current_thread() is main_thread()
        if is_main and (self._line is None or not self._line.is_shown):
            draw()
            return
        self._above.append(draw)
        if self._line is not None:
            self._line.wake()

    def warm(self) -> Line:
        """Make the line editor, if it is not made yet."""
        if self._line is None:
            with _uncollected():
                self._line = self._made()
        return self._line

    def _made(self) -> Line:
        from .keys import Keyboard
        from .line import Line
        from .past import Past

        past = Past(self._past_file, keeps=self._keeps())
        self._tell(past)
        return Line(
            self._screen,
            Keyboard(),
            past,
            self._above,
            vi=self._vi,
            complete=self._complete,
            say=self._say,
            idle=self._prepare,
        )

    def _tell(self, past: Past) -> None:
        """Say once what is wrong with the file of what was typed before; above the next line, if need be."""
        if past.trouble and self._session is not None:
            self._above.append(partial(self._session.notify, past.trouble, "warning"))
            past.trouble = ""

    def _keeps(self) -> bool:
        """Whether what is typed may be kept: not where the conversation is not."""
        return self._session is None or self._session.config.history.name != "memory"

    def _draw_early(self, prompt: str) -> None:
        """Draw the prompt while the editor is still being imported; it draws over it in place."""
        if self._line is not None or len(prompt) >= self._screen.columns:
            return
        self._screen.write(plainly.prompt(self._screen, prompt))
        self._screen.flush()
        self._screen.write("\r")

    def _prepare(self) -> None:
        """Do what the first question would wait for, while a person types it."""
        if self._session is not None:
            self._session.warm()

    def _say(self, text: str, level: Literal["info", "warning"] = "warning") -> None:
        if self._session is not None:
            self.above(partial(self._session.notify, text, level))

    def _complete(self, text: str) -> Iterable[Candidate]:
        if self._session is None:
            return
        from .completion import candidates

        try:
            yield from candidates(self._session, text)
        except MinoError as error:
            self._say(str(error))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage while a lot is made that stays to the end, and never look through it after that.

    Looking takes a tenth of the time that making it does.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
