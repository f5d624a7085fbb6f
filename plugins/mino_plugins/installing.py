"""Plugins come and go: the right command is run, and what was asked for is remembered.

The names are kept in state.toml, so that `sync` can put back what an upgrade of mino took away.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core import UsageError, say, say_json

from .environment import Environment, is_there, normal
from .listing import describe, missing, remembered

if TYPE_CHECKING:
    from mino_core import Host

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?=\s*(?:$|[\[<>=!~;(@]))")


def install(host: Host, place: Environment, requirements: Sequence[str], *, dry: bool, as_json: bool) -> int:
    """Add plugins, and remember them; the exit code."""
    wanted = list(map(_requirement, requirements))
    return _add(host, place, wanted, dry=dry, as_json=as_json)


def sync(host: Host, place: Environment, *, dry: bool, as_json: bool) -> int:
    """Put back what was installed with `mino plugins install` and is not there any more."""
    if gone := missing(host):
        wanted = [str(remembered(host)[name]["requirement"]) for name in gone]
        return _add(host, place, wanted, dry=dry, as_json=as_json)
    if as_json:
        _say(None, ran=False, installed={})
    else:
        say("Nothing is missing.")
    return 0


def uninstall(host: Host, place: Environment, names: Sequence[str], *, dry: bool, as_json: bool) -> int:
    """Remove the distributions of plugins, and forget them."""
    wanted = dict.fromkeys(_distribution(host, name) for name in names)
    there = [name for name in wanted if is_there(name)]
    command = place.removing(there) if there else None
    if command and not dry:
        _run(command, as_json=as_json)
    if as_json:
        _say(command, ran=command is not None and not dry, removed=[] if dry else list(wanted))
    elif dry:
        say(shlex.join(command) if command else "Nothing to run: it is not installed.", verbatim=True)
    else:
        say(f"Removed: {', '.join(wanted)}")
    if not dry:
        plugins = {plugin.name for plugin in host.plugins if plugin.distribution in wanted}
        host.remember(lambda table: _forget(table, wanted, plugins))
    return 0


def _add(host: Host, place: Environment, wanted: Sequence[str], *, dry: bool, as_json: bool) -> int:
    command = place.installing(wanted)
    if dry:
        if as_json:
            _say(command, ran=False, installed={})
        else:
            say(shlex.join(command), verbatim=True)
        return 0
    _run(command, as_json=as_json)
    found = {one["name"]: one for one in _looked_up(host)}
    new = _new(wanted, found)
    rows = {name: found[name]["rows"] if name in found else [] for name in new}
    if as_json:
        _say(command, ran=True, installed=rows)
    else:
        for name, those in rows.items():
            for line in map(describe, those) if those else ("installed, and offers nothing to mino",):
                say(f"{name}: {line}")
    host.remember(lambda table: table.setdefault("installed", {}).update(new))
    return 0


def _new(wanted: Sequence[str], found: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What is to be remembered of each requirement, by the name of the distribution that it became."""
    new: dict[str, dict[str, Any]] = {}
    for one in wanted:
        named = _NAME.match(one) if not Path(one).exists() else None
        url = Path(one).as_uri() if Path(one).is_absolute() else one
        for name, there in found.items():
            if (named and normal(named[0]) == normal(name)) or there["url"] == url:
                new[name] = {"requirement": one, "plugins": there["plugins"]}
                break
        else:
            if named:
                new[named[0]] = {"requirement": one, "plugins": []}
    return new


def _looked_up(host: Host) -> list[dict[str, Any]]:
    """The distributions with plugins as a mino that starts now finds them."""
    argv = [sys.executable, "-P", "-m", "mino_core.cli", "plugins", "list", "--json"]
    environ = {**host.config.environ, "MINO_HOME": str(host.config.home)}
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    found: dict[str, dict[str, Any]] = {}
    try:
        rows = json.loads(done.stdout)["plugins"]
    except (ValueError, LookupError):
        raise UsageError(f"installed, but mino does not start with it: {done.stderr.strip()}") from None
    for row in rows:
        if row["source"] != "distribution":
            continue
        one = found.setdefault(row["distribution"], {"plugins": [], "rows": [], "url": _url(row["path"])})
        one["name"] = row["distribution"]
        one["plugins"].append(row["name"])
        one["rows"].append(row)
    return list(found.values())


def _url(metadata: str) -> str:
    """Where a distribution was installed from, if not by its name from an index."""
    try:
        url: str = json.loads(Path(metadata, "direct_url.json").read_text("utf-8"))["url"]
    except (OSError, ValueError, LookupError):
        return ""
    return url


def _requirement(text: str) -> str:
    """A requirement as the installer gets it: a file or a folder with its whole path."""
    if text.startswith("-"):
        raise UsageError(f"{text!r} is no package; flags of installers are not passed on")
    path = Path(text).expanduser()
    if ("/" in text or text.endswith(".whl")) and path.exists():
        return str(path.resolve())
    return text


def _distribution(host: Host, name: str) -> str:
    """The distribution that a plugin's name, or its own, stands for. UsageError where it is none."""
    for plugin in host.plugins:
        if name != plugin.name and normal(name) != normal(plugin.distribution):
            continue
        if plugin.source == "built-in":
            raise UsageError(
                f"{plugin.name!r} comes with mino; `mino plugins disable {plugin.name}` goes without it"
            )
        if not plugin.distribution:
            raise UsageError(f"no installer knows of {plugin.name!r}; remove {plugin.path}")
        return str(plugin.distribution)
    for kept in remembered(host):
        if normal(kept) == normal(name):
            return kept
    there = dict.fromkeys(plugin.name for plugin in host.plugins if plugin.source == "distribution")
    raise UsageError(f"there is no plugin {name!r} to remove; there are: {', '.join(there) or 'none'}")


def _forget(table: dict[str, Any], distributions: Mapping[str, None], plugins: set[str]) -> None:
    gone = {*distributions, *plugins}
    for part in ("installed", "faults"):
        table[part] = {name: one for name, one in table.get(part, {}).items() if name not in gone}
    if disabled := table.get("plugins", {}).get("disabled"):
        table["plugins"]["disabled"] = [name for name in disabled if name not in gone]


def _run(command: Sequence[str], *, as_json: bool) -> None:
    """Run a command, shown first. UsageError where its program is not there, or it fails."""
    line = shlex.join(command)
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]} is not on the PATH; run this where it is:\n  {line}")
    say(f"$ {line}", verbatim=True, aside=True)
    done = subprocess.run(command, stdout=sys.stderr.fileno() if as_json else None, check=False)
    if done.returncode:
        raise UsageError(f"the command above ended with {done.returncode}; mino remembers what it did before")


def _say(command: Sequence[str] | None, *, ran: bool, **changed: Any) -> None:
    say_json({"command": command, "ran": ran, **changed})
