"""A program on a real pseudo-terminal, and everything it drew there."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from . import launcher
from .keys import pasted, pressed

#: Seconds that anything here waits before it gives up and the test fails.
PATIENCE = 20.0
#: How often a predicate is asked again though nothing was drawn, in seconds.
_LOOK = 0.05

_T = TypeVar("_T")


class Terminal:
    """Runs `argv` in the foreground of a terminal of its own, until the end of the block.

    It is drawn all the time, in a thread, so that the program never waits for the test, unless the
    test calls `pause`. At the end of the block the program's process group is killed.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
        cwd: str | Path | None = None,
    ) -> None:
        from .paper import Paper

        self._argv = list(argv)
        self._raw = bytearray()
        self._changed = threading.Condition(threading.RLock())
        self._paper = Paper(columns, rows, self._send)
        self._reading = threading.Event()
        self._reading.set()
        self._ended = False
        self._status: int | None = None
        self._master, slave = os.openpty()
        os.set_blocking(self._master, False)
        _set_size(self._master, columns, rows)
        #: The terminal's attributes before the program began.
        self.modes_at_start = termios.tcgetattr(slave)
        self._socket, theirs = socket.socketpair()
        start = [sys.executable, "-I", "-S", launcher.__file__, str(theirs.fileno()), os.ttyname(slave)]
        self._launcher = subprocess.Popen(
            [*start, *self._argv],
            env=dict(env),
            cwd=cwd or env.get("HOME"),
            start_new_session=True,
            pass_fds=[theirs.fileno()],
        )
        self._slave = slave
        theirs.close()
        self._reports = self._socket.makefile("rb")
        self.pid = int(self._reports.readline() or b"0")
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    # -- drawing -------------------------------------------------------------------------------

    def _read(self) -> None:
        while True:
            select.select([self._master], [], [])
            self._reading.wait()
            try:
                data = os.read(self._master, 1 << 16)
            except BlockingIOError:
                continue
            except OSError:  # the launcher has gone, and the terminal with it
                data = b""
            with self._changed:
                self._raw += data
                if data:
                    self._paper.feed(data)
                if not data or (not self._ended and launcher.MARK in self._raw[-len(data) - 64 :]):
                    self._ended = True
                self._changed.notify_all()
            if not data:
                return

    def pause(self) -> None:
        """Draw nothing more until `resume`, like a terminal that is too slow."""
        self._reading.clear()

    def resume(self) -> None:
        """Go on drawing."""
        self._reading.set()

    # -- what is there -------------------------------------------------------------------------

    @property
    def raw(self) -> bytes:
        """Every byte that the program wrote so far."""
        with self._changed:
            return bytes(self._raw).replace(launcher.MARK, b"")

    @property
    def lines(self) -> list[str]:
        """The visible rows, without trailing blanks."""
        with self._changed:
            return self._paper.lines

    screen = lines

    @property
    def scrollback(self) -> list[str]:
        """The rows that scrolled off the top, oldest first."""
        with self._changed:
            return self._paper.scrollback

    @property
    def text(self) -> str:
        """Scrollback and visible rows in one piece, without blank rows at the end."""
        with self._changed:
            return "\n".join([*self._paper.scrollback, *self._paper.lines]).rstrip("\n")

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        with self._changed:
            return self._paper.cursor

    @property
    def private_modes(self) -> frozenset[int]:
        """The numbers of the private modes that are on; `{7, 25}` in a fresh terminal."""
        with self._changed:
            return self._paper.modes

    @property
    def modes(self) -> list[Any]:
        """The terminal's attributes right now, as of `termios.tcgetattr`."""
        return termios.tcgetattr(self._slave)

    # -- waiting -------------------------------------------------------------------------------

    def wait_for(self, text: str, timeout: float = PATIENCE, count: int = 1) -> None:
        """Return once `text` is there, in the scrollback or on the screen, `count` times."""

        def there() -> bool:
            return self.text.count(text) >= count

        times = "" if count == 1 else f" {count} times"
        self.wait_until(there, timeout, f"{text!r} to be shown{times}")

    def wait_until(self, predicate: Callable[[], _T], timeout: float = PATIENCE, what: str = "") -> _T:
        """What `predicate()` returns, once it is true. `what` describes it in a failure."""
        until = time.monotonic() + timeout
        with self._changed:
            while True:
                ended = self._ended  # looked at first: nothing is drawn after the end
                if value := predicate():
                    return value
                if ended or time.monotonic() > until:
                    why = "the program has ended" if ended else f"{timeout:g} s went by"
                    raise AssertionError(f"waited for {what or predicate}, but {why}\n{self.dump()}")
                self._changed.wait(_LOOK)

    def wait_exit(self, timeout: float = PATIENCE) -> int:
        """The program's exit code, or minus the signal that ended it, once all is drawn."""
        self.resume()
        if self._status is None:
            self._socket.settimeout(timeout)
            try:
                self._status = int(self._reports.readline() or b"0")
            except TimeoutError:
                raise AssertionError(f"the program still runs after {timeout:g} s\n{self.dump()}") from None
            with self._changed:
                self._changed.wait_for(lambda: self._ended, timeout)
        return os.waitstatus_to_exitcode(self._status)

    # -- acting --------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        r"""Send these letters as they are; Enter is `\r`."""
        self._send(text.encode())

    def press(self, *keys: str) -> None:
        """Press keys by name: `enter`, `up`, `ctrl-c`, `alt-enter`, `shift-tab`, `page-up`, ..."""
        for key in keys:
            self._send(pressed(key, self.private_modes).encode())

    def paste(self, text: str) -> None:
        """Paste as a terminal does: between brackets where the program asked for them."""
        self._send(pasted(text, self.private_modes).encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size; the program gets SIGWINCH."""
        with self._changed:
            self._paper.resize(columns, rows)
            _set_size(self._master, columns, rows)

    def signal(self, signum: int) -> None:
        """Send a signal to the program alone."""
        os.kill(self.pid, signum)

    def _send(self, data: bytes) -> None:
        until = time.monotonic() + PATIENCE
        while data:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                if time.monotonic() > until:
                    raise AssertionError(f"the program takes no more keys\n{self.dump()}") from None
                select.select([], [self._master], [], _LOOK)

    # -- looking -------------------------------------------------------------------------------

    def dump(self) -> str:
        """The screen as it is, in a frame, for a failure's text."""
        with self._changed:
            above, lines, (row, column) = self.scrollback, self.lines, self.cursor
            width = self._paper.columns
        frame = "+" + "-" * width + "+"
        shown = [*(f"^{line}" for line in above), frame, *(f"|{line}" for line in lines), frame]
        return "\n".join([f"$ {' '.join(self._argv)}", *shown, f"cursor in row {row}, column {column}"])

    def svg(self, path: str | Path, *, scrollback: bool = False, light: bool = False) -> None:
        """Draw the screen as it is into a file, with everything above it if asked for."""
        from .picture import DARK, LIGHT, svg

        with self._changed:
            picture = svg(self._paper.cells(scrollback), self._paper.columns, LIGHT if light else DARK)
        Path(path).write_text(picture, encoding="utf-8")

    # -- the end -------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill what is left of the program, and give the terminal back."""
        self.resume()
        if self.pid:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # macOS says the latter of a zombie
                pass
        os.close(self._slave)
        self._reports.close()
        self._socket.close()  # lets the launcher go
        try:
            self._launcher.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # the program left its process group
            os.kill(self.pid, signal.SIGKILL)
            self._launcher.wait()
        self._thread.join()
        os.close(self._master)


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
