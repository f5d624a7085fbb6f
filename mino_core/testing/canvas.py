"""A screen to draw on in a test, and what was drawn there."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import threading
from collections.abc import Callable, Mapping
from typing import Self

from mino_core.screen import Screen

from .launcher import MARK

_PATIENCE = 20.0
_ENVIRON = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


class Canvas:
    """`canvas.screen` is a Screen on a terminal of its own, or in a pipe with `terminal=False`.

    What was drawn is read from the other end; each look first waits until all that was written
    has arrived.
    """

    def __init__(
        self,
        columns: int = 80,
        rows: int = 24,
        *,
        terminal: bool = True,
        environ: Mapping[str, str] = _ENVIRON,
    ) -> None:
        from .paper import Paper

        self._paper = Paper(columns, rows, lambda data: None)
        if terminal:
            near, far = os.openpty()
            self._resize(far, columns, rows)
            self._out = self._err = _Reader(near, far, self._paper.feed)
        else:
            self._out = _Reader(*os.pipe(), self._paper.feed)
            self._err = _Reader(*os.pipe(), lambda data: None)
            environ = {**environ, "COLUMNS": str(columns), "LINES": str(rows)}
        self.screen = Screen(self._out.far, self._err.far, environ, encoding="utf-8")

    @property
    def raw(self) -> bytes:
        """Every byte written to the screen."""
        return self._out.all()

    @property
    def aside(self) -> bytes:
        """Every byte that went to standard error; on a terminal none, there it is the screen."""
        return b"" if self._err is self._out else self._err.all()

    @property
    def lines(self) -> list[str]:
        """The visible rows, without trailing blanks."""
        self._out.all()
        return self._paper.lines

    @property
    def scrollback(self) -> list[str]:
        """The rows that scrolled off the top, oldest first."""
        self._out.all()
        return self._paper.scrollback

    @property
    def text(self) -> str:
        """Scrollback and visible rows in one piece, without blank rows at the end."""
        return "\n".join([*self.scrollback, *self._paper.lines]).rstrip("\n")

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        self._out.all()
        return self._paper.cursor

    @property
    def private_modes(self) -> frozenset[int]:
        """The numbers of the private modes that are on; `{7, 25}` at the start."""
        self._out.all()
        return self._paper.modes

    @property
    def pen_is_plain(self) -> bool:
        """Whether what is written next has no colour and no weight."""
        self._out.all()
        return self._paper.pen_is_plain

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self._out.all()
        self._paper.resize(columns, rows)
        self._resize(self._out.far, columns, rows)

    def close(self) -> None:
        """Give everything back."""
        self.screen.close()
        for reader in {self._out, self._err}:
            reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @staticmethod
    def _resize(fd: int, columns: int, rows: int) -> None:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class _Reader:
    """Reads one end, in a thread, so that whoever writes to the other never waits."""

    def __init__(self, near: int, far: int, take: Callable[[bytes], object]) -> None:
        self.far = far
        self._near = near
        self._take = take
        self._came = bytearray()
        self._marks = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._near, 1 << 16)
            except OSError:  # a terminal whose other end is closed
                return
            if not data:
                return
            with self._changed:
                self._came += data
                self._take(data)
                self._changed.notify_all()

    def all(self) -> bytes:
        """Everything written so far."""
        with self._changed:
            self._marks += 1
            os.write(self.far, MARK)
            if not self._changed.wait_for(lambda: self._came.count(MARK) >= self._marks, _PATIENCE):
                raise AssertionError("what was written to the screen never arrived")
            return bytes(self._came).replace(MARK, b"")

    def close(self) -> None:
        os.close(self.far)
        self._thread.join(_PATIENCE)
        os.close(self._near)
