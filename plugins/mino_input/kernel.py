"""The terminal on descriptor 0 while the kernel edits the line, and how to see half of one.

The kernel hands over whole lines only. Outside canonical mode it gives what there is of a line; that
is how we learn whether anything was typed when Ctrl-C came, and how we keep what was typed ahead.
"""

from __future__ import annotations

import os
import re
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from mino_core import typed_ahead

from . import modes

_LINE = termios.ICANON | termios.IEXTEN | termios.ECHO | termios.ECHOE | termios.ECHOK
#: How the kernel marks a typed Ctrl-D. Behind text it only hands that over; at a line's start it ends.
END = b"\0"
_MARK_WITHIN = re.compile(rb"(?<=[^\n])\0")


class Kernel:
    """Descriptor 0, a terminal. `is_inherited` says that the editor failed and left us its modes."""

    def __init__(self) -> None:
        self._found = modes.current()
        self.is_inherited = not self._found[modes.LOCAL] & termios.ICANON
        self._editing = modes.copy(self._found)
        self._editing[modes.LOCAL] |= termios.NOFLSH  # at Ctrl-C what was typed stays, for us to see
        if self.is_inherited:
            self._editing[modes.INPUT] |= termios.ICRNL
            self._editing[modes.LOCAL] |= _LINE
        self._between = self._found

    def be_silent(self) -> None:
        """Echo nothing between two lines."""
        self._between = modes.copy(self._editing)
        self._between[modes.LOCAL] &= ~termios.ECHO
        modes.put(self._between)

    @contextmanager
    def echoing(self) -> Iterator[None]:
        """A line is typed in this block."""
        modes.put(self._editing)
        try:
            yield
        finally:
            modes.put(self._between)

    def drain(self) -> bytes:
        """Everything typed so far, half a line too; it is ours then."""
        now = modes.current()
        open_ = modes.copy(now)
        open_[modes.LOCAL] &= ~termios.ICANON
        open_[modes.CHARS][termios.VMIN] = open_[modes.CHARS][termios.VTIME] = 0
        modes.put(open_)
        try:
            typed = typed_ahead() + b"".join(iter(lambda: os.read(0, 1 << 12), b""))
        finally:
            modes.put(now)
        return _MARK_WITHIN.sub(b"", typed.replace(b"\r", b"\n"))

    def restore(self) -> None:
        """Put back the modes that were found."""
        modes.put(self._found)
