"""File descriptor 0 while a person types: keys are kept from before the first prompt to the exit.

The terminal is non-canonical and silent, so that what is typed while an answer streams is neither
echoed into it nor lost; the line editor takes it up at the next prompt. Nothing is ever flushed.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .screen import Screen

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_INPUT, _OUTPUT, _LOCAL, _CHARS = 0, 1, 3, 6


def _silent(modes: list[Any]) -> list[Any]:
    """The modes in which keys wait for us.

    ICRNL is off, since with it a typed Enter arrives as Ctrl-J; NOFLSH is on, since without it the
    kernel drops what was typed ahead at every Ctrl-C.
    """
    silent = list(modes)
    silent[_INPUT] &= ~termios.ICRNL
    silent[_OUTPUT] |= termios.OPOST
    silent[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
    silent[_LOCAL] |= termios.ISIG | termios.NOFLSH
    silent[_CHARS] = list(modes[_CHARS])
    silent[_CHARS][termios.VMIN], silent[_CHARS][termios.VTIME] = 1, 0
    return silent


@contextmanager
def typing_ahead(screen: Screen, *, quiet: bool) -> Iterator[None]:
    """Keep keys during this block; `quiet=False` leaves the line to the kernel, echo and all.

    The modes are put back at the end, and while the program is stopped by Ctrl-Z.
    """
    if not quiet or not os.isatty(0):
        yield
        return
    before = termios.tcgetattr(0)

    def listen() -> None:
        termios.tcsetattr(0, termios.TCSANOW, _silent(before))
        screen.write(_PASTE_ON)
        screen.flush()

    def let_go() -> None:
        termios.tcsetattr(0, termios.TCSANOW, before)
        screen.write(_PASTE_OFF)
        screen.flush()

    def stop(signum: int, frame: FrameType | None) -> None:
        let_go()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # we sleep in here until somebody says SIGCONT
        signal.signal(signal.SIGTSTP, stop)
        listen()

    former = signal.signal(signal.SIGTSTP, stop)
    listen()
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, former)
        let_go()
