"""Configuration: files, environment and flags in, one frozen Config out, every problem at once.

Later places win: defaults < state.toml < config.toml < environment < flags. Nothing is ever read
from the working directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mino_core.errors import ConfigError
from mino_core.secret import remember
from mino_core.settings import Settings
from mino_core.values import replace

from . import Choice, Config, Flags, PluginsConfig, SessionConfig, ShellConfig, keys, state, toml_file
from .home import expand, home_directory
from .instructions import INSTRUCTIONS
from .instructions import read as read_instructions
from .keys import CHOICES, KEYS
from .literals import literal_secrets, secrets_in_variables
from .toml_file import Document


def load(environ: Mapping[str, str], flags: Flags | None = None, wrong: list[str] | None = None) -> Config:
    """Read the configuration. Raises ConfigError with one line for each thing that is wrong.

    Given a list, it puts the lines there instead and leaves out the values, so that more mistakes
    can be looked for. Of a file that cannot be read as TOML nothing is left then.
    """
    flags = flags or Flags()
    home = home_directory(environ)
    found: list[str] = []
    try:
        file = _read_file(home, flags)
    except ConfigError as error:
        if wrong is None:
            raise
        found, file = [str(error)], Document(_path(home, flags))
    warnings = _mask_secrets(file, environ)
    problems = keys.problems(file.table)
    found += [f"{file.place(key) or file.path.name}: {key}: {problem}" for key, problem in problems]
    found += [
        f"-o {key}: JSON has no such value; put it in quotes"
        for key, value in flags.options.items()
        if not keys.is_json(value)
    ]
    if problems:
        file = file.without(key for key, _ in problems)
    remembered, warning = state.read(home)
    warnings += [warning] if warning else []
    values, origins = _laid(remembered, file, environ, flags)
    config = Config(
        home=home,
        flags=flags,
        environ=environ,
        file=file,
        state=remembered,
        values=values,
        origins=origins,
    )
    path = expand(values["session.instructions"], environ)
    instructions = INSTRUCTIONS
    try:
        instructions, warning = read_instructions(config, home / path)
        warnings += [warning] if warning else []
    except ConfigError as error:
        found.append(str(error))
    if found and wrong is None:
        raise ConfigError("\n".join(found))
    if wrong is not None:
        wrong += found
    return replace(
        config,
        session=SessionConfig(
            provider=values["session.provider"],
            model=values["session.model"],
            instructions=path,
            resume=values["session.resume"],
            max_rounds=values["session.max_rounds"],
        ),
        shell=ShellConfig(values["shell.interrupt"]),
        history=_choice(config, "history", values["history.backend"]),
        send=values["history.send"],
        budget=values["history.budget"],
        renderer=_choice(config, "renderer", values["renderer.name"]),
        input=_choice(config, "input", values["input.name"]),
        plugins=PluginsConfig(
            tuple(values["plugins.disabled"]), values["plugins.limit"], _plugin_settings(config)
        ),
        providers={
            name: config.settings(f"providers.{name}", table)
            for name, table in file.table.get("providers", {}).items()
        },
        instructions=instructions,
        warnings=tuple(warnings),
        problems=tuple(found),
    )


def _path(home: Path, flags: Flags) -> Path:
    return flags.config.absolute() if flags.config else home / "config.toml"


def _read_file(home: Path, flags: Flags) -> Document:
    path = _path(home, flags)
    document = toml_file.read(path, named=flags.config is not None)
    if document is None and (flags.config or path.is_symlink()):
        raise ConfigError(f"{path}: there is no such file")
    return document or Document(path)


def _mask_secrets(file: Document, environ: Mapping[str, str]) -> list[str]:
    """Mask the keys that the file holds or whose variables it names; a warning where others may read it."""
    literals = literal_secrets(file.table)
    for known in (*literals, *secrets_in_variables(file.table, environ)):
        remember(known)
    if not literals or not file.path.stat().st_mode & 0o077:
        return []
    return [f"{file.path} holds a key and others may read it; run: chmod 600 {file.path}"]


def _choice(config: Config, table: str, name: str) -> Choice:
    """What is chosen; the file's table goes with it only if it is what the file names."""
    written = config.file.table.get(table, {})
    key = CHOICES[table]
    own = {f"{table}.{key}", f"{table}.send", f"{table}.budget"}
    default = next(known.default for known in KEYS if known.path == f"{table}.{key}")
    rest = {name: value for name, value in written.items() if f"{table}.{name}" not in own}
    meant = str(written.get(key) or config.state.get(table, {}).get(key) or default)
    if name == meant:
        return Choice(name, config.settings(table, rest))
    return Choice(name, config.settings(table, {}), meant, rest)


def _plugin_settings(config: Config) -> dict[str, Settings]:
    return {
        name: config.settings(f"plugins.settings.{name}", settings)
        for name, settings in config.file.table.get("plugins", {}).get("settings", {}).items()
    }


# -- layers ------------------------------------------------------------------------------------


def _laid(
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
        if not _is_blank(value):
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
    return {key: (value, origin) for key, (value, origin) in told.items() if value and not _is_blank(value)}


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()
