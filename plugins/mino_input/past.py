"""What was typed before, newest last: kept from one run to the next, as JSON on each line.

A string is what was typed; where something was pasted, an object says also where.
The file is a convenience. Nothing about it stops a line from being read: what is wrong with it is
said once, and a damaged one is put aside whole.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mino_core import Pasted, mask

#: How many bytes at the end of the file are read, and how long an entry may be to be kept there.
_TAIL, _LONGEST = 1 << 18, 1 << 16
#: How many entries can be gone back to.
_MOST = 2000


#: A line that seems to have a key in it: what begins as keys do, or a name of one and letters with a digit.
_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|ghp|gho|glpat|xox[abp]|AKIA|AIza)[-_]?[\w-]{12,}"
    r"|(?i:api[-_ ]?key|token|secret|passw(?:or)?d)\W{0,3}(?=\S*\d)\S{8,}"
)


class Past:
    """Entries in the order in which they were sent.

    With no path they are kept in memory only; with `keeps=False` the file is read and left as it is.
    `trouble` says what is wrong with the file, if anything is.
    """

    def __init__(self, path: Path | None, *, keeps: bool = True) -> None:
        self._path = path if keeps else None
        self.trouble = ""
        self.entries: list[str] = self._load(path) if path else []

    def add(self, text: str) -> None:
        """Remember a line that was sent; one with a secret in it, in memory only."""
        if not text.strip() or (self.entries and _json(self.entries[-1]) == _json(text)):
            return
        self.entries.append(text)
        del self.entries[:-_MOST]
        if self._path is None or len(text) > _LONGEST or mask(text) != text or _KEY.search(text):
            return
        try:
            _append(self._path, [text])
        except OSError as error:
            self._give_up(f"{self._path}: {error.strerror}; what is typed is not kept there")

    def remember(self, text: str) -> None:
        """Keep a line that was not sent, until the end of this run."""
        if text.strip():
            self.entries.append(text)

    def _load(self, path: Path) -> list[str]:
        try:
            lines = _last_lines(path)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._give_up(f"{path}: {error.strerror}; what is typed is not kept there")
            return []
        read = [_entry(line) for line in lines]
        entries = [entry for entry in read if entry is not None]
        if len(entries) < len(read) and self._path is not None:
            self._put_aside(path, entries)
        return entries[-_MOST:]

    def _put_aside(self, path: Path, entries: list[str]) -> None:
        """Keep a damaged file beside, and begin another with what could be read."""
        aside = next(
            free for n in range(1, 1000) if not (free := path.with_name(f"{path.name}.damaged-{n}")).exists()
        )
        try:
            path.rename(aside)
            _append(path, entries)
        except OSError as error:
            self._give_up(f"{path} is damaged ({error.strerror}); what is typed is not kept there")
            return
        self.trouble = f"{path} was damaged; it is kept as {aside.name}"

    def _give_up(self, trouble: str) -> None:
        self.trouble, self._path = trouble, None


def _last_lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")
    if size > _TAIL:
        del lines[0]  # we came into the middle of it
    return [line for line in lines if line]


def _entry(line: bytes) -> str | None:
    import json

    try:
        match json.loads(line):
            case str(text):
                return text
            case {"text": str(text), "pasted": [*spans]}:
                return Pasted(text, ((int(start), int(end)) for start, end in spans))
    except (TypeError, ValueError, RecursionError):
        pass
    return None


def _json(entry: str) -> object:
    return {"text": entry, "pasted": entry.spans} if isinstance(entry, Pasted) else entry


def _append(path: Path, entries: list[str]) -> None:
    import json

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = "".join(json.dumps(_json(entry), ensure_ascii=False) + "\n" for entry in entries)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(fd, text.encode("utf-8", "replace"))
    finally:
        os.close(fd)
