"""Plugins are switched off and on again by name; what the user wrote in config.toml stands above that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mino_core import UsageError, say, say_json

from .listing import select

if TYPE_CHECKING:
    from mino_core import Host

#: What offers this very command cannot be switched off by it, nor can all built-ins at once.
_OWN = ("plugins", "mino-shell")


def disable(host: Host, names: Sequence[str], *, dry: bool, as_json: bool) -> int:
    """Go without these plugins, or all of a distribution, from the next start on."""
    if own := [name for name in names if name in _OWN]:
        raise UsageError(f"{own[0]!r} switches the others on again, so it stays")
    select(host, names)  # to refuse what is not there
    disabled = dict.fromkeys([*host.config.plugins.disabled, *names])
    return _keep(host, list(disabled), dry=dry, as_json=as_json)


def enable(host: Host, names: Sequence[str], *, dry: bool, as_json: bool) -> int:
    """Take these plugins, or distributions, up again from the next start on."""
    disabled = list(host.config.plugins.disabled)
    for name in names:
        if name in disabled:
            disabled.remove(name)
            continue
        whole = [plugin.distribution for plugin in select(host, [name]) if plugin.distribution in disabled]
        if whole:
            raise UsageError(f"{name!r} is off with all of {whole[0]}: mino plugins enable {whole[0]}")
        if not as_json:
            say(f"{name} is not disabled.")
    return _keep(host, disabled, dry=dry, as_json=as_json)


def _keep(host: Host, disabled: list[str], *, dry: bool, as_json: bool) -> int:
    config = host.config
    if config.origins.get("plugins.disabled") == config.file.path.name:
        names = ", ".join(f'"{name}"' for name in disabled)
        raise config.error(
            "plugins.disabled",
            f"is written there, which stands above what mino remembers; write: disabled = [{names}]",
        )
    if not dry:
        host.remember(lambda table: table.setdefault("plugins", {}).update(disabled=disabled))
    if as_json:
        say_json({"disabled": disabled})
    else:
        say(f"Disabled: {', '.join(disabled) or 'none'}")
    return 0
