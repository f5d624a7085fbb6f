"""What a plugin may leave behind in the process, put right: standard descriptors, what fails unasked."""

from __future__ import annotations

import _thread
import os
import sys
from typing import Any

from mino_core import interrupts
from mino_core.faults import one_line, reason

_NAMES = ("standard input", "standard output", "standard error")


class Descriptors:
    """The three descriptors that everybody knows, as they are now; `restore` makes them so again."""

    def __init__(self) -> None:
        self._kept = [(os.dup(fd), _what(fd)) for fd in range(3)]

    def restore(self) -> str:
        """Which of them are something else by now, in words; they are put back."""
        changed = [fd for fd, (_, what) in enumerate(self._kept) if _what(fd) != what]
        for fd in changed:
            os.dup2(self._kept[fd][0], fd)
        return " and ".join(_NAMES[fd] for fd in changed)

    def close(self) -> None:
        """Let the copies go."""
        for copy, _ in self._kept:
            os.close(copy)


def _what(fd: int) -> tuple[int, int] | None:
    """What a descriptor leads to; None where it is closed."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def hear() -> None:
    """Let what nobody can catch say so on one line: a failing thread, a destructor, an end of the program."""
    here: Any = _thread
    here._excepthook = _thread_failed  # noqa: SLF001 (threading takes it from there, where it is imported)
    threading: Any = sys.modules.get("threading")
    if threading is not None and threading.excepthook is threading.__excepthook__:
        threading.excepthook = _thread_failed
    interrupts.unraised = unraised


def unraised(failed: sys.UnraisableHookArgs) -> None:
    """Tell of an error that Python itself swallows."""
    _tell(getattr(failed.object, "__qualname__", "") or type(failed.object).__name__, failed.exc_value)


def _thread_failed(failed: Any) -> None:
    if not isinstance(failed.exc_value, SystemExit):
        _tell(f"the thread {failed.thread.name if failed.thread else 'without a name'}", failed.exc_value)


def _tell(what: str, error: BaseException | None) -> None:
    if error is not None:
        sys.stderr.write(f"Warning: {one_line(what)} failed: {reason(error)}\n")
