"""Secrets that stand in a configuration file itself, or in a variable that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mino_core.secret import is_place, names_a_secret


def literal_secrets(table: Mapping[str, Any]) -> list[str]:
    """The secrets in a table and in those below it."""
    return [
        value.strip()
        for path, value in flat(table)
        if names_a_secret(path[-1]) and isinstance(value, str) and value.strip() and not is_place(value)
    ]


def secrets_in_variables(table: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """The secrets that a table says are in variables, as far as these are set."""
    places = [value.strip() for _, value in flat(table) if isinstance(value, str)]
    told = (
        environ.get(place.removeprefix("env:").strip(), "") for place in places if place.startswith("env:")
    )
    return [value.strip() for value in told if value.strip()]


def flat(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value of a table that is not itself a table, with the keys that lead to it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in table.items():
        if isinstance(value, dict) and value:
            found += flat(value, (*above, key))
        else:
            found.append(((*above, key), value))
    return found
