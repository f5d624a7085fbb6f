"""What a running tool gets: a way to say something, the roots, and children that end with it."""

from __future__ import annotations

import codecs
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mino_core import interrupts
from mino_core.secret import without_keys

if TYPE_CHECKING:
    from subprocess import Popen

#: Bytes of a child's output that are kept: half of them from its beginning, half from its end.
KEPT = 100_000
#: Seconds between two looks at a child that says nothing, and for a child to end when told to.
_LOOK, _GRACE = 0.1, 1.0


class Ran(NamedTuple):
    """How a child ended. `code` is negative for a signal; `output` is what it wrote to both outputs."""

    code: int
    output: str
    timed_out: bool = False


class ToolContext:
    """Given to a tool whose function has a parameter with this annotation.

    `roots` are the directories it may work in, the first one being where it is. `cancelled` becomes
    true when the user stops the tool, for threads that it may have started.
    """

    def __init__(
        self, output: Callable[[str], None] = lambda text: None, roots: Sequence[Path] | None = None
    ) -> None:
        self._output = output
        self.roots = tuple(roots) if roots is not None else (Path.cwd(),)
        self.cancelled = False

    def output(self, text: str) -> None:
        """Show the user what is going on, from the main thread; the model does not see it."""
        with interrupts.held():  # a renderer writes
            self._output(text)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        timeout: float | None = None,
        input: str = "",
    ) -> Ran:
        """Run a program to its end, showing its output as it comes.

        It is in a process group of its own, all of which is killed when the user stops the tool or
        after `timeout` seconds. It has the environment but for keys. OSError where it cannot be started.
        """
        import subprocess

        if cwd is None and self.roots:
            cwd = self.roots[0]
        kept = _Kept(self.output)
        deadline = None if timeout is None else time.monotonic() + timeout
        child: Popen[bytes] | None = None
        try:
            with interrupts.held():  # a Ctrl-C in here would leave a child that nobody knows
                child = subprocess.Popen(
                    list(argv),
                    cwd=cwd,
                    env=without_keys(os.environ),
                    stdin=subprocess.PIPE if input else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            ended = _converse(child, input.encode("utf-8", "replace"), kept.add, deadline)
        except BaseException:
            self.cancelled = True
            raise
        finally:
            if child is not None:
                _let_go(child)
        return Ran(child.returncode, kept.end(), timed_out=not ended)


def _let_go(child: Popen[bytes]) -> None:
    if child.poll() is None:
        _kill(child)
    for pipe in filter(None, (child.stdin, child.stdout)):
        pipe.close()


class _Kept:
    """The beginning and the end of a child's output, as text."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail = bytearray()
        self._lost = 0

    def add(self, data: bytes) -> None:
        if text := self._decoder.decode(data):
            self._show(text)
        room = KEPT // 2 - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (over := len(self._tail) - KEPT // 2) > 0:
            del self._tail[:over]
            self._lost += over

    def end(self) -> str:
        if text := self._decoder.decode(b"", final=True):
            self._show(text)
        gap = f"\n[{self._lost} bytes left out]\n".encode() if self._lost else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")


def _converse(child: Popen[bytes], data: bytes, add: Callable[[bytes], None], deadline: float | None) -> bool:
    """Write the input and read the output until the child is done; False where it was too slow.

    A child that ended while its own children hold the pipe is done once the pipe is silent.
    """
    assert child.stdout is not None
    reading = child.stdout.fileno()
    writing = None if child.stdin is None else child.stdin.fileno()
    for fd in filter(None, (reading, writing)):
        os.set_blocking(fd, False)
    while deadline is None or time.monotonic() < deadline:
        can_read, can_write, _ = select.select([reading], [writing] if writing else [], [], _LOOK)
        if can_write and writing is not None:
            try:
                data = data[os.write(writing, data) :]
            except BrokenPipeError:
                data = b""  # it does not want to know the rest
            if not data and child.stdin is not None:
                child.stdin.close()
                writing = None
        if can_read:
            if not (said := os.read(reading, 65_536)):
                return _wait(child, deadline)
            add(said)
        elif child.poll() is not None and not select.select([reading], [], [], 0)[0]:
            return True  # looked at again, since it may have spoken between the two looks
    return False


def _wait(child: Popen[bytes], deadline: float | None) -> bool:
    from subprocess import TimeoutExpired

    try:
        child.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
    except TimeoutExpired:
        return False
    return True


def _kill(child: Popen[bytes]) -> None:
    """End the whole group: asked first, made to after a second."""
    from subprocess import TimeoutExpired

    for signum in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, signum)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended, or (macOS) is just ending
        try:
            child.wait(_GRACE)
        except TimeoutExpired:
            continue
        break
