"""Files that go along with a question: text as a named, fenced part, the rest as it is."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from .errors import UsageError
from .types import File, Image, Part, Pasted, Text
from .values import value

#: Bytes that one file may have.
_LIMIT = 20 << 20
#: `@path` where no word goes on; a path with blanks in it stands in quotes, or has a backslash before each.
_MENTION = re.compile(r'(?<![\w.@/\\-])@(?:"([^"\n]+)"|((?:\\.|[^\s\\])+))', re.ASCII)
_LONGEST = 1024
#: Punctuation that follows a name more often than it ends one.
_FOLLOWS = ".,;:!?)]}>'\"，。；：！？、）】」』》”’…"
_GOES_ON = re.compile(r"[\w/-]", re.ASCII)


@value
class Attachment:
    """A file that goes along: what becomes of it, and its size in bytes."""

    name: str
    part: Part
    size: int

    def __str__(self) -> str:
        kind = "" if isinstance(self.part, Text) else f", {self.part.media_type}"  # type: ignore[union-attr]
        return f"{self.name} ({self.size:,} bytes{kind})"


def read(path: Path) -> Attachment:
    """A file, read whole. UsageError where it cannot be read or is too large."""
    import base64
    from mimetypes import guess_type

    path = Path(os.path.expanduser(path))
    try:
        data = _bytes(path)
    except OSError as error:
        raise UsageError(f"cannot attach {path}: {error.strerror}") from error
    media_type = guess_type(path.name)[0] or "application/octet-stream"
    is_drawing = media_type.endswith("+xml")  # SVG is text, and no server draws it
    if media_type.startswith("image/") and not is_drawing:
        part: Part = Image(media_type, base64.b64encode(data).decode(), path.name)
    else:
        try:
            part = Text(fenced(path.name, data.decode("utf-8")))
        except UnicodeDecodeError:
            part = File(media_type, base64.b64encode(data).decode(), path.name)
    return Attachment(path.name, part, len(data))


def _bytes(path: Path) -> bytes:
    """All of a file or of a pipe. What has no end is neither."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise UsageError(f"cannot attach {path}: it is no file")
        if status.st_size > _LIMIT:
            raise UsageError(f"{path} has {status.st_size:,} bytes; at most {_LIMIT:,} can be attached")
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise UsageError(f"{path} has more than {_LIMIT:,} bytes, which is all that can be attached")
    return data


def fenced(name: str, text: str) -> str:
    """The text under its name, in a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{name}\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"


def mentioned(line: str) -> tuple[list[Path], list[str]]:
    """The files that a line mentions as `@path`, and what looks like such a path and is no file.

    Where the `@` was pasted nothing is mentioned.
    """
    files: dict[Path, None] = {}
    others: list[str] = []
    for found in _MENTION.finditer(line):
        if isinstance(line, Pasted) and line.covers(found.start()):
            continue
        word = found[1] or re.sub(r"\\(.)", r"\1", found[2])
        if path := _file(word):
            files[path] = None
        elif (bare := word.rstrip(_FOLLOWS)) and ("/" in bare or "." in bare):
            others.append(bare)
    return list(files), others


def _file(word: str) -> Path | None:
    """The file that a word means. Punctuation may follow its name, and not all scripts have blanks."""
    word = word[:_LONGEST]
    for end in range(len(word), 0, -1):
        if end == len(word) or not _GOES_ON.match(word, end):
            path = os.path.expanduser(word[:end])
            if os.path.isfile(path):
                return Path(path)
    return None
