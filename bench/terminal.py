"""A program on a pseudo-terminal that is drained as a terminal drains it, with the time of each piece."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence

from . import process

COLUMNS, ROWS = 100, 40
_ESCAPES = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
#: What a terminal answers; some programs do not begin before it has.
_QUESTIONS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[16t": b"\x1b[6;16;8t",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b[?996n": b"\x1b[?997;1n",
}


class Terminal:
    """`pieces` are what was read, each with its time in nanoseconds; `began` is when it was started.

    `spent` is the CPU that the program itself had used when the last piece came, in seconds.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
        self.pieces: list[tuple[int, bytes]] = []
        self.ended = False
        self.spent = 0.0
        self.began = time.monotonic_ns()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                os.execvpe(argv[0], list(argv), dict(env))
            finally:
                os._exit(127)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._fd, False)

    @property
    def size(self) -> int:
        """Bytes so far."""
        return sum(len(data) for _, data in self.pieces)

    def type(self, text: str) -> None:
        """Press keys."""
        self._send(text.encode())

    def _send(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                self._take(0.01)
            except OSError:
                self.ended = True
                return

    def _take(self, seconds: float) -> bytes:
        if not process.readable(self._fd, seconds):
            return b""
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return b""
        self.pieces.append((time.monotonic_ns(), data))
        self.spent = process.cpu([self.pid])  # now: while we look at it, the program goes on
        if b"\x1b" in data:
            for question, answer in _QUESTIONS.items():
                self._send(answer * data.count(question))
        return data

    def wait_for(self, pattern: str, seconds: float = 30.0, *, since: int = 0) -> int | None:
        """When a text was on the screen, as a time in nanoseconds; None where it never came.

        Escape sequences are left out. `since` is the first piece that counts.
        """
        wanted = re.compile(pattern.encode(), re.DOTALL)
        seen = b"".join(data for _, data in self.pieces[since:])
        deadline = time.monotonic() + seconds
        while not wanted.search(_ESCAPES.sub(b"", seen[-20_000:])):
            if self.ended or time.monotonic() > deadline:
                return None
            seen += self._take(0.05)
        return self.pieces[-1][0] if self.pieces else None

    def wait_bytes(self, wanted: bytes, seconds: float) -> int | None:
        """As `wait_for`, for bytes as they come: cheap enough for a long answer."""
        tail = b""
        deadline = time.monotonic() + seconds
        while not self.ended and time.monotonic() < deadline:
            tail = tail[-64:] + self._take(0.05)
            if wanted in tail:
                return self.pieces[-1][0]
        return None

    def settle(self, quiet: float, most: float = 5.0) -> None:
        """Wait until nothing was drawn for `quiet` seconds."""
        deadline = time.monotonic() + most
        last = time.monotonic()
        while not self.ended and last < deadline and time.monotonic() - last < quiet:
            if self._take(0.02):
                last = time.monotonic()

    def close(self) -> None:
        """End the program."""
        for signum in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, signum)
            except ProcessLookupError:
                break
            deadline = time.monotonic() + 1.0
            while time.monotonic() < deadline:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    os.close(self._fd)
                    return
                self._take(0.02)
        os.close(self._fd)
