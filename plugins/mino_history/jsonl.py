"""Conversations as files, one folder for each directory they belong to.

`history/<directory>/<time>-<id>.jsonl`. The id finds a conversation; folder and time are for people.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mino_core import Head, HistoryError, Log, Record

from . import lines, lock
from .file import FileLog, sync_directory, trouble
from .rules import check_format, check_id, unknown

_NAME = re.compile(r"(?:.*-)?([0-9A-Z]{26})\.jsonl")
_LONGEST_HEAD = 65536
_LONGEST_FOLDER = 60


class _Found(NamedTuple):
    written: int  # in nanoseconds since 1970
    id: str
    path: str


class Jsonl:
    """A history under one directory, which comes into being with the first conversation."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: dict[str, _Found] = {}  # by id: whoever lists conversations then opens them

    def conversations(self) -> Iterator[Head]:
        """The heads, the conversation written to last first.

        Where a head cannot be read, what the file's name tells stands in for it, with the reason as
        `damaged`.
        """
        for found in self._newest_first():
            yield _head(found)

    def search(self, text: str) -> Iterator[tuple[Head, Iterator[Record]]]:
        """The conversations that may hold a text, each with the records that may, oldest first."""
        needle = lines.Needle(text)
        for found in self._newest_first():
            log = FileLog(Path(found.path), write=False)
            try:
                records = log.holding(needle)
                if (first := next(records, None)) is not None:
                    yield _head(found), chain([first], records)
            except HistoryError:
                yield _head(found), log.holding(needle)  # who reads it is told

    def open(self, id: str, head: Head | None = None, write: bool = True) -> Log:
        """A log; HistoryError where there is none, Busy where another process writes it."""
        check_id(id)
        if head is not None:
            return FileLog(self._root / _folder(head) / f"{_stamp(head)}-{id}.jsonl", head, write=write)
        found = self._find(id)
        if write:
            check_format(_head(found))
        return FileLog(Path(found.path), write=write)

    def remove(self, id: str) -> None:
        """Erase one conversation; HistoryError where there is none, Busy where another writes it."""
        check_id(id)
        files = sorted(self._files(id))
        if not files:
            raise unknown(id)
        for found in files:
            _erase(Path(found.path))

    def _newest_first(self) -> list[_Found]:
        files = list(self._files())
        at = Counter(found.written for found in files)

        def order(found: _Found) -> tuple[int, str, str]:
            # The clock of a file system may stand still for seconds.
            return found.written, _last(found) if at[found.written] > 1 else "", found.id

        listed = sorted(files, key=order, reverse=True)
        self._seen = {}
        for found in listed:  # of copies in several folders, the one written to last is the conversation
            self._seen.setdefault(found.id, found)
        return list(self._seen.values())

    def _find(self, id: str) -> _Found:
        if id in self._seen and os.path.exists(self._seen[id].path):
            return self._seen[id]
        if files := list(self._files(id)):
            return max(files)
        raise unknown(id)

    def _files(self, wanted: str | None = None) -> Iterator[_Found]:
        """The files that hold conversations, in no order; links are none of ours."""
        try:
            with os.scandir(self._root) as folders:
                for folder in folders:
                    if folder.is_dir(follow_symlinks=False):
                        yield from _conversations(folder.path, wanted)
        except FileNotFoundError:
            return
        except OSError as error:
            raise trouble(self._root, "read", error) from error


def _conversations(folder: str, wanted: str | None) -> Iterator[_Found]:
    try:
        entries = list(os.scandir(folder))
    except (PermissionError, FileNotFoundError):
        return  # one folder that is closed to us, or that somebody just erased, does not hide the others
    for entry in entries:
        name = _NAME.fullmatch(entry.name)
        if not name or wanted not in {None, name[1]} or not entry.is_file(follow_symlinks=False):
            continue
        try:
            state = entry.stat()
        except FileNotFoundError:
            continue
        if state.st_size:
            yield _Found(state.st_mtime_ns, name[1], entry.path)


def _erase(path: Path) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            lock.take(fd, path)
        except BaseException:
            os.close(fd)
            raise
        try:
            path.with_suffix(".torn").unlink(missing_ok=True)
            path.unlink()
            with suppress(FileNotFoundError):  # another process erased the folder, and with it the name
                sync_directory(path.parent)
        finally:
            lock.let_go(fd, path)
    except OSError as error:
        raise trouble(path, "removed", error) from error
    try:
        path.parent.rmdir()
    except OSError:
        pass  # it holds other conversations


def _last(found: _Found) -> str:
    """The id of the last record, which tells what was written later."""
    try:
        last = next(FileLog(Path(found.path), write=False).records(reverse=True), None)
    except HistoryError:
        return ""
    return str(last.get("id", "")) if last else ""


def _head(found: _Found) -> Head:
    try:
        with Path(found.path).open("rb") as file:
            head = lines.parse(file.readline(_LONGEST_HEAD))
        damage = "its first line is not a head"
    except OSError as error:
        head, damage = None, error.strerror or str(error)
    if head is not None and head["type"] == "head":
        return {"directory": "", **head, "id": found.id}
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.written / 1e9))
    return {"id": found.id, "time": written, "type": "head", "directory": "", "damaged": damage}


def _folder(head: Head) -> str:
    """The end of the directory's path, as one name that every file system takes."""
    words = re.findall(r"[\w.]+", str(head.get("directory", "")))
    name = "-".join(words)[-_LONGEST_FOLDER:].lstrip("-.")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        name = name.encode("ascii", "ignore").decode()
    return name or "root"


def _stamp(head: Head) -> str:
    return "".join(re.findall(r"[0-9T]", str(head.get("time", ""))[:19])) + "Z"
