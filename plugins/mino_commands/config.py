"""`mino config`: what holds and why, whether it is right, and which file it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mino_core import ConfigError, MinoError, Screen, did_you_mean, say, say_json, table

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from mino_core import Host, Settings


def main(argv: list[str], host: Host) -> int:
    """Run `mino config ARGV`; the exit code."""
    wanted = _parser().parse_args(argv)
    code: int = wanted.act(host, wanted)
    return code


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser("mino config", description="Look at the configuration.")
    acts = parser.add_subparsers(required=True, metavar="show|check|path")
    for name, act, text in (
        ("show", _show, "each value, and where it came from; secrets are masked"),
        ("check", _check, "make everything that the file names, and report what is wrong"),
        ("path", _path, "where config.toml is"),
    ):
        one = acts.add_parser(name, help=text, description=text)
        one.add_argument("--json", action="store_true", help="as one JSON value")
        one.set_defaults(act=act)
    return parser


def _show(host: Host, wanted: Namespace) -> int:
    import json

    made_with, wrong = make_all(host)
    rows = host.config.shown(made_with)
    if wanted.json:
        say_json({row.key: {"value": row.value, "origin": row.origin} for row in rows})
        return 0
    shown = [
        (row.key, "-" if row.value is None else json.dumps(row.value, ensure_ascii=False), row.origin)
        for row in rows
    ]
    say(table(shown, indent=""))
    if wrong or host.config.problems:
        say("\nSomething here is wrong: `mino config check` says what.")
    for warning in host.config.warnings:
        say(f"\nWarning: {warning}")
    return 0


def _path(host: Host, wanted: Namespace) -> int:
    path = host.config.file.path
    if wanted.json:
        say_json({"path": str(path), "exists": path.exists(), "home": str(host.config.home)})
    else:
        say(str(path))
    return 0


def _check(host: Host, wanted: Namespace) -> int:
    found = problems(host)
    if wanted.json:
        say_json({"problems": found, "warnings": list(host.config.warnings)})
    else:
        for line in (*found, *(f"Warning: {warning}" for warning in host.config.warnings)):
            say(line)
        if not found:
            say(f"{host.config.file.path}: nothing is wrong")
    return ConfigError.exit_code if found else 0


def problems(host: Host) -> list[str]:
    """What is wrong with any table, a line each."""
    found = [*host.config.problems, *host.unknown_names(), *make_all(host)[1]]
    host.survey()
    found += _in_plugin_tables(host)
    found += map(str, host.faults)
    return list(dict.fromkeys(found))


def make_all(host: Host) -> tuple[list[Settings], list[str]]:
    """Make all that the file names, and let it go again: the settings it was given, and what is wrong."""
    config = host.config
    settings, wrong = [], []
    for name in dict.fromkeys([*config.providers, config.provider().name]):
        choice = config.provider(name)
        settings.append(choice.settings)
        if choice.kind in host.offers("mino_providers"):
            wrong += _wrong(host.make, "mino_providers", choice.kind, choice.settings)
        else:
            wrong += _wrong(config.provider, name, host.offers("mino_providers"))
    screen = Screen()
    try:
        for hook, chosen, arguments in (
            ("mino_histories", config.history, ()),
            ("mino_renderers", config.renderer, (screen,)),
            ("mino_inputs", config.input, (screen,)),
        ):
            if chosen.name in host.offers(hook):
                settings.append(chosen.settings)
                wrong += _wrong(host.make, hook, chosen.name, *arguments)
    finally:
        screen.close()
    return settings, wrong


def _wrong(make: Callable[..., object], *arguments: object) -> list[str]:
    """The lines that making one thing failed with; what was made is let go."""
    try:
        made = make(*arguments)
    except MinoError as error:
        return str(error).splitlines()
    if close := getattr(made, "close", None):
        close()
    return []


def _in_plugin_tables(host: Host) -> Iterator[str]:
    """Tables of plugins that are not there, and keys that a plugin did not ask for."""
    there = {plugin.name: plugin for plugin in host.plugins}
    for name in host.config.plugins.disabled:
        if name not in there:
            problem = f"there is no plugin {name!r}{did_you_mean(name, there)}"
            yield str(host.config.error("plugins.disabled", problem))
    for name, settings in host.config.plugins.settings.items():
        if name not in there:
            problem = f"there is no plugin {name!r}; `mino plugins list` shows those there are"
            yield str(host.config.error(settings.path, problem))
            continue
        asked = settings.asked()
        for key in settings.unread() if asked else ():
            problem = f"is not a setting of the plugin {name!r}, which asks for: {', '.join(asked)}"
            yield str(settings.error(key, problem))
