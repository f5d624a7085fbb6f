"""Files that go along with a question: text as a named, fenced part, the rest as it is."""

from __future__ import annotations

from pathlib import Path

from mino_core.errors import UsageError
from mino_core.types import File, Image, Part, Text

#: Bytes that may be attached at once.
_LIMIT = 20 << 20


def read(path: Path) -> Part:
    """The part that a file becomes. UsageError where it cannot be read or is too large."""
    import base64
    from mimetypes import guess_type

    path = path.expanduser()
    try:
        size = path.stat().st_size
        if size > _LIMIT:
            raise UsageError(f"{path} has {size:,} bytes; at most {_LIMIT:,} can be attached")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot attach {path}: {error.strerror}") from error
    media_type = guess_type(path.name)[0] or "application/octet-stream"
    if media_type.startswith("image/"):
        return Image(media_type, base64.b64encode(data).decode(), path.name)
    try:
        return Text(_fenced(path.name, data.decode("utf-8")))
    except UnicodeDecodeError:
        return File(media_type, base64.b64encode(data).decode(), path.name)


def _fenced(name: str, text: str) -> str:
    """The text in a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{name}\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"
