"""`mino doctor`: does everything that an answer needs work here? Nothing it says is secret."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mino_core import ConfigError, MinoError, ProviderError, UsageError, say, say_json, table

from .models import ask

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

    parser = ArgumentParser("mino doctor", description="Look over what an answer needs, and try it.")
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    wanted = parser.parse_args(argv)
    found: list[Check] = []
    for check in checks(host):
        found.append(check)
        if not wanted.json:
            say(table([(check.state, check.what.ljust(8), check.text)], indent=""))
    if wanted.json:
        say_json([check._asdict() for check in found])
    return ProviderError.exit_code if any(check.state == "failed" for check in found) else 0


def checks(host: Host) -> Iterator[Check]:
    """Each thing in turn, as it is found out."""
    yield from _installation(host)
    yield from _provider(host)
    yield from _plugins(host)
    yield from _history(host)


def _installation(host: Host) -> Iterator[Check]:
    import platform

    from mino_core import __version__

    yield Check("ok", "mino", f"{__version__}, Python {platform.python_version()}, {platform.platform()}")
    config = host.config
    yield Check("ok", "home", f"{config.home}{'' if config.home.is_dir() else ' (not there yet)'}")
    there = config.file.path.exists()
    yield Check("ok", "config", f"{config.file.path}{'' if there else ' (none; `mino init` writes one)'}")
    for warning in config.warnings:
        yield Check("note", "config", warning)
    for problem in config.unknown_names(host.offers):
        yield Check("failed", "config", problem)


def _provider(host: Host) -> Iterator[Check]:
    config = host.config
    for name, preset in config.presets.items():
        if variable := preset.key(config.environ):
            yield Check("ok", "key", f"{variable} is set, for {name}")
    choice = config.provider()
    if choice.kind not in host.offers("mino_providers"):
        return  # told already, among the names that nothing has
    at = f" at {address}" if (address := _address(choice.settings)) else ""
    yield Check("ok", "provider", f"{choice.name} (kind {choice.kind}){at}: {choice.why}")
    yield Check("ok" if choice.model or choice.kind == "local" else "failed", "model", choice.model or "none")
    try:
        secret = choice.settings.secret("api_key")
    except ConfigError as error:
        yield Check("failed", "key", str(error))
        return
    place = _place(str(choice.settings.get("api_key", "")), choice.name)
    yield Check("ok", "key", place if secret else "none is sent")
    yield _server(host, choice.settings)


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


def _server(host: Host, settings: Mapping[str, Any]) -> Check:
    began = time.monotonic()
    try:
        names = ask(host)
    except UsageError:
        return _connection(settings)
    except MinoError as error:
        return Check("failed", "server", str(error))
    took = (time.monotonic() - began) * 1000
    many = "1 model" if len(names) == 1 else f"{len(names)} models"
    return Check("ok", "server", f"lists {many} ({took:.0f} ms)")


def _connection(settings: Mapping[str, Any]) -> Check:
    """Whether anything takes connections there, for a kind that has no list of models."""
    import socket

    address = _address(settings)
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
        head = _record("head", format=1, directory="")
        log = history.open(head["id"], head)
        try:
            log.append(_record("probe"))
        finally:
            log.close()
            history.remove(head["id"])
    except (MinoError, OSError) as error:
        yield Check("failed", "history", f"{name}: {error}")
        return
    yield Check("ok", "history", f"{name}: conversations can be kept")


def _record(type: str, **fields: object) -> dict[str, Any]:
    import uuid
    from datetime import UTC, datetime

    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"id": "0" + uuid.uuid4().hex[:25].upper(), "time": now, "type": type, **fields}
