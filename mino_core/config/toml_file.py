"""A TOML file whose errors say where: tomllib has no lines for keys, so they are found when needed.

The line of a key is where the statement begins that ends the shortest prefix of whole lines that
parses and holds the key. It is looked for only once something is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mino_core.errors import ConfigError
from mino_core.values import value

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PLACE = r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)"


@value
class Document:
    """What one TOML file says. Without a file, an empty table that has no places."""

    _unshown = ("text", "table")

    path: Path = Path()
    text: str = ""
    table: Mapping[str, Any] = {}

    def place(self, key: str) -> str:
        """Where a dotted key stands, such as `config.toml:3`; where its table does if it is missing.

        Empty if the file holds no part of the key.
        """
        path = find(self.table, key)
        while path:
            if (line := _line(self.text, path)) is not None:
                return f"{self.path.name}:{line}"
            path = path[:-1]
        return ""

    def without(self, keys: Iterable[str]) -> Document:
        """The same file, with these dotted keys left out of its table."""
        from copy import deepcopy

        table = deepcopy(dict(self.table))
        for key in keys:
            *above, last = find(table, key)
            inside = table
            for step in above:
                inside = inside[step]
            del inside[last]
        return Document(self.path, self.text, table)


def read(path: Path, *, named: bool = False) -> Document | None:
    """The document at this path, or None where there is no file.

    Raises ConfigError, one sentence with the whole path, where it cannot be read as TOML. Only
    where a person `named` the path may a pipe be in the place of the file: it is waited for.
    """
    if path.is_fifo() and not named:
        raise ConfigError(f"{path}: this is a pipe; a TOML file belongs here")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise ConfigError(f"{path}: this is a directory; a TOML file belongs here") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(f"{path}: cannot be read: {reason}") from None
    text = _decode(path, data).replace("\r\n", "\n")  # as tomllib does; a lone CR stays an error
    return Document(path, text, _parse(path, text))


def find(table: Mapping[str, Any], dotted: str) -> tuple[str, ...]:
    """The keys that lead as far along a dotted path as the table goes; keys may hold dots."""
    best: tuple[str, ...] = ()
    for key, inner in table.items():
        if dotted != key and not dotted.startswith(f"{key}."):
            continue
        rest = dotted[len(key) + 1 :]
        path = (key, *(find(inner, rest) if rest and isinstance(inner, dict) else ()))
        best = max(best, path, key=len)
    return best


def _decode(path: Path, data: bytes) -> str:
    if data.startswith(_UTF16) or b"\0" in data[:64]:
        raise ConfigError(f"{path}: this is UTF-16, or no text at all; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise ConfigError(
            f"{path}:{line}: this is not UTF-8 text (byte 0x{byte:02x}; an older encoding such as"
            " Latin-1?); save it as UTF-8"
        ) from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
    except RecursionError:
        raise ConfigError(f"{path}: the values are nested too deeply") from None
    match = re.fullmatch(_PLACE, problem, re.DOTALL)
    reason, line, column = match.groups() if match else (problem, None, None)
    if line is None or _is_twice(reason):
        at = _bad_statement(text)
        line, column = str(at), "1"
    statement = text.split("\n")[int(line) - 1].strip() if line else ""
    raise ConfigError(f"{path}:{line}:{column}: {_plain(reason, statement)}")


def _is_twice(reason: str) -> bool:
    return reason.startswith(("Cannot overwrite", "Cannot declare", "Duplicate"))


def _plain(reason: str, statement: str) -> str:
    """The reason that tomllib gives, in words that say what to do."""
    if _is_twice(reason):
        what = statement if statement.startswith("[") else statement.partition("=")[0].strip()
        return f"{what} is given a second time; keep one"
    reason = reason[:1].lower() + reason[1:]
    if "Unescaped '\\'" in reason or "hex value" in reason or "unescaped '\\'" in reason:
        return f"{reason}; write \\\\ for a backslash, or put the text in 'single quotes'"
    if reason == "illegal character '\\n'":
        return "the text is not closed; a quote is missing at its end"
    if reason == "invalid value":
        return "invalid value; text needs quotes"
    return reason


def _table(lines: list[str], end: int) -> dict[str, Any] | None:
    """The first `end` lines as TOML, or None where they do not parse."""
    import tomllib

    try:
        return tomllib.loads("\n".join(lines[:end]))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _bad_statement(text: str) -> int:
    """The first line of the statement after which nothing parses any more."""
    lines = text.split("\n")
    return 1 + next(end for end in range(len(lines) - 1, -1, -1) if _table(lines, end) is not None)


def _holds(table: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return True


def _line(text: str, path: tuple[str, ...]) -> int | None:
    """Halve the lines between a prefix without the key and one with it, until one statement is left."""
    lines = text.split("\n")
    low, high = 0, len(lines)
    if not _holds(_table(lines, high), path):
        return None
    while True:
        middle = (low + high) // 2
        nearest = [*range(middle, high), *range(middle - 1, low, -1)]
        for end in nearest:
            table = _table(lines, end) if end > low else None
            if table is not None:
                low, high = (low, end) if _holds(table, path) else (end, high)
                break
        else:
            return low + 1
