"""Which Markdown files are commands now: looked at anew each time, read anew where one has changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mino_core import UsageError

from .command import FileCommand
from .markdown import Markdown
from .trust import trust

if TYPE_CHECKING:
    from mino_core import Command, Host, Session

#: What was read, by path, as long as the file is the same by its size and its time.
_read: dict[Path, tuple[tuple[int, int, int], Markdown]] = {}


def commands(host: Host, folder: Path) -> dict[str, Command]:
    """The user's own by their names; a project's with a name of theirs is reached as `project:NAME`."""
    found: dict[str, Command] = {"trust": trust}
    for path in _files(folder, set()):
        if markdown := _markdown(path):
            found.setdefault(_name(PurePosixPath(path.relative_to(folder))), FileCommand(path, markdown))
    for name, command in _of_project(host):
        found[f"project:{name}" if name in found else name] = command
    return found


def _of_project(host: Host) -> Iterator[tuple[str, Command]]:
    project = host.trust.project()
    if project is None or not host.trust.was_given(project):
        return
    trusted = host.trust.decision(project)
    for name, data in project.commands.items():
        path = project.folder / "commands" / name
        command = FileCommand(path, Markdown.read(data)) if trusted else _changed(path)
        yield _name(PurePosixPath(name)), command


def _changed(path: Path) -> Command:
    """What stands for a command of a project that was trusted as it was before."""

    def command(session: Session, rest: str) -> None:
        """Not trusted as it is now: /trust looks at it again."""
        raise UsageError(f"{path.parents[1]} has changed since you trusted it; /trust looks at it again")

    return command


def _name(path: PurePosixPath) -> str:
    """`dir/x.md` as `dir:x`; commands are in lower case and have no blanks."""
    return ":".join(path.with_suffix("").parts).lower().replace(" ", "-")


def _files(folder: Path, seen: set[tuple[int, int]]) -> Iterator[Path]:
    """The Markdown files below a folder in one order; a folder that is linked into itself is seen once."""
    try:
        here = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    if (here.st_dev, here.st_ino) in seen:
        return
    seen.add((here.st_dev, here.st_ino))
    for entry in entries:
        if entry.name[0] in "._":
            continue
        if entry.is_dir():
            yield from _files(folder / entry.name, seen)
        elif entry.name.endswith(".md") and entry.is_file():
            yield folder / entry.name


def _markdown(path: Path) -> Markdown | None:
    """What a file holds now; None where it cannot be read."""
    try:
        found = path.stat()
        state = (found.st_mtime_ns, found.st_size, found.st_ino)
        if path not in _read or _read[path][0] != state:
            _read[path] = state, Markdown.read(path.read_bytes())
    except OSError:
        return None
    return _read[path][1]
