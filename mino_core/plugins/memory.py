"""What mino remembers of its plugins from run to run, in state.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.errors import ConfigError
from mino_core.faults import Fault, fault

if TYPE_CHECKING:
    from mino_core.config import Config

    from .door import Plugin


#: The tables of state.toml that are of plugins.
_PARTS = ("faults", "installed", "plugins", "trust")


def change(home: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Edit state.toml; ConfigError where it cannot be written. A part of it that is no table is let go."""
    from mino_core.config import state

    def mend(table: dict[str, Any]) -> None:
        for part in _PARTS:
            if not isinstance(table.get(part, {}), dict):
                del table[part]
        edit(table)

    try:
        state.update(home, mend)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(f"{home / 'state.toml'} cannot be written: {why}") from error
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{home / 'state.toml'} can hold only text, and this is none: {error.object!r}"
        ) from error


def keep_faults(config: Config, faults: Iterable[Fault]) -> None:
    """Keep the last fault of each plugin, with its time. Nothing is written where nothing is new."""
    known = [
        (name, kept.get("text"))
        for name, kept in config.state.get("faults", {}).items()
        if isinstance(kept, dict)
    ]
    new = {fault.plugin: fault.text for fault in faults if (fault.plugin, fault.text) not in known}
    if not new:
        return
    from datetime import UTC, datetime

    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    told = {name: {"text": text, "time": now} for name, text in new.items()}
    try:
        change(config.home, lambda table: table.setdefault("faults", {}).update(told))
    except ConfigError:
        pass  # the fault itself was shown; only its memory is lost


def missing(config: Config, plugins: Iterable[Plugin]) -> Iterator[Fault]:
    """A line for each plugin that `mino plugins install` brought, and that has gone since, unasked."""
    there = {plugin.name for plugin in plugins}
    for distribution, kept in config.state.get("installed", {}).items():
        names = kept.get("plugins") if isinstance(kept, dict) else None
        for name in names if isinstance(names, list) else ():
            if name not in there:
                why = f"{distribution}, which you installed, is not there any more (upgrades may do that)"
                yield fault(name, "", "not loaded", why, "to have it back: mino plugins sync")
