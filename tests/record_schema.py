"""Holds files of history against the documented schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parents[1] / "docs/reference/history-format.schema.json"


@cache
def validator() -> Callable[[Any], Any]:
    """Raises JsonSchemaValueException for a record that is not as documented."""
    import fastjsonschema

    made: Callable[[Any], Any] = fastjsonschema.compile(json.loads(SCHEMA.read_text("utf-8")))
    return made


def check(folder: Path) -> int:
    """Hold every record below every `history` folder in there against the schema; returns how many."""
    lines = [
        (path, line)
        for path in folder.glob("**/history/*/*.jsonl")
        if path.is_file()
        for line in path.read_bytes().split(b"\n")[:-1]
    ]
    for path, line in lines:
        try:
            validator()(json.loads(line.decode("utf-8")))
        except ValueError as error:  # what fastjsonschema raises is one, too
            raise AssertionError(f"{path.name}: {error}: {line[:500]!r}") from error
    return len(lines)
