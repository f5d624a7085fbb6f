"""The line being edited, on prompt_toolkit: what it holds, how it looks, and one run of it.

Importing this module costs what prompt_toolkit costs, so it is done once the prompt is drawn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TYPE_CHECKING

from mino_core import Pasted
from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History

from . import hidden, plainly
from .bindings import bindings
from .completion import Candidate, is_name
from .drawing import follow, layout, output, style
from .keys import Keyboard
from .pasted import PasteWatch
from .running import ESCAPE, run

if TYPE_CHECKING:
    from mino_core import Screen

    from .past import Past

#: Seconds after which a person who has sent nothing is taken to be typing.
_SOON = 0.05


class Line:
    """A line of any length, edited on a screen.

    `above` is what waits to be drawn above it, `say` tells the user something there, `idle` is called
    once, soon after a line is shown that nobody has sent yet.
    """

    def __init__(
        self,
        screen: Screen,
        keyboard: Keyboard,
        past: Past,
        above: deque[Callable[[], None]],
        *,
        vi: bool = False,
        complete: Callable[[str], Iterable[Candidate]],
        say: Callable[[str], None],
        idle: Callable[[], None],
    ) -> None:
        self.screen = screen
        self.keyboard = keyboard
        self.past = past
        self.say = say
        self._idle: Callable[[], None] | None = idle
        self.above = above
        self.prompt = ""
        self._is_drawing = False
        self.buffer = Buffer(
            completer=_Completer(complete),
            complete_while_typing=Condition(self._names_a_command),
            enable_history_search=True,
            history=_Earlier(past),
        )
        self.pasted = PasteWatch(self.buffer)
        self.app: Application[str] = Application(
            layout=layout(self.buffer, lambda: self.prompt),
            key_bindings=bindings(self),
            style=style(),
            include_default_pygments_style=False,
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            terminal_size_polling_interval=None,
            input=keyboard,
            output=output(screen),
        )
        self.app.ttimeoutlen = ESCAPE
        follow(self.app, screen)

    def read(self, prompt: str) -> str:
        """What was sent. EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C on an empty line."""
        self.prompt = prompt
        while True:
            self.buffer.reset()
            self.pasted.forget()
            self.app.erase_when_done = False
            try:
                text = run(self.app, self._begin)
            except EOFError:  # the terminal has hung up; the key does not come here with a text
                self.past.add(self.pasted.line())
                raise
            except KeyboardInterrupt as stop:  # a signal; as above
                if type(stop) is not KeyboardInterrupt:
                    self.past.add(self.pasted.line())
                    raise
                if not self.buffer.text:
                    raise
            else:
                self.screen.write(plainly.whole(self.screen, prompt, self.buffer.text))
                self.screen.flush()
                return text

    def _begin(self) -> None:
        self.buffer.load_history_if_not_yet_loaded()
        if self.above:
            self._draw_above()
        if self._idle:
            asyncio.get_running_loop().call_later(_SOON, self._be_idle)

    def _be_idle(self) -> None:
        idle, self._idle = self._idle, None
        if idle and not self.app.is_done:
            idle()

    # -- what a key does -----------------------------------------------------------------------

    def send(self, *, is_burst: bool) -> None:
        """Send the line. What was pasted is never a command."""
        text = Pasted(self.buffer.text) if is_burst else self.pasted.line()
        # What is sent is written once more, plainly: of what is taller than the screen only a part is drawn,
        # and to lay out the line a last time would take half a millisecond in which nothing is asked.
        self.app.erase_when_done = True
        self.app.exit(result=text)

    def paste(self, text: str) -> None:
        """Insert a text as it is, but for the line ends."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.pasted.insert(text)
        if warning := hidden.warning(text):
            self.say(warning)

    def edited(self, text: str) -> None:
        """Put what another program has made of the line in its place. Up brings back what it has emptied."""
        if text.strip():
            self.buffer.document = Document(text, len(text))
        else:
            self.clear()

    def clear(self) -> None:
        """Drop the line; Up brings it back. The next one that was typed ahead takes its place."""
        self.past.remember(self.pasted.line())
        self.buffer.reset()
        self.pasted.forget()
        self.buffer.load_history_if_not_yet_loaded()
        self.keyboard.next_held()

    def _names_a_command(self) -> bool:
        return is_name(self.buffer.document.text_before_cursor) and not self.pasted.begins_the_line()

    # -- what comes meanwhile ------------------------------------------------------------------

    @property
    def is_shown(self) -> bool:
        """Whether the line is on the screen, so that nothing else may be drawn there."""
        return self.app.is_running and not self._is_drawing

    def wake(self) -> None:
        """Draw what waits above the line, now if one is being edited. From any thread."""
        loop = self.app.loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(self._draw_above)
            except RuntimeError:
                pass  # it has just ended; the next line draws it

    def _draw_above(self) -> None:
        if not self.app.is_done:
            self.app.create_background_task(self._draw_waiting())

    async def _draw_waiting(self) -> None:
        async with in_terminal():
            self._is_drawing = True
            try:
                while self.above:
                    self.above.popleft()()
            finally:
                self._is_drawing = False


class _Earlier(History):
    """What was typed before, for prompt_toolkit."""

    def __init__(self, past: Past) -> None:
        super().__init__()
        self._past = past

    async def load(self) -> AsyncGenerator[str, None]:
        """Newest first, without a pause, so that no key comes in between."""
        for text in reversed(self._past.entries):
            yield text

    def get_strings(self) -> list[str]:
        """Oldest first."""
        return list(self._past.entries)

    def load_history_strings(self) -> Iterable[str]:
        """Newest first."""
        return reversed(self._past.entries)

    def store_string(self, string: str) -> None:
        """Remember a line."""
        self._past.add(string)


class _Completer(Completer):
    """The candidates, for prompt_toolkit."""

    def __init__(self, complete: Callable[[str], Iterable[Candidate]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What may stand at the cursor."""
        for candidate in self._complete(document.text_before_cursor):
            yield Completion(candidate.text, -candidate.replaces, display_meta=candidate.help)
