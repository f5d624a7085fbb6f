"""What a configuration may show of itself: every value, with whatever may be a secret masked.

Keys are told by their names and by their looks; a place where a key is kept (`env:NAME`,
`file:PATH`) is no secret, a literal is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core.secret import MASK, is_place, mask, names_a_secret

from .keys import TABLES, is_json
from .literals import flat

if TYPE_CHECKING:
    from mino_core.config import Config
    from mino_core.settings import Settings

_ORDER = (*TABLES, "options")

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


def rows(config: Config, made_with: Iterable[Settings] = ()) -> list[Row]:
    """Every value that holds, table by table, then the options of the command line.

    `made_with` are settings that factories were given: what these asked for is shown too.
    """
    found: dict[str, Row] = {}

    def add(path: tuple[str, ...], value: Any, origin: str) -> None:
        key = ".".join(path)
        place = config.file.place(key) if origin == config.file.path.name else ""
        found[key] = Row(key, shown(path, value), place or origin)

    for key, value in config.values.items():
        add(tuple(key.split(".")), value, config.origins[key])
    for path, value in flat(config.file.table):
        if ".".join(path) not in config.values and value != {}:
            add(path, value, config.file.path.name)
    choice = config.provider()
    if not config.session.provider:
        add(("session", "provider"), choice.name, choice.why)
    for key, origin in choice.origins.items():
        add(("providers", choice.name, key), choice.settings.get(key), origin)
    for settings in made_with:
        for key, value in settings.asked().items():
            path = (*settings.path.split("."), *key.split("."))
            if ".".join(path) not in found and value != {}:
                add(path, value if value is None or is_json(value) else str(value), "default")
    for key, value in config.flags.options.items():
        add(("options", key), value, "-o")
    return sorted(found.values(), key=lambda row: _ORDER.index(row.key.partition(".")[0]))


def shown(path: tuple[str, ...], value: Any) -> Any:
    """The value at these keys as it may be shown."""
    if isinstance(value, dict):
        return {key: shown((*path, key), inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shown(path, item) for item in value]
    if not isinstance(value, str):
        return MASK if names_a_secret(path[-1]) and not isinstance(value, bool | None) else value
    secret = names_a_secret(path[-1]) or any(map(_SECRET_TABLES.search, path[:-1]))
    if secret and value.strip():
        kind = value.strip().partition(":")[0]
        return value.strip() if kind in ("env", "file") and is_place(value) else _masked(value)
    text = _USER_IN_URL.sub(rf"\1{MASK}@", mask(value))
    return _SECRET_LOOKS.sub(MASK, _QUERY_IN_URL.sub(rf"\1{MASK}", text))


def _masked(value: str) -> str:
    """A command shows the program it runs, since its arguments may be secret; a literal nothing."""
    words = value.strip().removeprefix("cmd:").split()
    return f"cmd:{words[0]} …" if value.strip().startswith("cmd:") and words else MASK
