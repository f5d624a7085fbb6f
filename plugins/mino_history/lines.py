"""One record is one line: of UTF-8, of strict JSON, for every program that reads lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from mino_core import Record

_BLOCK, _LARGE_BLOCK = 1 << 16, 1 << 20
_MARK = "\N{BYTE ORDER MARK}".encode()
#: What some programs take for the end of a line, C1 controls, and what UTF-8 cannot hold.
_UNSAFE = re.compile("[\x80-\x9f\u2028\u2029\ud800-\udfff]")


def dump(record: Record) -> bytes:
    """A record as a line. ValueError, TypeError or RecursionError where it is not JSON."""
    return _encode(dict(record)) + b"\n"


def _encode(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if not text.isascii():
        text = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode()


def parse(line: bytes) -> dict[str, Any] | None:
    """The record on a line, or None where there is none: only an object with a `type` is one."""
    try:
        value = _decode(line.removeprefix(_MARK).decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode


def backward(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, last first, read in blocks from its end."""
    end = file.seek(0, os.SEEK_END)
    pieces: list[bytes] = []  # of the line that reaches into the next block, last first
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        first, *rest = file.read(end - start).split(b"\n")
        if rest:
            yield rest.pop() + b"".join(reversed(pieces))
            yield from reversed(rest)
            pieces.clear()
        pieces.append(first)
        end = start
    yield b"".join(reversed(pieces))


class Needle:
    """What every line that holds a text, in any case, holds too; so do perhaps some that do not.

    `sought` are its bytes, in small letters, empty where there is nothing that sure; `has_letters`
    says whether its case may differ.
    """

    def __init__(self, text: str) -> None:
        # Only the case of ASCII letters can be ignored byte by byte.
        sure = "".join(c if c.isascii() or c.lower() == c.upper() else "\0" for c in text).split("\0")
        longest = max(sure, key=len)
        self.sought = _encode(longest)[1:-1].lower()
        self.has_letters = longest.upper() != longest.lower()

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """The lines of a file that hold it; the others are not looked at."""
        if not self.sought:
            yield from file
            return
        for block in _blocks(file):
            seen, at = block.lower() if self.has_letters else block, -1
            while (at := seen.find(self.sought, at + 1)) >= 0:
                start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
                end = len(block) if end < 0 else end
                yield block[start:end]
                at = end


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The file in large pieces that end where a line ends."""
    pieces: list[bytes] = []
    while block := file.read(_LARGE_BLOCK):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*pieces, block[:end]])
            pieces.clear()
        pieces.append(block[end:])
    yield b"".join(pieces)


def tail(fd: int) -> bytes:
    """What follows the last newline of a file: nothing, unless a write was cut short."""
    end = os.fstat(fd).st_size
    pieces: list[bytes] = []
    while end:
        start = max(0, end - _BLOCK)
        _, newline, after = os.pread(fd, end - start, start).rpartition(b"\n")
        pieces.append(after)
        if newline:
            break
        end = start
    return b"".join(reversed(pieces))
