"""File descriptor 0 while a person types: keys are kept from before the first prompt to the exit.

The terminal is non-canonical and silent, so that what is typed while an answer streams is neither
echoed into it nor lost; the line editor takes it up at the next prompt. Nothing is ever flushed.
Whatever way out is taken, the modes are those that were found.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .screen import Screen, ScreenGone

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
#: What makes mino draw while it waits.
_DRAWING = (signal.SIGALRM, signal.SIGWINCH)
_INPUT, _OUTPUT, _LOCAL, _CHARS = 0, 1, 3, 6


def _silent(modes: list[Any]) -> list[Any]:
    """The modes in which keys wait for us.

    ICRNL is off, since with it a typed Enter arrives as Ctrl-J; NOFLSH is on, since without it the
    kernel drops what was typed ahead at every Ctrl-C; IEXTEN is off, since with it some kernels
    keep Ctrl-V and Ctrl-O to themselves.
    """
    silent = list(modes)
    silent[_INPUT] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    silent[_OUTPUT] |= termios.OPOST
    silent[_LOCAL] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
    silent[_LOCAL] |= termios.ISIG | termios.NOFLSH
    silent[_CHARS] = list(modes[_CHARS])
    silent[_CHARS][termios.VMIN], silent[_CHARS][termios.VTIME] = 1, 0
    return silent


@contextmanager
def typing_ahead(screen: Screen, *, quiet: bool) -> Iterator[None]:
    """Keep keys during this block; `quiet=False` leaves the line to the kernel, echo and all.

    The modes found are put back at the end, and while the program is stopped by Ctrl-Z.
    """
    if not os.isatty(0):
        yield
        return
    found = termios.tcgetattr(0)

    def listen(modes: list[Any]) -> None:
        _set(modes)
        if quiet:
            _tell(screen, _PASTE_ON)

    def let_go() -> None:
        _set(found)
        if quiet:
            _tell(screen, _PASTE_OFF)

    def stop(signum: int, frame: FrameType | None) -> None:
        now = termios.tcgetattr(0)
        let_go()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _DRAWING)  # who draws must know of it first
        _default(signum, stop)  # we sleep in here until somebody says SIGCONT
        listen(now)
        screen.visits += 1
        os.kill(os.getpid(), signal.SIGWINCH)  # whoever draws draws anew: another program was here
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def die(signum: int, frame: FrameType | None) -> None:
        let_go()
        _default(signum, die)

    ours = {signal.SIGTSTP: stop, signal.SIGQUIT: die}
    former = {
        signum: signal.signal(signum, handler)
        for signum, handler in ours.items()
        if signal.getsignal(signum) != signal.SIG_IGN  # nobody could wake us up again
    }
    if quiet:
        listen(_silent(found))
    try:
        yield
    finally:
        for signum, handler in former.items():
            signal.signal(signum, handler)
        let_go()


def _set(modes: list[Any]) -> None:
    try:
        termios.tcsetattr(0, termios.TCSANOW, modes)
    except termios.error:
        pass  # the terminal has hung up; it has no modes any more


def _tell(screen: Screen, sequence: str) -> None:
    try:
        screen.write(sequence)
        screen.flush()
    except ScreenGone:
        pass  # as above


def _default(signum: int, ours: Callable[[int, FrameType | None], None]) -> None:
    """Let a signal do to this process what it does to every other."""
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)
    signal.signal(signum, ours)
