"""The renderer `json`: one object a line, one line an event, for programs that read along."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from mino_core import Idle, ProviderError, TurnEnded

if TYPE_CHECKING:
    from mino_core import Event, Screen

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class JsonLines:
    """`{"type":"text_delta","text":"..."}`: the event's class in snake_case, then its fields.

    Lines are written at once when nothing more has arrived, or when many wait.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._waiting = 0
        self._types: dict[type, str] = {}

    def show(self, event: Event) -> None:
        """Write one event; `Idle` has no line of its own, it says that now is the time."""
        if isinstance(event, Idle):
            self.close()
            return
        kind = type(event)
        name = self._types.get(kind) or self._types.setdefault(kind, _snake(kind.__name__))
        line = _encode({"type": name, **_fields(event)})
        self._screen.write(_without_surrogates(line) + "\n")
        self._waiting += len(line)
        if self._waiting > _MANY or isinstance(event, TurnEnded):
            self.close()

    def close(self) -> None:
        """Write what waits."""
        self._screen.flush()
        self._waiting = 0


#: Characters that may wait for the next `Idle`.
_MANY = 1 << 16


def _snake(name: str) -> str:
    return _WORD.sub("_", name).lower()


def _fields(thing: object) -> dict[str, object]:
    return {field.name: _value(getattr(thing, field.name)) for field in fields(thing)}  # type: ignore[arg-type]


def _value(value: object) -> object:
    if isinstance(value, ProviderError):
        return value.as_json()
    return _fields(value) if is_dataclass(value) else value


def _without_surrogates(line: str) -> str:
    """Half of a pair cannot be written as UTF-8; as an escape it survives."""
    return line.encode("utf-8", "backslashreplace").decode()
