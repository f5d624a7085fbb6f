"""A project's own folder `.mino`: what is in it, and what stands for exactly that.

Only `commands/` and `plugins/` count, never a configuration. The real path of the folder stands for
it, together with a hash over every name and every content below the two: a change of either ends
the trust. Links are hashed as links and never followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from mino_core.values import value

_FOLDERS = ("commands", "plugins")
#: Nobody reads more than this before trusting it: files, and bytes.
MOST_FILES, MOST_BYTES = 500, 5 << 20


@value
class Project:
    """The folder of one project, as it was when it was looked at.

    `folder` is its real path, `files` the bytes of each file by its name below the folder, `digest`
    stands for all of them. `problem` says why it can never be trusted, or is empty.
    """

    folder: Path
    files: Mapping[str, bytes]
    digest: str
    problem: str = ""

    @property
    def commands(self) -> dict[str, bytes]:
        """The Markdown files that are commands, by their names below `commands/`."""
        return {
            name.partition("/")[2]: data
            for name, data in self.files.items()
            if name.startswith("commands/") and name.endswith(".md")
        }

    @property
    def plugins(self) -> dict[Path, bytes]:
        """The files that are plugins, by their whole paths."""
        found = {PurePosixPath(name): data for name, data in self.files.items()}
        return {
            self.folder / name: data
            for name, data in found.items()
            if name.parent == PurePosixPath("plugins") and name.suffix == ".py" and name.name[0] not in "._"
        }


def read(folder: Path) -> Project | None:
    """What is in a folder now; None where nothing in it counts or it cannot be read."""
    from hashlib import sha256

    folder = Path(os.path.realpath(folder))
    files: dict[str, bytes] = {}
    total, count = 0, 0
    digest = sha256()
    try:
        for name, kind, data in _entries(folder):
            total, count = total + len(data), count + 1
            if count > MOST_FILES or total > MOST_BYTES:
                return Project(
                    folder, {}, "", f"it has more than {MOST_FILES} files or {MOST_BYTES >> 20} MB"
                )
            for piece in (os.fsencode(name), kind, data):
                digest.update(len(piece).to_bytes(8, "big") + piece)
            if kind == b"file":
                files[name] = data
    except OSError as error:
        return Project(folder, {}, "", f"it cannot be read: {error.strerror}")
    made = Project(folder, files, f"sha256:{digest.hexdigest()}")
    return made if made.commands or made.plugins else None


def _entries(folder: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Name, kind and content of all that is below the folders that count, in one order everywhere."""
    waiting = [name for name in reversed(_FOLDERS) if os.path.lexists(folder / name)]
    while waiting:
        name = waiting.pop()
        path = folder / name
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            waiting += [f"{name}/{inner}" for inner in sorted(os.listdir(path), reverse=True)]
        elif stat.S_ISREG(mode):
            yield name, b"file", _content(path)
        else:
            target = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else b""
            yield name, b"other", target


def _content(path: Path) -> bytes:
    """A file's bytes, one more than may be trusted at most; OSError where it became a link meanwhile."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with open(fd, "rb") as file:
        return file.read(MOST_BYTES + 1)
