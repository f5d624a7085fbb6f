"""Which place a value comes from: the defaults, then state, file, environment and flags on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .keys import KEYS

if TYPE_CHECKING:
    from mino_core.config import Flags

    from .toml_file import Document


def lay(
    remembered: Mapping[str, Any], file: Document, environ: Mapping[str, str], flags: Flags
) -> tuple[dict[str, Any], dict[str, str]]:
    """Each of mino's keys with the value that holds, and where that came from."""
    values: dict[str, Any] = {key.path: key.default for key in KEYS}
    origins = dict.fromkeys(values, "default")
    for layer in (
        _in_file(remembered, "state.toml"),
        _in_file(file.table, file.path.name),
        _in_environment(environ),
        _in_flags(flags),
    ):
        _put(values, origins, layer)
    return values, origins


#: Values by key, each with its origin.
_Layer = dict[str, tuple[Any, str]]


def _put(values: dict[str, Any], origins: dict[str, str], layer: _Layer) -> None:
    """Put a layer on top. A model goes with its provider: another provider lets go of it."""
    provider = layer.get("session.provider", (None, ""))[0]
    if provider and values["session.provider"] not in (None, provider):
        values["session.model"], origins["session.model"] = None, "default"
    for key, (value, origin) in layer.items():
        values[key], origins[key] = value, origin


def _in_file(table: Mapping[str, Any], origin: str) -> _Layer:
    found: _Layer = {}
    for key in KEYS:
        top, _, name = key.path.partition(".")
        value = table.get(top, {}).get(name, "")
        if not is_blank(value):
            found[key.path] = value, origin
    return found


def _in_environment(environ: Mapping[str, str]) -> _Layer:
    """The variables that override a key; a blank one counts as not set."""
    told = {key: environ.get(key.variable, "").strip() for key in KEYS if key.variable}
    return {key.path: (value, key.variable) for key, value in told.items() if value}


def _in_flags(flags: Flags) -> _Layer:
    told = {
        "session.provider": (flags.provider, "--provider"),
        "session.model": (flags.model, "--model"),
        "session.resume": ("last" if flags.continue_ else None, "--continue"),
        "renderer.name": (flags.renderer, "--renderer"),
        "input.name": (flags.input, "--input"),
        "history.backend": (flags.history, "--history"),
    }
    if flags.plain:
        told["renderer.name"] = flags.renderer or "plain", "--plain"
        told["input.name"] = flags.input or "lines", "--plain"
    if flags.no_history:
        told["history.backend"] = "memory", "--no-history"
    return {key: (value, origin) for key, (value, origin) in told.items() if value and not is_blank(value)}


def is_blank(value: object) -> bool:
    """Whether a value counts as not set."""
    return isinstance(value, str) and not value.strip()
