"""The command line of `mino plugins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from mino_core import Host

#: What each does, and what it takes.
_ACTS = {
    "list": ("every plugin: where it comes from, what it offers, what is wrong with it", ""),
    "info": ("all that is known of a plugin", "names"),
    "check": ("ask plugins for all that they offer; 0 where nothing is wrong, else 2", "some names"),
    "install": ("add packages with plugins, with the right command for this environment", "packages"),
    "uninstall": ("remove the package of a plugin", "names"),
    "sync": ("put back what an upgrade of mino removed", ""),
    "disable": ("go without a plugin, or all plugins of a package", "names"),
    "enable": ("take a disabled plugin up again", "names"),
    "new": ("write a small, complete package to begin with", "a name"),
}
_CHANGES = ("install", "uninstall", "sync", "disable", "enable", "new")


def main(argv: list[str], host: Host) -> int:
    """Run `mino plugins ARGV`; the exit code."""
    return _do(host, _parser().parse_args(argv))


def _parser() -> ArgumentParser:
    from argparse import SUPPRESS, ArgumentParser

    from .new import KINDS

    parser = ArgumentParser("mino plugins", description="See, make, install, switch and remove plugins.")
    parser.add_argument("--json", action="store_true", help="as one JSON value")
    parser.set_defaults(act="list")
    acts = parser.add_subparsers(metavar="|".join(_ACTS))
    for name, (text, takes) in _ACTS.items():
        one = acts.add_parser(name, help=text, description=text)
        one.set_defaults(act=name)
        one.add_argument("--json", action="store_true", default=SUPPRESS, help="as one JSON value")
        if name in _CHANGES:
            one.add_argument("--dry-run", action="store_true", help="only say what would be done")
        match takes:
            case "names":
                one.add_argument("names", nargs="+", metavar="NAME", help="a plugin, or a package of plugins")
            case "some names":
                one.add_argument("names", nargs="*", metavar="NAME", help="default: all")
            case "packages":
                one.add_argument("names", nargs="+", metavar="PACKAGE", help="a name, a file or a folder")
            case "a name":
                one.add_argument("name", metavar="NAME", help="the package will be called mino-NAME")
                one.add_argument("--kind", choices=KINDS, required=True, help="what it offers")
                one.add_argument(
                    "--into", metavar="FOLDER", default=".", help="default: the working directory"
                )
    return parser


def _do(host: Host, wanted: Namespace) -> int:
    from . import installing, listing, new, switching
    from .environment import here

    as_json: bool = wanted.json
    match wanted.act:
        case "list":
            return listing.every(host, as_json=as_json)
        case "info":
            return listing.info(host, wanted.names, as_json=as_json)
        case "check":
            return listing.check(host, wanted.names, as_json=as_json)
        case "install":
            return installing.install(host, here(), wanted.names, dry=wanted.dry_run, as_json=as_json)
        case "uninstall":
            return installing.uninstall(host, here(), wanted.names, dry=wanted.dry_run, as_json=as_json)
        case "sync":
            return installing.sync(host, here(), dry=wanted.dry_run, as_json=as_json)
        case "disable":
            return switching.disable(host, wanted.names, dry=wanted.dry_run, as_json=as_json)
        case "enable":
            return switching.enable(host, wanted.names, dry=wanted.dry_run, as_json=as_json)
    return new.write(host, wanted.name, wanted.kind, wanted.into, dry=wanted.dry_run, as_json=as_json)
