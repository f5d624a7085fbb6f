"""What was configured, as frozen values; `loading` makes them of files, environment and flags."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.errors import ConfigError
from mino_core.settings import Settings
from mino_core.values import made, value

from . import choice as provider_choice
from .choice import ProviderChoice
from .home import home_directory
from .instructions import FILE as INSTRUCTIONS_FILE
from .instructions import INSTRUCTIONS as INSTRUCTIONS
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

    def provider(self, name: str | None = None, kinds: Collection[str] = ()) -> ProviderChoice:
        """The provider of this name, or the chosen one.

        A name is a `[providers.NAME]` table, else a preset, else a kind. Given the kinds there are,
        raises ConfigError where it is none of these; without, it is taken to be a kind.
        """
        return provider_choice.choose(self, name, kinds)
