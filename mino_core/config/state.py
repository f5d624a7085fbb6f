"""state.toml: what mino itself has to remember, since config.toml belongs to the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mino_core.errors import ConfigError

from . import keys as config_keys
from . import toml_file

_NAME = "state.toml"


def read(home: Path) -> tuple[dict[str, Any], str | None]:
    """What is remembered, and a warning about what could not be used: state never stops a start."""
    try:
        document = toml_file.read(home / _NAME)
    except ConfigError as error:
        return {}, f"{error}; what was remembered is ignored"
    table = dict(document.table) if document else {}
    wrong = [name for name, value in table.items() if not isinstance(value, dict)]
    own: dict[str, Any] = {
        name: table[name] for name in ("session", "history", "renderer", "input", "plugins") if name in table
    }
    wrong += [key.partition(".")[0] for key, _ in config_keys.problems(own)]
    if not wrong:
        return table, None
    kept = {name: value for name, value in table.items() if name not in wrong}
    return kept, f"{home / _NAME}: {', '.join(sorted(set(wrong)))} cannot be used and is ignored"


def update(home: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Let `change` edit what is remembered, and keep it: atomically, 0600, one process at a time.

    A file that cannot be read is kept beside as `state.toml.broken`. Raises OSError.
    """
    import fcntl

    import tomli_w

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        path = Path(os.path.realpath(home / _NAME))
        table = _current(path)
        change(table)
        _replace(path, tomli_w.dumps(table).encode())
    finally:
        os.close(directory)


def _current(path: Path) -> dict[str, Any]:
    try:
        document = toml_file.read(path)
    except ConfigError:
        path.replace(path.with_name(f"{_NAME}.broken"))
        return {}
    return dict(document.table) if document else {}


def _replace(path: Path, data: bytes) -> None:
    """Write beside, then rename over: a reader sees the old file or the new one. mkstemp is 0600."""
    import tempfile

    fd, beside = tempfile.mkstemp(prefix=f".{_NAME}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
