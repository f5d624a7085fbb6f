"""One record is one line: of UTF-8, of strict JSON, for every program that reads lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, BinaryIO

from mino_core import Record

#: How many bytes are looked at at once: few enough to stay near the processor.
_BLOCK = 1 << 17
_MARK = "\N{BYTE ORDER MARK}".encode()
#: What some programs take for the end of a line, C1 controls, and what UTF-8 cannot hold.
_UNSAFE = re.compile("[\x80-\x9f\u2028\u2029\ud800-\udfff]")
#: What one writer of JSON escapes and another does not, or not in the same way.
_ESCAPED_BY_SOME = "\"\\/<>&'"


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


def backward(file: BinaryIO, mark: bytes = b"") -> Iterator[bytes]:
    """The lines of a file that hold a mark, last first, read in blocks from its end."""
    end = file.seek(0, os.SEEK_END)
    pieces: list[bytes] = []  # of the line that reaches into the next block, last first
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        block = file.read(end - start)
        first, last = block.find(b"\n"), block.rfind(b"\n")
        if first < 0:
            pieces.append(block)
        else:
            line = block[last + 1 :] + b"".join(reversed(pieces))
            if mark in line:
                yield line
            if first < last and block.rfind(mark) >= 0:  # going from the end, a search takes half the time
                yield from (line for line in reversed(block[first + 1 : last].split(b"\n")) if mark in line)
            pieces = [block[:first]]
        end = start
    if mark in (line := b"".join(reversed(pieces))):
        yield line


class Needle:
    """What every line that holds a text, in any case, holds too; so do perhaps some that do not.

    It is the longest piece of the text that all writers of JSON write in one of a few ways, and of which
    only ASCII letters have two cases: those can be ignored byte by byte.
    """

    def __init__(self, text: str) -> None:
        sure = max("".join(c if _is_sure(c) else "\0" for c in text).split("\0"), key=len).lower()
        forms = [sure]
        if escapes := [json.dumps(c)[-5:-1] for c in sure if not c.isascii()]:
            # One letter is enough, and it may be escaped twice, in a tool's arguments. Digits have one case.
            digits = max(("".join(takewhile(str.isdigit, each)) for each in escapes), key=len)
            some = [digits] if len(digits) > 1 else [escapes[0], escapes[0].upper()]
            forms += [f"u{each}" for each in some]
        self._forms = [form.encode() for form in forms if form]
        self._ignores_case = sure != sure.upper()

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """The lines of a file that hold it; the others are not looked at."""
        if not self._forms:
            yield from file
            return
        pieces: list[bytes] = []  # of the line that reaches into the next block
        while block := file.read(_BLOCK):
            first, last = block.find(b"\n"), block.rfind(b"\n")
            if first < 0:
                pieces.append(block)
                continue
            if self._is_in(line := b"".join([*pieces, block[:first]])):
                yield line
            if first < last and self._is_in(block):
                yield from filter(self._is_in, block[first + 1 : last].split(b"\n"))
            pieces = [block[last + 1 :]]
        if self._is_in(line := b"".join(pieces)):
            yield line

    def _is_in(self, block: bytes) -> bool:
        seen = block.lower() if self._ignores_case else block
        # Its first byte alone is looked for much faster, and no byte of Chinese is in an English text.
        return any(form[0] in seen and seen.rfind(form) >= 0 for form in self._forms)


def _is_sure(c: str) -> bool:
    """Whether every writer of JSON writes a character as it is, or all of them escape it alike."""
    return c.isprintable() and c not in _ESCAPED_BY_SOME and (c.isascii() or c.lower() == c.upper())


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
