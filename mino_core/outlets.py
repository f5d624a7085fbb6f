"""What is printed past the renderer: `print` in a plugin, a library's warning, a thread's trace.

While a session runs, `sys.stdout` and `sys.stderr` are line writers. On a terminal their lines
queue up as notices, from any thread, and the session shows them between two events; where
standard output is no terminal they go to descriptor 2, so that nothing reaches an answer in a pipe.
"""

from __future__ import annotations

import io
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .screen import sanitise
from .secret import mask

#: Lines that wait for the main thread.
_queue: deque[str] = deque()
#: Called, from any thread, when there is a new one and the main thread waits for a key.
wake: Callable[[], None] | None = None


def waiting() -> bool:
    """Whether `drain` would yield something; cheap enough for every delta."""
    return bool(_queue)


def drain() -> Iterator[str]:
    """The lines that were printed since the last time, on the main thread."""
    while _queue:
        yield _queue.popleft()


class LineWriter(io.TextIOBase):
    """A text stream without a buffer and without a descriptor, whose lines go to `_queue`."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self._open_line = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._open_line = (self._open_line + text).split("\n")
        _queue.extend(lines)
        if lines and wake is not None:
            wake()
        return len(text)

    def end(self) -> None:
        """Queue a last line that has no newline."""
        if self._open_line:
            _queue.append(self._open_line)
            self._open_line = ""


class ToStandardError(io.TextIOBase):
    """`print` in a pipe: straight to descriptor 2."""

    encoding = "utf-8"
    errors = "replace"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        to_standard_error(text)
        return len(text)


def to_standard_error(text: str) -> None:
    """Write a text to descriptor 2: secrets masked, and safe where that is a terminal."""
    text = mask(text)
    try:
        if os.isatty(2):
            text = sanitise(text)
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        pass  # nobody reads standard error; there is no other place to say so


@contextmanager
def guarded() -> Iterator[None]:
    """Stand in for `sys.stdout`, and for `sys.stderr` on a terminal, during this block.

    Both are put back, and what still waits goes to descriptor 2, before an exception leaves.
    """
    before = sys.stdout, sys.stderr
    on_terminal = os.isatty(1)
    writers = [LineWriter() for _ in before]
    sys.stdout = writers[0] if on_terminal else ToStandardError()
    if on_terminal and os.isatty(2):
        sys.stderr = writers[1]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for writer in writers:
            writer.end()
        for line in drain():
            to_standard_error(line + "\n")
