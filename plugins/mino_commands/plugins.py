"""`mino plugins`: what was found, what became of it, and how to go without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tables import say, say_json, table

if TYPE_CHECKING:
    from mino_core import Host

#: Seconds from which on an import is worth a remark.
_SLOW = 0.05


def main(argv: list[str], host: Host) -> int:
    """Run `mino plugins ARGV`; the exit code."""
    from argparse import SUPPRESS, ArgumentParser

    parser = ArgumentParser("mino plugins", description="Look at the plugins.")
    acts = parser.add_subparsers(metavar="list")
    parser.add_argument("--json", action="store_true", help="as one JSON value")
    every = acts.add_parser("list", help="every plugin, what it offers and what is wrong with it")
    every.add_argument("--json", action="store_true", default=SUPPRESS, help="as one JSON value")
    wanted = parser.parse_args(argv)
    host.survey()
    rows = [_row(plugin) for plugin in host.plugins]
    if wanted.json:
        say_json({"plugins": rows, "faults": [str(fault) for fault in host.faults]})
        return 0
    say(table([(row["name"], row["state"], row["origin"], _remarks(row)) for row in rows], indent=""))
    for fault in host.faults:
        say(f"\n{fault}")
    return 0


def _row(plugin: Any) -> dict[str, Any]:
    """One plugin as data."""
    return {
        "name": plugin.name,
        "state": plugin.state,
        "source": plugin.source,
        "origin": plugin.origin,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "path": str(plugin.path),
        "seconds": round(plugin.seconds, 4),
        "offers": {hook: list(names) for hook, names in plugin.offers.items()},
    }


def _remarks(row: dict[str, Any]) -> str:
    """What a plugin offers, and whether it is slow."""
    offered = [
        f"{hook.removeprefix('mino_')}: {', '.join(names)}" for hook, names in row["offers"].items() if names
    ]
    slow = [f"took {row['seconds'] * 1000:.0f} ms to import"] if row["seconds"] > _SLOW else []
    return "; ".join(offered + slow)
