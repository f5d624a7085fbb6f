"""One writer for one file: a lock that ends with its process, and its owner in words beside it."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from mino_core import Busy

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def take(fd: int, path: Path) -> None:
    """Lock an open file; Busy where another open file has it. Dead processes hold no lock.

    A file system without locks has none: two writers there still write whole lines.
    """
    words = path.with_suffix(".lock")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Busy(_read(words)) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        owner = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(owner, _me().encode())
        finally:
            os.close(owner)
    except OSError:
        pass  # only the words are missing; the lock holds without them


def let_go(fd: int, path: Path) -> None:
    """Close the file, and with it end the lock."""
    try:
        path.with_suffix(".lock").unlink()
    except OSError:
        pass  # it was never written, or somebody tidied up
    os.close(fd)


def _me() -> str:
    return f"process {os.getpid()} ({_terminal()} on {os.uname().nodename})"


def _terminal() -> str:
    for fd in (0, 1, 2):
        try:
            return os.ttyname(fd)
        except OSError:
            continue
    return "no terminal"


def _read(words: Path) -> str:
    try:
        text = words.read_text("utf-8", "replace")
    except OSError:
        text = ""
    return "".join(filter(str.isprintable, text))[:200] or "another process"
