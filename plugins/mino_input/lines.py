"""The input `lines`: what a pipe holds, or what the kernel let a person type, line by line.

It reads descriptor 0 itself and draws nothing but the prompt, so it works on a terminal that knows
no sequences and for a screen reader.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mino_core import Pasted, sanitise, typed_ahead, wait

from . import plainly
from .choices import offer, pose, understand
from .kernel import END, Kernel

if TYPE_CHECKING:
    from mino_core import Screen, Session, Settings

_PIECE = 1 << 16
#: A paste comes without brackets.
_PASTE_OFF = "\x1b[?2004l"


class Lines:
    """Reads lines from descriptor 0. No settings."""

    def __init__(self, settings: Settings, screen: Screen) -> None:
        self._screen = screen
        self._kernel = Kernel() if os.isatty(0) else None
        self._rest = bytearray()
        #: How many bytes at the start of `_rest` came in a burst, which no hand types.
        self._burst = 0
        #: Lines that were typed ahead but are not sent by themselves, each for a prompt of its own.
        self._held: deque[bytes] = deque()
        self._holds = False
        self._session: Session | None = None
        self._is_prepared = False
        if self._kernel and self._kernel.is_inherited:
            screen.aside(_PASTE_OFF)

    def attach(self, session: Session) -> None:
        """From here on what is typed between two prompts is not echoed into what stands there."""
        self._session = session
        if self._kernel:
            self._kernel.be_silent()

    def read(self, prompt: str) -> str:
        """The next line, without its end; a last line without one counts. EOFError at the end.

        Ctrl-C drops what was typed and asks again; with nothing typed it raises KeyboardInterrupt.
        """
        if self._kernel is None:
            return self._next()
        while True:
            try:
                return self._typed(self._kernel, prompt)
            except EOFError:
                self._screen.aside("\n")
                raise
            except KeyboardInterrupt as stop:
                self._screen.aside("\n")
                if type(stop) is not KeyboardInterrupt or not self._drop(self._kernel):
                    raise

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """One of the choices; None where nobody sits there, and at Ctrl-D.

        What was typed before the question is kept for the next prompt.
        """
        if self._kernel is None:
            return None
        self._rest += self._kernel.drain()
        kept, self._rest = self._rest, bytearray()
        pose(self._session, self._screen, question)
        try:
            while True:
                self._screen.aside(offer(choices))
                try:
                    with self._kernel.echoing():
                        return understand(self._next(), choices)
                except EOFError:
                    self._screen.aside("\n")
                    return None
                except ValueError:
                    continue
        finally:
            self._rest = kept + self._rest

    def hold(self) -> None:
        """Send nothing that was typed ahead by itself: it stands at the prompt."""
        self._holds = self._kernel is not None

    def close(self) -> None:
        """Leave the terminal as it was found."""
        if self._kernel:
            self._kernel.restore()

    def _prepare(self) -> None:
        """Do what the first question would wait for, while a person types it."""
        if self._session is not None and not self._is_prepared:
            self._is_prepared = True
            self._session.warm()

    # -- reading -------------------------------------------------------------------------------

    def _typed(self, kernel: Kernel, prompt: str) -> str:
        """A line from a person; what was typed ahead, unseen, is shown now."""
        with kernel.echoing():
            self._rest += kernel.drain()
            self._keep_held()
            self._screen.aside(prompt)
            if self._rest.startswith(END):
                del self._rest[: len(END)]
                raise EOFError
            ahead, newline, _ = self._rest.partition(b"\n")
            if ahead or newline:
                self._screen.aside(sanitise(_text(ahead)) + newline.decode())
            if not newline:
                self._prepare()
            line = self._next()
            if not newline and select.select([0], [], [], 0)[0]:  # a whole line more, at once
                self._rest += kernel.drain()
                self._burst = len(self._rest)
                return Pasted(line)
            if self._burst:
                self._burst = max(0, self._burst - len(ahead) - len(newline))
                return Pasted(line)
            return line

    def _keep_held(self) -> None:
        """Put the first line that is held where the next one is read from, without its end."""
        if not (self._holds or self._held):
            return
        *lines, rest = bytes(self._rest).split(b"\n")
        if (told := sum(map(bool, lines))) and self._holds and self._session is not None:
            self._session.notify(plainly.not_sent(told))
        self._holds = False
        self._held += filter(None, (*lines, rest))
        if self._burst:  # what was pasted at once stays pasted
            self._burst = sum(map(len, self._held))
        self._rest[:] = self._held.popleft() if self._held else b""

    def _next(self) -> str:
        looked, is_ending = 0, self._kernel is None
        while (end := self._rest.find(b"\n", looked)) < 0:
            looked = len(self._rest)
            piece = self._read()
            self._rest += piece
            if piece:
                is_ending = self._kernel is None
            elif not self._rest:
                raise EOFError
            elif is_ending:
                end = looked
                break
            else:  # a Ctrl-D behind what was typed ahead, which the kernel knows nothing of
                is_ending = True
        line = self._rest[:end]
        del self._rest[: end + 1]
        return _text(line)

    def _read(self) -> bytes:
        while True:
            try:
                wait(0)  # a Ctrl-C of the instant before a read would not be noticed in it
                piece = os.read(0, _PIECE)
                return typed_ahead() + piece  # half a line that was typed before a Ctrl-Z
            except BlockingIOError:  # someone made the shared descriptor non-blocking
                select.select([0], [], [])
            except OSError:  # the terminal has hung up, or the descriptor is closed: it is the end
                return b""

    def _drop(self, kernel: Kernel) -> bool:
        """Drop what was typed of this line; whether there was anything."""
        typed = bool(self._rest + kernel.drain())
        self._rest.clear()
        self._burst = 0
        return typed


def _text(line: bytes | bytearray) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")
