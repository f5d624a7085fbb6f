"""mino's own configuration keys, as data: default, what a value must be, and what may override it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mino_core import values
from mino_core.errors import did_you_mean

#: Tables that also hold the settings of the thing they choose.
CHOICES = {"history": "backend", "renderer": "name", "input": "name"}


@values.value
class Key:
    """One key: `check` returns what a value must be where it is not that; `variable` may override it."""

    path: str
    default: object
    check: Callable[[object], str | None]
    variable: str = ""


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else "must be a string"


def _texts(value: object) -> str | None:
    good = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return None if good else "must be a list of strings"


def _count(value: object) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return None if good else "must be a whole number from 1 up"


def _seconds(value: object) -> str | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 86_400
    return None if good else "must be a number of seconds above 0, at most a day"


def _no_tools(value: object) -> str | None:
    return None if value == [] else "must be empty: mino brings no tools, and those of plugins need no entry"


def _one_of(*words: str) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        if isinstance(value, str) and value in words:
            return None
        return "must be " + " or ".join(f'"{word}"' for word in words)

    return check


KEYS = (
    Key("session.provider", None, _text, "MINO_PROVIDER"),
    Key("session.model", None, _text, "MINO_MODEL"),
    Key("session.instructions", "SOUL.md", _text),
    Key("session.resume", "never", _one_of("never", "last")),
    Key("session.max_rounds", 50, _count),
    Key("shell.interrupt", "prompt", _one_of("prompt", "exit")),
    Key("history.backend", "jsonl", _text, "MINO_HISTORY"),
    Key("history.send", "all", _one_of("all", "completed", "none")),
    Key("history.budget", None, _count),
    Key("renderer.name", "rich", _text, "MINO_RENDERER"),
    Key("input.name", "editor", _text, "MINO_INPUT"),
    Key("tools.enabled", [], _no_tools),
    Key("plugins.disabled", [], _texts),
    Key("plugins.limit", 5, _seconds),
)
#: Every table that may stand at the top of the file.
TABLES = tuple(dict.fromkeys([key.path.partition(".")[0] for key in KEYS] + ["providers"]))
Problem = tuple[str, str]


def problems(table: Mapping[str, Any]) -> list[Problem]:
    """Every key of a configuration file that is unknown or has the wrong shape, and why."""
    found: list[Problem] = []
    for name, value in table.items():
        if name not in TABLES:
            found.append((name, _unknown(name)))
        elif not isinstance(value, dict):
            found.append((name, f"must be a table: write [{name}]"))
        else:
            found += _in_table(name, value)
    return found


def _unknown(name: str) -> str:
    """An unknown top-level name, which may also be a key that lost its table."""
    keys = {key.path.partition(".")[2]: key.path for key in KEYS}
    meant = f"; did you mean {keys[name]}?" if name in keys else did_you_mean(name, [*TABLES, *keys])
    return f"there is no such table or key{meant}"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _in_table(name: str, table: Mapping[str, Any]) -> list[Problem]:
    checks = {key.path: key.check for key in KEYS}
    found: list[Problem] = []
    known = [path.partition(".")[2] for path in checks if path.startswith(f"{name}.")]
    for key, value in table.items():
        path = f"{name}.{key}"
        if name == "providers":
            found += _provider(path, value)
        elif path == "plugins.settings":
            found += _tables(path, value)
        elif path in checks:
            wrong = checks[path](value)
            found += [(path, f"{wrong}, not {_brief(value)}")] if wrong else []
        elif name not in CHOICES:
            known += ["settings"] if name == "plugins" else []
            found.append((path, "there is no such key" + did_you_mean(key, known)))
    return found


def _tables(path: str, value: object) -> list[Problem]:
    if not isinstance(value, dict):
        return [(path, "must hold a table for each plugin")]
    return [
        (f"{path}.{name}", "must be a table") for name, table in value.items() if not isinstance(table, dict)
    ]


def _provider(path: str, table: object) -> list[Problem]:
    if not isinstance(table, dict):
        return [(path, f"must be a table: write [{path}]")]
    found: list[Problem] = [
        (f"{path}.{key}", "must be a string")
        for key in ("kind", "base_url", "model", "api_key")
        if key in table and not isinstance(table[key], str)
    ]
    options = table.get("options", {})
    if not isinstance(options, dict):
        found.append((f"{path}.options", "must be a table"))
    elif not is_json(options):
        found.append((f"{path}.options", "must hold only what JSON can: no dates, no inf, no nan"))
    return found


def is_json(value: object) -> bool:
    """Whether a TOML value can be sent as JSON."""
    match value:
        case dict():
            return all(map(is_json, value.values()))
        case list():
            return all(map(is_json, value))
        case float():
            return value - value == 0
        case str() | int():
            return True
        case _:
            return False
