"""File descriptor 0 while a person types: keys are kept from before the first prompt to the exit.

The terminal is non-canonical and silent, so that what is typed while an answer streams is neither
echoed into it nor lost; the line editor takes it up at the next prompt. Nothing is ever flushed.
The kernel keeps few keys, and hears no Ctrl-C behind those it has no room for: before that, what
waits is set aside.
Whatever way out is taken, the modes are those that were found.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
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
#: Keys that may wait in the kernel: half of what the smallest has room for.
_ROOM = 512
#: Seconds in which a terminal that has more hands it over, and how often it may.
_SOON, _MOST = 0.01, 500

_is_silent = False
_aside = bytearray()
#: Whether the input reads `typed_ahead`: then what waits at Ctrl-Z is kept from the shell, which would do it.
is_read = False


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
        screen.write(screen.passing)
        screen.flush()
        if is_read and now[_LOCAL] & termios.ISIG:  # in the editor Ctrl-Z is a key like others
            _aside.extend(_drained(now))
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
    global _is_silent
    if quiet:
        listen(_silent(found))
    _is_silent = quiet
    try:
        yield
    finally:
        _is_silent = False
        for signum, handler in former.items():
            signal.signal(signum, handler)
        let_go()


def set_aside() -> None:
    """Set aside what was typed, where it is so much that the kernel will soon have no room."""
    if not _is_silent or _waiting() < _ROOM:
        return
    for _ in range(_MOST):
        if not select.select([0], [], [], _SOON)[0]:
            return
        try:
            piece = os.read(0, 1 << 16)
        except OSError:
            return  # the terminal has hung up
        if not piece:
            return
        _aside.extend(piece)


def typed_ahead() -> bytes:
    """What was set aside of what was typed: an input with `hold` reads it before descriptor 0."""
    typed = bytes(_aside)
    _aside.clear()
    return typed


def _drained(modes: list[Any]) -> bytes:
    """All that waits in the terminal, half a line too."""
    open_ = [*modes[:_CHARS], list(modes[_CHARS])]
    open_[_LOCAL] &= ~termios.ICANON
    open_[_CHARS][termios.VMIN] = open_[_CHARS][termios.VTIME] = 0
    _set(open_)
    try:
        return b"".join(iter(lambda: os.read(0, 1 << 12), b""))
    except OSError:
        return b""  # the terminal has hung up


def _waiting() -> int:
    try:
        return int.from_bytes(fcntl.ioctl(0, termios.FIONREAD, bytes(4)), sys.byteorder)
    except OSError:
        return 0


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
