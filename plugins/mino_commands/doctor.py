"""`mino doctor`: does everything that an answer needs work here? Nothing it says is secret."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mino_core import ConfigError, MinoError, ProviderError, Screen, UsageError, record, say, say_json, table

from .config import problems
from .models import made_provider, names_of

if TYPE_CHECKING:
    from mino_core import Host

#: Seconds that a connection may take.
_LIMIT = 5.0


class Check(NamedTuple):
    """One thing that was looked at."""

    state: Literal["ok", "note", "failed"]
    what: str
    text: str


def main(argv: list[str], host: Host) -> int:
    """Run `mino doctor ARGV`; 0 where all is well, 3 where something failed."""
    from argparse import ArgumentParser

    parser = ArgumentParser(
        "mino doctor",
        description="Look over what an answer needs. The network is used only with --online.",
    )
    parser.add_argument("--online", action="store_true", help="also ask the server which models it has")
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    wanted = parser.parse_args(argv)
    found: list[Check] = []
    for check in checks(host, online=wanted.online):
        found.append(check)
        if not wanted.json:
            say(table([(check.state.ljust(6), check.what.ljust(8), check.text)], indent=""))
    if wanted.json:
        say_json([check._asdict() for check in found])
    return ProviderError.exit_code if any(check.state == "failed" for check in found) else 0


def checks(host: Host, *, online: bool = False) -> Iterator[Check]:
    """Each thing in turn, as it is found out; what is wrong, once."""
    told: set[str] = set()
    for look in (_installation, _file, partial(_provider, online=online), _configuration, _plugins, _history):
        for check in look(host):
            if check.state != "failed" or check.text not in told:
                yield check
            told.add(check.text)


def _installation(host: Host) -> Iterator[Check]:
    import platform

    from mino_core import __version__

    yield Check("ok", "mino", f"{__version__}, Python {platform.python_version()}, {platform.platform()}")
    home = host.config.home
    yield Check("ok", "home", f"{home}{'' if home.is_dir() else ' (not there yet)'}")
    screen = Screen()
    try:
        if screen.is_terminal:
            kind = f"{host.config.environ.get('TERM', '') or 'no TERM'}, {screen.columns}x{screen.rows}"
            able = ", colour" if screen.colour else ", no colour" if screen.can_move else ", plain text only"
            yield Check("ok", "terminal", kind + able)
        else:
            yield Check(
                "note", "terminal", "standard output is not a terminal: answers are written as plain text"
            )
    finally:
        screen.close()


def _file(host: Host) -> Iterator[Check]:
    config = host.config
    path = config.file.path
    yield Check("ok", "config", f"{path}{'' if path.exists() else ' (none; `mino init` writes one)'}")
    for warning in config.warnings:
        yield Check("note", "config", warning)


def _configuration(host: Host) -> Iterator[Check]:
    for problem in problems(host):
        yield Check("failed", "config", problem)


def _provider(host: Host, online: bool) -> Iterator[Check]:
    choice = host.config.provider()
    address = _address(choice.settings)
    yield Check(
        "ok",
        "provider",
        f"{choice.name} (kind {choice.kind}){f' at {address}' if address else ''}: {choice.why}",
    )
    yield from _keys(host, choice.name, choice.settings)
    if choice.kind not in host.offers("mino_providers"):
        return  # told already, among the names that nothing has
    try:
        with made_provider(host) as provider:
            model = choice.model or str(getattr(provider, "model", "") or "")
            if model:
                yield Check("ok", "model", model)
            else:
                yield Check(
                    "failed", "model", f"none is named: --model NAME; `mino models {choice.name}` lists them"
                )
            if address and not online:
                yield Check("note", "server", "not asked; `mino doctor --online` asks it which models it has")
            else:
                yield _server(provider, choice.name, model, address)
    except MinoError as error:
        yield Check("failed", "provider", str(error))


def _keys(host: Host, name: str, settings: Mapping[str, Any]) -> Iterator[Check]:
    """Where the key is, and for which other servers there is one."""
    config = host.config
    try:
        secret = config.provider().settings.secret("api_key")
        place = _place(str(settings.get("api_key", "")), name)
        yield Check("ok", "key", place if secret else "none is sent")
    except ConfigError as error:
        yield Check("failed", "key", str(error))
    others = {each: preset.key(config.environ) for each, preset in config.presets.items() if each != name}
    if there := [f"{each} ({variable})" for each, variable in others.items() if variable]:
        yield Check("ok", "others", f"there are keys for {', '.join(there)} too; --provider NAME takes one")


def _place(value: str, name: str) -> str:
    """Where a key is kept, in words without it."""
    kind, _, rest = value.strip().partition(":")
    match kind:
        case "env":
            return f"found in the environment variable {rest.strip()}"
        case "file":
            return f"found in the file {rest.strip()}"
        case "cmd":
            return "asked of a command at the first request"
    return f"found in [providers.{name}]"


def _server(provider: object, name: str, model: str, address: str) -> Check:
    began = time.monotonic()
    try:
        names = names_of(provider, name)
    except UsageError:
        return _connection(address)
    except MinoError as error:
        return Check("failed", "server", str(error))
    took = (time.monotonic() - began) * 1000
    many = "1 model" if len(names) == 1 else f"{len(names)} models"
    if model and names and model not in names:
        return Check("note", "server", f"lists {many}, and {model} is not among them ({took:.0f} ms)")
    return Check("ok", "server", f"lists {many} ({took:.0f} ms)")


def _connection(address: str) -> Check:
    """Whether anything takes connections there, for a kind that has no list of models."""
    import socket

    if not address:
        return Check("note", "server", "cannot be tried: this kind has no list of models and no base_url")
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _LIMIT).close()
    except OSError as error:
        return Check("failed", "server", f"{address} does not take connections: {error}")
    return Check("ok", "server", f"{address} takes connections")


def _address(settings: Mapping[str, Any]) -> str:
    """`host:port` of a provider: what is left of its URL when all that may be secret is gone."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(str(settings.get("base_url", "")))
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    host = parts.hostname or ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""


def _plugins(host: Host) -> Iterator[Check]:
    host.survey()
    states: dict[str, list[str]] = {}
    for plugin in host.plugins:
        states.setdefault(plugin.state, []).append(plugin.name)
    for state, names in states.items():
        yield Check("failed" if state == "failed" else "ok", "plugins", f"{state}: {', '.join(names)}")
    for fault in host.faults:
        yield Check("failed", "plugins", str(fault))


def _history(host: Host) -> Iterator[Check]:
    """Write a conversation, read it and erase it: the only proof that one can be kept."""
    name = host.config.history.name
    try:
        history = host.history
        head = record("head", format=1, directory="")
        log = history.open(head["id"], head)
        try:
            log.append(record("probe"))
            list(log.records())
        finally:
            log.close()
            history.remove(head["id"])
    except (MinoError, OSError) as error:
        yield Check("failed", "history", f"{name}: {error}")
        return
    yield Check("ok", "history", f"{name}: conversations can be kept")
