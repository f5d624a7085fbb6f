"""Configuration: files, environment and flags in, one frozen Config out, every problem at once.

Later places win: defaults < state.toml < config.toml < environment < flags. Nothing is ever read
from the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.errors import ConfigError
from mino_core.secret import remember
from mino_core.settings import Settings
from mino_core.values import made, replace, value

from . import choice as provider_choice
from . import keys as config_keys
from . import layers as config_layers
from . import state, toml_file
from .choice import ProviderChoice
from .home import expand, home_directory
from .instructions import FILE as INSTRUCTIONS_FILE
from .instructions import INSTRUCTIONS as INSTRUCTIONS
from .instructions import read as read_instructions
from .keys import CHOICES, KEYS
from .literals import keys_in_variables, literal_keys
from .presets import Preset, presets
from .toml_file import Document

if TYPE_CHECKING:
    from mino_core.records import Send

    from .exposure import Row


@value
class Flags:
    """What the command line says about the configuration; `config` is another file than the usual."""

    _unshown = ("options",)

    provider: str | None = None
    model: str | None = None
    renderer: str | None = None
    input: str | None = None
    history: str | None = None
    no_history: bool = False
    config: Path | None = None
    plain: bool = False
    quiet: bool = False
    safe: bool = False
    debug: bool = False
    yes: bool = False
    system: str | None = None
    options: Mapping[str, Any] = {}
    extensions: tuple[Path, ...] = ()
    resume: str | None = None
    continue_: bool = False


@value
class SessionConfig:
    """`[session]`. `provider` and `model` are None where nothing was chosen; `resume` is never or last.

    `instructions` is relative to MINO_HOME.
    """

    provider: str | None = None
    model: str | None = None
    instructions: Path = Path(INSTRUCTIONS_FILE)
    resume: str = "never"
    max_rounds: int = 50


@value
class ShellConfig:
    """`[shell]`. `interrupt` is prompt or exit: where Ctrl-C during an answer leads."""

    interrupt: str = "prompt"


@value
class Choice:
    """What one of several offers is chosen, and the settings to make it with.

    `table` is what the file has for the one that is `meant` there, if that is another one.
    """

    name: str
    settings: Settings
    meant: str = ""
    table: Mapping[str, Any] = {}


@value
class PluginsConfig:
    """`[plugins]`. `limit` is in seconds, for one call into a plugin."""

    disabled: tuple[str, ...] = ()
    limit: float = 5
    settings: Mapping[str, Settings] = {}


@value
class Config:
    """Everything that was configured. `Config()` is what holds where nothing was.

    `send` is all, completed or none; `budget` is how many tokens of it, or None; `instructions` is
    the text a model is told; `values` are mino's own keys as they hold, and `origins` says where each
    came from: `default`, `state.toml`, the file's name, a variable or a flag; `warnings` are sentences
    to show once, `problems` are lines about what is wrong and was left out.
    """

    _unlike = ("flags", "environ", "file", "state", "values", "origins")
    _unshown = ("environ", "file", "state", "values", "origins")

    home: Path = made(factory=lambda: home_directory(os.environ))
    session: SessionConfig = SessionConfig()
    shell: ShellConfig = ShellConfig()
    history: Choice = made(factory=lambda: Choice("jsonl", Settings()))
    send: Send = "all"
    budget: int | None = None
    renderer: Choice = made(factory=lambda: Choice("rich", Settings()))
    input: Choice = made(factory=lambda: Choice("editor", Settings()))
    plugins: PluginsConfig = PluginsConfig()
    providers: Mapping[str, Settings] = {}
    instructions: str = INSTRUCTIONS
    flags: Flags = made(factory=Flags)
    environ: Mapping[str, str] = {}
    file: Document = made(factory=Document)
    state: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    origins: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def presets(self) -> Mapping[str, Preset]:
        """The well-known servers, by name."""
        return presets()

    def plugin(self, name: str) -> Settings:
        """The table of one plugin, empty where there is none."""
        return self.plugins.settings.get(name) or self.settings(f"plugins.settings.{name}", {})

    def settings(self, path: str, table: Mapping[str, Any]) -> Settings:
        """A table as Settings that know where this file has them."""
        return Settings(
            table,
            path=path,
            home=self.home,
            environ=self.environ,
            locate=lambda key: self.file.place(f"{path}.{key}"),
        )

    def error(self, key: str, problem: str) -> ConfigError:
        """A ConfigError about one value, which names where it came from."""
        origin = self.origins.get(key, "")
        if place := self.file.place(key) if origin in ("", self.file.path.name) else "":
            return ConfigError(f"{place}: {key}: {problem}")
        return ConfigError(f"{key if origin in ('', 'default') else origin}: {problem}")

    def shown(self, made_with: Iterable[Settings] = ()) -> list[Row]:
        """Every value with where it came from, as it may be shown: secrets are masked.

        `made_with` are settings that factories were given; what they asked for is shown too.
        """
        from .exposure import rows

        return rows(self, made_with)

    def unknown_names(self, offers: Callable[[str], Collection[str]]) -> list[str]:
        """A line for each name chosen here that no plugin offers; `offers` gives a hook's names."""
        from .names import unknown

        return unknown(self, offers)

    def provider(self, name: str | None = None, kinds: Collection[str] = ()) -> ProviderChoice:
        """The provider of this name, or the chosen one.

        A name is a `[providers.NAME]` table, else a preset, else a kind. Given the kinds there are,
        raises ConfigError where it is none of these; without, it is taken to be a kind.
        """
        return provider_choice.choose(self, name, kinds)


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
    warnings = _keys_in_file(file, environ)
    problems = config_keys.problems(file.table)
    found += [f"{file.place(key) or file.path.name}: {key}: {problem}" for key, problem in problems]
    found += [
        f"-o {key}: JSON has no such value; put it in quotes"
        for key, value in flags.options.items()
        if not config_keys.is_json(value)
    ]
    if problems:
        file = file.without(key for key, _ in problems)
    remembered, warning = state.read(home)
    warnings += [warning] if warning else []
    values, origins = config_layers.lay(remembered, file, environ, flags)
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


def _keys_in_file(file: Document, environ: Mapping[str, str]) -> list[str]:
    """Mask the keys that the file holds or whose variables it names; a warning where others may read it."""
    literals = literal_keys(file.table)
    for known in (*literals, *keys_in_variables(file.table, environ)):
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
    table = config.file.table
    own = {
        name: config.settings(f"plugins.settings.{name}", settings)
        for name, settings in table.get("plugins", {}).get("settings", {}).items()
    }
    return own | {name: config.settings(name, table[name]) for name in config_keys.ALIASES if name in table}
