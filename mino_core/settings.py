"""Settings: the read-only table of the one thing being made, which knows where each key stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar, overload

from . import secret
from .errors import ConfigError, did_you_mean
from .secret import Secret

_T = TypeVar("_T")


class _Required:
    """Marks a key without a default."""


_REQUIRED = _Required()
#: Thirty years in seconds, and more than fits into any count: what is larger was never meant.
_LARGEST = 1_000_000_000


def _kind(value: object) -> str:
    """What a value is, without saying it: it may be a key in the wrong place."""
    names = {str: "a string", bool: "true or false", dict: "a table", list: "a list"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "a date")


class Settings(Mapping[str, object]):
    """A TOML table handed to a factory.

    Each reader takes the key and a default; without a default the key is required. They raise
    ConfigError with file, line and key. A factory reads every key it knows before it returns:
    `unread()` are the ones nobody asked for.

    `name` is the last part of `path` (`deepseek` of `providers.deepseek`), `home` is MINO_HOME and
    what relative paths are relative to.
    """

    def __init__(
        self,
        table: Mapping[str, object] | None = None,
        *,
        path: str = "",
        home: Path | None = None,
        environ: Mapping[str, str] | None = None,
        locate: Callable[[str], str] | None = None,
    ) -> None:
        self._table = dict(table or {})
        self._read: dict[str, object] = {}  # the keys asked for, each with the default
        self._children: list[Settings] = []
        self._locate = locate or (lambda key: "")
        self.path = path
        self.name = path.rpartition(".")[2]
        self.home = home or Path()
        self.environ: Mapping[str, str] = os.environ if environ is None else environ

    def __getitem__(self, key: str) -> object:
        self._read.setdefault(key, None)
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<settings [{self.path}] {sorted(self._table)}>"

    @overload
    def text(self, key: str) -> str: ...
    @overload
    def text(self, key: str, default: _T) -> str | _T: ...
    def text(self, key: str, default: object = _REQUIRED) -> object:
        """A string."""
        return self._take(key, default, str, "a string")

    @overload
    def number(self, key: str) -> float: ...
    @overload
    def number(self, key: str, default: _T) -> float | _T: ...
    def number(self, key: str, default: object = _REQUIRED) -> object:
        """An integer or a float, as written, from 0 to a thousand million."""
        value = self._take(key, default, (int, float), "a number")
        if isinstance(value, int | float) and value is not default and not 0 <= value <= _LARGEST:
            raise self.error(key, f"must be a number from 0 to {_LARGEST}")
        return value

    @overload
    def flag(self, key: str) -> bool: ...
    @overload
    def flag(self, key: str, default: _T) -> bool | _T: ...
    def flag(self, key: str, default: object = _REQUIRED) -> object:
        """True or false."""
        return self._take(key, default, bool, "true or false")

    def table(self, key: str) -> Settings:
        """A table inside this one, empty where there is none."""
        table = self._take(key, {}, dict, "a table")
        child = Settings(
            table if isinstance(table, dict) else {},
            path=self.key(key),
            home=self.home,
            environ=self.environ,
            locate=lambda inner: self._locate(f"{key}.{inner}"),
        )
        self._children.append(child)
        return child

    def secret(self, key: str) -> Secret | None:
        """A secret: `env:NAME`, `file:PATH`, `cmd:COMMAND` or a literal; None where blank or absent."""
        if not isinstance(self.get(key, ""), str):
            raise self.error(key, "must be a string")  # what it is stays unsaid
        text = self.text(key, "")
        try:
            return secret.parse(text, self.key(key), self.environ, self.home)
        except ConfigError as error:
            raise self.error(key, str(error)) from error

    def key(self, key: str) -> str:
        """The whole dotted path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def error(self, key: str, problem: str) -> ConfigError:
        """A ConfigError about one key, with its place: `config.toml:3: session.provider: ...`."""
        place = self._locate(key)
        return ConfigError(f"{place + ': ' if place else ''}{self.key(key)}: {problem}")

    def unread(self) -> list[str]:
        """The dotted paths, from this table on, of the keys that nobody asked for."""
        own = [key for key in self._table if key not in self._read]
        below = [f"{child.name}.{key}" for child in self._children for key in child.unread()]
        return own + below

    def asked(self) -> dict[str, object]:
        """What somebody asked for: the dotted path of each key, and its value, or its default."""
        own = {key: self._table.get(key, self._read[key]) for key in sorted(self._read)}
        below = [(child.name, key, value) for child in self._children for key, value in child.asked().items()]
        return own | {f"{name}.{key}": value for name, key, value in below}

    def _take(self, key: str, default: object, kind: type | tuple[type, ...], words: str) -> object:
        required = isinstance(default, _Required)
        self._read.setdefault(key, None if required else default)
        if key not in self._table:
            if required:
                raise self.error(key, "is missing")
            return default
        value = self._table[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(key, f"must be {words}, not {_kind(value)}")
        return value


def refuse_unread(settings: Settings, what: str) -> None:
    """ConfigError naming every key that what was made did not ask for."""
    problems = [
        str(settings.error(key, f"is not a setting of {what}{did_you_mean(key, settings.asked())}"))
        for key in settings.unread()
    ]
    if problems:
        raise ConfigError("\n".join(problems))
