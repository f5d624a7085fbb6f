"""One conversation in one file to which lines are only ever added.

A record is one write at the end. What a crash or a full disk left of a line is moved to a `.torn` file
before the next record is written, so that no line ever holds two records.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mino_core import Head, HistoryError, Record

from . import lines, lock

_APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW


class FileLog:
    """The log of one conversation.

    With `head` the file does not exist yet: it comes into being with the first record, after the head
    and in the same write. `skipped` counts the lines without a record that `records` met last.
    """

    def __init__(self, path: Path, head: Head | None = None, *, write: bool = True) -> None:
        self.skipped = 0
        self._path = path
        self._head = head
        self._write = write
        self._fd = -1
        self._is_whole = True
        if write and head is None:
            self._open()

    def append(self, record: Record, durable: bool = True) -> None:
        """Keep one record; with `durable`, on stable storage. HistoryError with path and reason."""
        if not self._write:
            raise HistoryError(f"{self._path} is open for reading only")
        try:
            line = lines.dump(record)
            if self._head is not None:
                self._create(self._head, line)
            else:
                self._add(line)
            if durable:
                sync(self._fd)
        except OSError as error:
            raise trouble(self._path, "written", error) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise HistoryError(f"{self._path}: a record is not JSON: {error}") from error

    def records(self, reverse: bool = False) -> Iterator[Record]:
        """Every record, in order or from the end on; damaged lines are left out and counted."""
        self.skipped = 0
        if self._head is not None:
            return
        with self._reading() as file:
            for line in lines.backward(file) if reverse else file:
                if (record := lines.parse(line)) is not None:
                    yield record
                elif line.strip():
                    self.skipped += 1

    @contextmanager
    def _reading(self) -> Iterator[BinaryIO]:
        try:
            with self._opened() as file:
                yield file
        except OSError as error:
            raise trouble(self._path, "read", error) from error

    def _opened(self) -> BinaryIO:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            if self._fd < 0:
                raise
            return open(
                f"/dev/fd/{self._fd}", "rb"
            )  # removed, or in a folder that was renamed: we have it still

    def last(self, type: str) -> Record | None:
        """The last record of a type; the others are not parsed."""
        if self._head is not None:
            return None
        named = f'"{type}"'.encode()
        with self._reading() as file:
            likely = map(lines.parse, lines.backward(file, named))
            return next((record for record in likely if record and record["type"] == type), None)

    def holding(self, needle: lines.Needle) -> Iterator[Record]:
        """The records that may hold a text, oldest first; the others are not parsed."""
        with self._reading() as file:
            for line in needle.lines(file):
                if (record := lines.parse(line)) is not None:
                    yield record

    def close(self) -> None:
        """Let go of the file and of its lock."""
        self._write = False
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            lock.let_go(fd, self._path)

    def _open(self) -> None:
        try:
            fd = os.open(self._path, _APPEND)
            try:
                lock.take(fd, self._path)
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd
            self._mend()
        except OSError as error:
            self.close()
            raise trouble(self._path, "written", error) from error

    def _create(self, head: Head, line: bytes) -> None:
        folder = self._path.parent
        fd = self._begin(folder)
        try:
            lock.take(fd, self._path)
            _write(fd, lines.dump(head) + line)
        except BaseException:
            self._path.unlink()
            lock.let_go(fd, self._path)
            raise
        self._fd, self._head = fd, None
        sync_directory(folder)

    def _begin(self, folder: Path, tries: int = 3) -> int:
        """The new file. Who erases the last conversation of a folder meanwhile, erases the folder too."""
        make_directory(folder)
        if folder.is_symlink():
            raise HistoryError(f"{folder} is a link; conversations are kept in folders of their own")
        try:
            return os.open(self._path, _APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            if not tries:
                raise
            return self._begin(folder, tries - 1)

    def _add(self, line: bytes) -> None:
        if not os.fstat(self._fd).st_nlink:
            raise HistoryError(f"{self._path} was removed while it was open; /fork keeps it in a new file")
        if not self._is_whole:
            self._mend()
        self._is_whole = False
        _write(self._fd, line)
        self._is_whole = True

    def _mend(self) -> None:
        """Let the file end with a whole line."""
        if torn := lines.tail(self._fd):
            if lines.parse(torn):
                _write(self._fd, b"\n")
            else:
                self._set_aside(torn)
        self._is_whole = True

    def _set_aside(self, torn: bytes) -> None:
        aside = os.open(
            self._path.with_suffix(".torn"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600
        )
        try:
            _write(aside, torn + b"\n")
            sync(aside)
        finally:
            os.close(aside)
        os.ftruncate(self._fd, os.fstat(self._fd).st_size - len(torn))


def trouble(path: Path, what: str, error: OSError) -> HistoryError:
    """The sentence about a file that cannot be `what`: read, written, removed."""
    return HistoryError(f"{error.filename or path} cannot be {what}: {error.strerror or error}")


def make_directory(path: Path) -> None:
    """Make a directory for its owner alone, and those above it that are missing."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Put the names in a directory on stable storage."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync(fd: int) -> None:
    """Put what was written on stable storage; on macOS fsync alone leaves it in the drive's cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def _write(fd: int, data: bytes) -> None:
    """Write all of it: in one go, unless the disk is nearly full."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
