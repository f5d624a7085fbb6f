"""Which provider answers, and with what: a table of the file over a preset, or a bare kind.

A key goes only to its own origin: a table that names another server does not inherit the key of
its preset, and MINO_API_KEY goes to the provider that the user has named beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from mino_core.errors import ConfigError, did_you_mean
from mino_core.settings import Settings
from mino_core.values import value

from .presets import KEY_SUFFIX, presets

if TYPE_CHECKING:
    from mino_core.config import Config

#: What answers where nothing else was chosen or found; a kind, and no preset has its name.
LOCAL = "local"
_NAMED_FOR_THIS_RUN = ("MINO_PROVIDER", "--provider")


@value
class ProviderChoice:
    """One provider to make. `why` says in words how it was chosen; `options` go into each request.

    `settings` is the table for the factory of `kind`; the keys that are no business of a factory
    count as read. `origins` says where those keys come from that are not the file's.
    """

    _unshown = ("options", "origins")

    name: str
    kind: str
    settings: Settings
    model: str | None = None
    why: str = ""
    options: Mapping[str, Any] = {}
    origins: Mapping[str, str] = {}


def choose(config: Config, name: str | None = None, kinds: Collection[str] = ()) -> ProviderChoice:
    """The provider of this name, or the chosen one. ConfigError where it is none of what there is."""
    chosen, why = _chosen(config)
    name, why = (name, "asked for by name") if name and name != chosen else (chosen, why)
    table, origins = _table(config, name)
    own = dict(config.providers.get(name, {}))
    kind = str(table.get("kind", name))
    if kinds and kind not in kinds:
        raise _unknown(config, name, kind, kinds)
    model = config.session.model if name == chosen else None
    if model:
        table["model"], origins["model"] = model, config.origins["session.model"]
    settings = Settings(
        table,
        path=f"providers.{name}",
        home=config.home,
        environ=config.environ,
        locate=lambda key: config.file.place(f"providers.{name}.{key}") if key.split(".")[0] in own else "",
    )
    for key in table:
        if key in ("kind", "model", "options") or key not in own:
            settings.get(key)
    options = {**table.get("options", {}), **config.flags.options}
    return ProviderChoice(name, kind, settings, table.get("model") or None, why, options, origins)


def names(config: Config, kinds: Collection[str] = ()) -> list[str]:
    """Every name that can be chosen: tables, then presets, then kinds."""
    return list(dict.fromkeys([*config.providers, *presets(), *sorted(kinds)]))


def _chosen(config: Config) -> tuple[str, str]:
    """The name of what answers unless another is asked for, and why it does."""
    if config.session.provider:
        return config.session.provider, f"chosen by {config.origins.get('session.provider', 'name')}"
    if not any(name.endswith(KEY_SUFFIX) for name in config.environ):
        return LOCAL, "nothing is configured"
    found = {name: key for name, preset in presets().items() if (key := preset.key(config.environ))}
    if not found:
        return LOCAL, "nothing is configured"
    name = next(iter(found))
    if len(found) == 1:
        return name, f"{found[name]} is set"
    return name, f"the first of the keys that are set: {', '.join(found.values())}"


def _table(config: Config, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What there is to know about a provider: its preset, the file's table, then the environment.

    With it, where those of the values come from that are not the file's.
    """
    own = dict(config.providers.get(name, {}))
    preset = presets().get(name) if name != LOCAL else None
    table: dict[str, Any] = {}
    if preset:
        table = {"kind": preset.kind, "base_url": preset.base_url}
        table |= {"model": preset.model} if preset.model else {}
        if preset.keys and _same_origin(own.get("base_url"), preset.base_url):
            table["api_key"] = f"env:{preset.key(config.environ) or preset.keys[0]}"
    origins = dict.fromkeys(table, f"the preset {name}")
    table |= {key: value for key, value in own.items() if value != ""}
    for key in table.keys() & own.keys():
        origins.pop(key, None)
    named_now = config.origins.get("session.provider") in _NAMED_FOR_THIS_RUN
    if named_now and name == config.session.provider:
        if url := config.environ.get("MINO_BASE_URL", "").strip():
            if not _same_origin(url, str(table.get("base_url", ""))):
                table.pop("api_key", None)
                origins.pop("api_key", None)
            table["base_url"], origins["base_url"] = url, "MINO_BASE_URL"
        if config.environ.get("MINO_API_KEY", "").strip():
            table["api_key"], origins["api_key"] = "env:MINO_API_KEY", "MINO_API_KEY"
    return table, origins


def _same_origin(url: object, other: str) -> bool:
    """Whether a key for the one may go to the other; no URL of its own is the other's."""
    if not url:
        return True
    from urllib.parse import urlsplit

    def origin(text: str) -> tuple[str, str]:
        parts = urlsplit(text)
        return parts.scheme.lower(), parts.netloc.lower()

    try:
        return origin(str(url)) == origin(other)
    except ValueError:
        return False


def left_out(config: Config) -> str:
    """The end of a sentence about a name that is not there: which plugins might have it."""
    if config.flags.safe:
        return " (--safe leaves out every plugin that is not built in)"
    disabled = ", ".join(config.plugins.disabled)
    return f" ([plugins] disabled leaves out: {disabled})" if disabled else ""


def _unknown(config: Config, name: str, kind: str, kinds: Collection[str]) -> ConfigError:
    if name in config.providers and "kind" in config.providers[name]:
        known = ", ".join(sorted(kinds))
        problem = f"no plugin offers the kind {kind!r}; there are: {known}{did_you_mean(kind, kinds)}"
        return config.providers[name].error("kind", problem + left_out(config))
    if kind != name:  # a preset, whose kind is gone
        known = ", ".join(sorted(kinds))
        problem = f"{name} needs the kind {kind!r}, which no plugin offers; there are: {known}"
        return config.error("session.provider", problem + left_out(config))
    there_are = names(config, kinds)
    problem = (
        f"there is no provider {name!r}; there are: {', '.join(there_are)}{did_you_mean(name, there_are)}"
        f"{left_out(config)}"
    )
    return (
        config.error("session.provider", problem) if name == config.session.provider else ConfigError(problem)
    )
