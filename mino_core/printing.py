"""What a subcommand prints, for people and for programs: safe to show, and without secrets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .screen import sanitise
from .secret import mask


def table(rows: Iterable[Sequence[str]], indent: str = "  ") -> str:
    """Rows of cells as lines of columns; the last cell of a row may be of any length."""
    held = [list(row) for row in rows]
    columns = max(map(len, held), default=0)
    widths = [max((len(row[n]) for row in held if n < len(row) - 1), default=0) for n in range(columns)]
    return "\n".join(
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in held
    )


def say(text: str) -> None:
    """Print a text that may come from outside: made safe, secrets masked."""
    sys.stdout.write(sanitise(mask(text)) + "\n")


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
