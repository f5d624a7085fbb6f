"""Stands between mino and the disk: counts what touches a folder, and at one moment ends all, or fails.

A plan is a mapping:

    {"root": FOLDER, "at": N, "how": "before" | "torn" | "after"}   SIGKILL at touch number N: instead of
                                                                    it, in the middle of it, behind it
    {"root": FOLDER, "at": N, "fail": ERRNO, "calls": [...], "times": M}   from touch N on, the next M
                                                                    of these calls fail (-1: all of them)
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, Self

#: What touches the disk. Each takes a descriptor or a path first.
TOUCHES = (
    *("open", "write", "fsync", "fdatasync", "ftruncate", "close"),
    *("mkdir", "rename", "replace", "unlink", "rmdir"),
)


class Shim:
    """Takes the place of the calls in `os`, and of `open`; `touches` are the names of those that came."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.touches: list[str] = []
        self._root = os.path.realpath(plan["root"])
        self._inside: set[int] = set()
        self._left = int(plan.get("times", 0))
        self._real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in TOUCHES}
        self._open = io.open

    def install(self) -> None:
        """From here on every call passes here."""
        for name in TOUCHES:
            setattr(os, name, self._stand_in(name))
        io.open = builtins.open = self._file  # type: ignore[assignment]
        if self.plan.get("sqlite"):
            self._install_sqlite()

    def _install_sqlite(self) -> None:
        """SQLite writes without `os`: each statement is a touch."""
        import sqlite3

        shim, connect = self, sqlite3.connect

        class Passing(sqlite3.Connection):
            def execute(self, *args: Any) -> Any:
                return shim.statement(super().execute, *args)

            def executemany(self, *args: Any) -> Any:
                return shim.statement(super().executemany, *args)

        sqlite3.connect = lambda *args, **kwargs: connect(*args, factory=Passing, **kwargs)  # type: ignore[assignment]

    def statement(self, execute: Callable[..., Any], *args: Any) -> Any:
        """One statement of SQLite."""
        import sqlite3

        self._real["execute"] = execute
        try:
            return self._touch("execute", *args)
        except OSError as error:
            raise sqlite3.OperationalError(error.strerror) from error

    def _stand_in(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._is_inside(args[0]):
                return self._real[name](*args, **kwargs)
            return self._touch(name, *args, **kwargs)

        return call

    def _is_inside(self, what: object) -> bool:
        if isinstance(what, int):
            return what in self._inside
        return os.path.abspath(os.fsdecode(what)).startswith(self._root)  # type: ignore[arg-type]

    def _touch(self, name: str, *args: Any, **kwargs: Any) -> Any:
        now = len(self.touches)
        self.touches.append(name)
        if now >= self.plan.get("at", 1 << 30):
            self._strike(now, name, *args, **kwargs)
        if name in ("fsync", "fdatasync"):
            return None  # a process that is killed loses nothing of what it wrote: only a power cut would
        result = self._real[name](*args, **kwargs)
        if name == "open":
            self._inside.add(result)
        elif name == "close":
            self._inside.discard(args[0])
        return result

    def _strike(self, now: int, name: str, *args: Any, **kwargs: Any) -> None:
        if "fail" in self.plan:
            if self._left and name in self.plan["calls"]:
                self._left -= 1
                if name == "write" and self.plan["fail"] == errno.ENOSPC:
                    self._half(*args)
                raise OSError(self.plan["fail"], os.strerror(self.plan["fail"]))
        elif now == self.plan["at"]:
            try:
                if self.plan["how"] == "torn" and name == "write":
                    self._half(*args)
                elif self.plan["how"] == "after":
                    self._real[name](*args, **kwargs)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)

    def _half(self, fd: int, data: bytes) -> None:
        self._real["write"](fd, bytes(data)[: len(data) // 2])

    def _file(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """`open`, so that what is written through it passes here too."""
        if not set(mode) & set("wax+") or not self._is_inside(file):
            return self._open(file, mode, *args, **kwargs)
        if not isinstance(file, int):
            kwargs["opener"] = lambda path, flags: os.open(path, flags, 0o666)
        return _Passing(self, self._open(file, mode, *args, **kwargs))


class _Passing:
    """A file whose bytes go through `os.write`, unbuffered."""

    def __init__(self, shim: Shim, file: Any) -> None:
        self._shim = shim
        self._file = file

    def write(self, text: Any) -> int:
        os.write(self._file.fileno(), text.encode() if isinstance(text, str) else text)
        return len(text)

    def close(self) -> None:
        self._shim._inside.discard(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
