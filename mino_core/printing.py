"""What a subcommand prints, for people and for programs: safe to show, and without secrets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .screen import sanitise
from .secret import mask

if TYPE_CHECKING:
    from .records.finding import Summary

#: How many columns a time takes with the blanks around it, and a name has where there is no limit; from how
#: many on the end of a path says something.
_TIME, _NAME, _LEAST = 20, 60, 8
#: How much of an id still tells conversations apart, and how wide a terminal has room for all of it.
_ID, _ID_FROM = 13, 110


def table(rows: Iterable[Sequence[str]], indent: str = "  ") -> str:
    """Rows of cells as lines of columns; the last cell of a row may be of any length."""
    held = [list(row) for row in rows]
    columns = max(map(len, held), default=0)
    widths = [max((_cells(row[n]) for row in held if n < len(row) - 1), default=0) for n in range(columns)]
    return "\n".join(
        indent
        + "  ".join(
            cell + " " * (width - _cells(cell)) for cell, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in held
    )


def listed(firsts: Sequence[str], conversations: Sequence[Summary], columns: int = 0) -> list[str]:
    """A row for each conversation: what stands first, when it was written to, where, its name.

    None is longer than `columns`, unless that is 0: an id gives way to what begins it, a place to the
    end of its path, and to nothing where that would say nothing.
    """
    if not conversations:
        return []
    if columns and columns < _ID_FROM:
        firsts = [first[:_ID] for first in firsts]
    room = (columns - max(map(_cells, firsts)) - _TIME) // 3 if columns else sys.maxsize
    rows = []
    for first, each in zip(firsts, conversations, strict=True):
        place = [_end(each.place, room)] if room >= _LEAST else []
        rows.append((first, each.when, *place, each.name if columns else fitted(each.name, _NAME)))
    return [fitted(row, columns or sys.maxsize) for row in table(rows, "").split("\n")]


def _end(place: str, columns: int) -> str:
    return fitted(place[::-1], columns)[::-1]


def say(text: str, *, verbatim: bool = False, aside: bool = False) -> None:
    """Print a text that may come from outside: made safe, secrets masked.

    On a terminal its lines are broken between words, those of a table below their last column,
    unless the text is to be shown `verbatim`. What is not what was asked for goes `aside`, to standard
    error.
    """
    out = sys.stderr if aside else sys.stdout
    text = sanitise(mask(text))
    if not verbatim and out.isatty():
        text = wrapped(text)
    out.write(text + "\n")


def wrapped(text: str) -> str:
    """The text with its lines broken between words where they are longer than the terminal is wide."""
    from shutil import get_terminal_size

    columns = get_terminal_size().columns
    return "\n".join(piece for line in text.split("\n") for piece in _broken(line, columns))


def _broken(line: str, columns: int) -> list[str]:
    """A line as several, each but the first below the last column that the line has."""
    if _cells(line) <= columns:
        return [line]
    import re

    below = max((found.end() for found in re.finditer(r"(?<=\S) {2,}(?=\S)", line)), default=0)
    below = below if _cells(line[:below]) <= columns // 2 else 0
    lines = [line[:below]]
    for word in line[below:].split(" "):
        begun = len(lines[-1]) > below
        if begun and _cells(f"{lines[-1]} {word}") > columns:
            lines.append(" " * _cells(line[:below]) + word)
        else:
            lines[-1] += f" {word}" if begun else word
    return lines


def fitted(text: str, columns: int) -> str:
    """The text, cut where it takes more cells than that, and marked there."""
    if _cells(text) <= columns:
        return text
    while (over := _cells(text) + 1 - columns) > 0:
        text = text[: -max(over // 2, 1)]  # no character takes more than two
    return text + "…"


def _cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    told: int = wcswidth(text)
    return told if told >= 0 else len(text)


def say_json(value: Any) -> None:
    """Print one JSON value, secrets masked in its texts."""
    import json

    sys.stdout.write(json.dumps(_masked(value), indent=2) + "\n")


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask(value)
        case dict():
            return {key: _masked(inner) for key, inner in value.items()}
        case list():
            return [_masked(inner) for inner in value]
    return value
