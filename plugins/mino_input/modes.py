"""The modes of the terminal on descriptor 0, each set for a block and put back after it."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mino_core import typed_ahead

INPUT, LOCAL, CHARS = 0, 3, 6
_FLOW = termios.IXON | termios.IXOFF
_ENDS = termios.ICRNL | termios.INLCR | termios.IGNCR
_LINE = termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN


def current() -> list[Any]:
    """The modes of now, as a copy that may be changed."""
    return termios.tcgetattr(0)


def copy(modes: list[Any]) -> list[Any]:
    """The same modes, to be changed."""
    return [*modes[:CHARS], list(modes[CHARS])]


def put(modes: list[Any]) -> None:
    """Set modes, without dropping a key."""
    try:
        termios.tcsetattr(0, termios.TCSANOW, modes)
    except termios.error:
        pass  # the terminal has hung up; reading says so


@contextmanager
def raw() -> Iterator[None]:
    """Every key is ours as it is typed, Ctrl-C and Ctrl-Z too."""
    found = current()
    modes = copy(found)
    modes[INPUT] &= ~(_FLOW | _ENDS)
    modes[LOCAL] &= ~_LINE
    modes[CHARS][termios.VMIN], modes[CHARS][termios.VTIME] = 1, 0
    put(modes)
    try:
        yield
    finally:
        put(found)


@contextmanager
def cooked() -> Iterator[None]:
    """Another program has the terminal."""
    found = current()
    modes = copy(found)
    modes[INPUT] |= termios.ICRNL
    modes[LOCAL] |= _LINE
    put(modes)
    try:
        yield
    finally:
        put(found)


def pending() -> bytes:
    """The keys that wait in a terminal that is not in canonical mode."""
    keys = bytearray(typed_ahead())
    while select.select([0], [], [], 0)[0]:
        try:
            piece = os.read(0, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        keys += piece
    return bytes(keys)
