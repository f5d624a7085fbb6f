"""Which Markdown files are commands now: looked at anew each time, read anew where one has changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core import UsageError

from .command import FileCommand
from .markdown import Markdown
from .trust import trust

if TYPE_CHECKING:
    from mino_core import Command, Host, Session

#: What was made of each file, by its path, for as long as its size and its time are the same.
_made: dict[str, tuple[tuple[int, int, int], FileCommand]] = {}


def commands(host: Host, folder: Path) -> dict[str, Command]:
    """The user's own by their names; a project's with a name of theirs is reached as `project:NAME`."""
    found: dict[str, Command] = {"trust": trust}
    for name, entry in _files(str(folder), "", set()):
        if command := _command(entry):
            found.setdefault(_name(name), command)
    for name, of_project in _of_project(host):
        found[f"project:{name}" if name in found else name] = of_project
    return found


def _of_project(host: Host) -> Iterator[tuple[str, Command]]:
    project = host.trust.project()
    if project is None or not host.trust.was_given(project):
        return
    trusted = host.trust.decision(project)
    for name, data in project.commands.items():
        path = project.folder / "commands" / name
        command = FileCommand(path, Markdown.read(data)) if trusted else _changed(path)
        yield _name(name), command


def _changed(path: Path) -> Command:
    """What stands for a command of a project that was trusted as it was before."""

    def command(session: Session, rest: str) -> None:
        """Not trusted as it is now: /trust looks at it again."""
        raise UsageError(f"{path.parents[1]} has changed since you trusted it; /trust looks at it again")

    return command


def _name(path: str) -> str:
    """`dir/x.md` as `dir:x`; commands are in lower case and have no blanks."""
    return path.removesuffix(".md").replace("/", ":").replace(" ", "-").lower()


def _files(folder: str, name: str, seen: set[tuple[int, int]]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The Markdown files below a folder, in one order; a folder that is linked into itself is seen once."""
    try:
        here = os.stat(folder)
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
            yield from _files(entry.path, f"{name}{entry.name}/", seen)
        elif entry.name.endswith(".md"):
            yield name + entry.name, entry


def _command(entry: os.DirEntry[str]) -> FileCommand | None:
    """The command that a file is now; None where it cannot be read."""
    try:
        found = entry.stat()
        state = (found.st_mtime_ns, found.st_size, found.st_ino)
        if entry.path not in _made or _made[entry.path][0] != state:
            path = Path(entry.path)
            _made[entry.path] = state, FileCommand(path, Markdown.read(path.read_bytes()))
    except OSError:
        return None
    return _made[entry.path][1]
