"""What a configuration may show of itself: every value, with whatever may be a secret masked.

Keys are told by their names and by their looks; a place where a key is kept (`env:NAME`,
`file:PATH`) is no secret, a literal is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core.secret import MASK, mask, remember

from .toml_file import Document

if TYPE_CHECKING:
    from mino_core.config import Config

_SECRET_NAME = re.compile(
    r"(^|[-_.])(api-?key|key|token|secret|password|passwd|passphrase|authorization|cookie|credentials?)$",
    re.IGNORECASE,
)
#: Tables whose every value may be a secret: headers, and the environment of a program.
_SECRET_TABLES = re.compile(r"(^|[-_])(headers|env|environ|environment)$", re.IGNORECASE)
_SECRET_LOOKS = re.compile(r"\b(?:sk|pk|rk|ghp|gho|xox[abp]|glpat|hf|gsk)[-_][\w-]{6,}|\bBearer\s+\S+")
_USER_IN_URL = re.compile(r"(\w+://)[^/@\s]+@")
_QUERY_IN_URL = re.compile(r"(\w+://[^\s?]*\?)\S+")


class Row(NamedTuple):
    """One value as it may be shown, and where it came from."""

    key: str
    value: Any
    origin: str


def rows(config: Config) -> list[Row]:
    """Every value of mino's own, then the rest of the file, then the options of the command line."""
    for literal in literal_keys(config.file):
        remember(literal)  # wherever else it stands
    found: list[Row] = []
    for key, value in config.values.items():
        origin = config.origins[key]
        place = config.file.place(key) if origin == config.file.path.name else ""
        found.append(Row(key, shown(tuple(key.split(".")), value), place or origin))
    if not config.session.provider:
        choice = config.provider()
        found[0] = Row("session.provider", choice.name, choice.why)
    for path, value in flat(config.file.table):
        key = ".".join(path)
        if key not in config.values:
            found.append(Row(key, shown(path, value), config.file.place(key)))
    for name, value in config.flags.options.items():
        found.append(Row(f"options.{name}", shown(("options", name), value), "-o"))
    return found


def names_a_secret(key: str) -> bool:
    """Whether a key of this name holds a secret."""
    return bool(_SECRET_NAME.search(key))


def literal_keys(document: Document) -> list[str]:
    """The secrets that stand in the file itself, not the place where they are kept."""
    return [
        value.strip()
        for path, value in flat(document.table)
        if names_a_secret(path[-1]) and isinstance(value, str) and value.strip() and not _is_place(value)
    ]


def flat(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value of a table that is not itself a table, with the keys that lead to it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in table.items():
        if isinstance(value, dict) and value:
            found += flat(value, (*above, key))
        else:
            found.append(((*above, key), value))
    return found


def shown(path: tuple[str, ...], value: Any) -> Any:
    """The value at these keys as it may be shown."""
    if isinstance(value, dict):
        return {key: shown((*path, key), inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shown(path, item) for item in value]
    if not isinstance(value, str):
        return MASK if names_a_secret(path[-1]) and not isinstance(value, bool) else value
    secret = names_a_secret(path[-1]) or any(map(_SECRET_TABLES.search, path[:-1]))
    if secret and value.strip():
        kind = value.strip().partition(":")[0]
        return value.strip() if kind in ("env", "file") and _is_place(value) else _masked(value)
    text = _USER_IN_URL.sub(rf"\1{MASK}@", mask(value))
    return _SECRET_LOOKS.sub(MASK, _QUERY_IN_URL.sub(rf"\1{MASK}", text))


def _is_place(value: str) -> bool:
    kind, colon, rest = value.strip().partition(":")
    return bool(colon and rest.strip() and kind in ("env", "file", "cmd"))


def _masked(value: str) -> str:
    """A command shows the program it runs, since its arguments may be secret; a literal nothing."""
    words = value.strip().removeprefix("cmd:").split()
    return f"cmd:{words[0]} …" if value.strip().startswith("cmd:") and words else MASK
