"""What the command line asks for. argparse is imported only where there is something to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.config import Flags
from mino_core.errors import UsageError, did_you_mean
from mino_core.values import made, value

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_USAGE = """\
mino [options]              chat
       mino -p TEXT [options]      one answer
       mino SUBCOMMAND ..."""
_EPILOG = """\
Text on standard input is the prompt; with -p, it follows the argument.
`mino SUBCOMMAND --help` says more. `mino init` writes a first configuration.
exit codes: 0 completed, 1 a bug in mino, 2 usage or configuration, 3 failed,
4 incomplete, 5 interrupted, 130 cancelled, 141 broken pipe"""


@value
class Asked:
    """Everything on the command line; `help` is the text of it where that was asked for."""

    flags: Flags = made(factory=Flags)
    prompt: str | None = None
    interactive: bool = False
    attach: tuple[Path, ...] = ()
    version: bool = False
    help: str = ""
    subcommand: str | None = None
    rest: tuple[str, ...] = ()


def parse(arguments: Sequence[str]) -> Asked:
    """What was asked for; UsageError where it cannot be read, or where one thing excludes another."""
    if not arguments:
        return Asked()
    import re
    from argparse import ArgumentError

    parser = _parser()
    try:
        read, unknown = parser.parse_known_args(arguments)
    except ArgumentError as error:
        raise UsageError(f"{error.argument_name}: {error.message}; see `mino --help`") from None
    if unknown:
        flag = unknown[0].partition("=")[0]
        meant = did_you_mean(flag, re.findall(r"--[\w-]+", parser.format_help()))
        raise UsageError(f"there is no flag {flag}{meant or '; `mino --help` lists them'}")
    _refuse_what_would_be_dropped(read)
    return Asked(
        flags=_flags(read),
        prompt=read.prompt,
        interactive=read.interactive,
        attach=tuple(map(Path, read.attach)),
        version=read.version,
        help=parser.format_help() if read.help else "",
        subcommand=read.subcommand,
        rest=tuple(read.rest),
    )


def _refuse_what_would_be_dropped(read: Namespace) -> None:
    """UsageError where something was given that what was asked for does not take."""
    given = {
        "-p TEXT": read.prompt is not None,
        "-i": read.interactive,
        "-a FILE": bool(read.attach),
        "--continue": read.continue_,
        "--resume": read.resume is not None,
        "--no-history": read.no_history,
        "--history NAME": bool(read.history),
    }
    asking = [flag for flag in list(given)[:5] if given[flag]]
    if read.subcommand and asking and not read.help:
        hint = "; a text of several words stands in quotes" if read.prompt is not None else ""
        raise UsageError(f"{asking[0]} and the subcommand {read.subcommand!r} exclude each other{hint}")
    for one, other in (("-p TEXT", "-i"), ("--continue", "--resume"), ("--no-history", "--history NAME")):
        if given[one] and given[other]:
            raise UsageError(f"{one} and {other} exclude each other")
    for flag, paths in (("-a", read.attach), ("-e", read.extensions)):
        if not all(map(str.strip, paths)):
            raise UsageError(f"{flag} FILE: the name of the file is blank")


def _parser() -> ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(
        "mino",
        usage=_USAGE,
        description="An agent shell for the terminal in which everything is a plugin.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,  # the subcommands are known only once the plugins are loaded
        allow_abbrev=False,
        exit_on_error=False,  # what is wrong is told as everything else is
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="say this, or what a subcommand takes")
    add("-V", "--version", action="store_true", help="say which mino this is")
    add("-p", "--prompt", metavar="TEXT", help="ask this, print the answer, leave")
    add("-i", "--interactive", action="store_true", help="read prompts and commands from a pipe, a line each")
    add("-a", "--attach", metavar="FILE", action="append", default=[], help="send a file along")
    add(
        "-c",
        "--continue",
        dest="continue_",
        action="store_true",
        help="go on with the last conversation of this directory",
    )
    add(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with a kept conversation; the start of its id is enough, without one you choose",
    )
    add("-s", "--system", metavar="TEXT", help="instructions for this run, in place of SOUL.md")
    add(
        "-o",
        "--option",
        dest="options",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="send an option as it is, such as -o temperature=0.2",
    )
    add("--provider", metavar="NAME", help="who answers: a [providers.NAME] table, a preset or a kind")
    add("--model", metavar="NAME", help="which model")
    add("--renderer", metavar="NAME", help="how answers are drawn: rich, plain, json")
    add("--input", metavar="NAME", help="how lines are read: editor, lines")
    add("--history", metavar="NAME", help="where conversations are kept: jsonl, memory")
    add("--no-history", action="store_true", help="keep this conversation in memory only")
    add("--config", metavar="FILE", help="read this file in place of MINO_HOME/config.toml")
    add("--plain", action="store_true", help="no colour, no motion: --renderer plain --input lines")
    add("--quiet", action="store_true", help="no banner and no usage line")
    add("--safe", action="store_true", help="load built-in plugins only")
    add("--debug", action="store_true", help="show each request on standard error, secrets masked")
    add("--yes", action="store_true", help="allow every tool call")
    add(
        "-e",
        metavar="FILE",
        dest="extensions",
        action="append",
        default=[],
        help="load a plugin from this file, for this run",
    )
    add("subcommand", nargs="?", help=argparse.SUPPRESS)
    add("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _flags(read: Namespace) -> Flags:
    told = {name: value for name, value in vars(read).items() if name in Flags.__match_args__}
    config = Path(told["config"]) if (told["config"] or "").strip() else None
    options = dict(map(_option, told["options"]))
    return Flags(
        **told | {"config": config, "options": options, "extensions": tuple(map(Path, told["extensions"]))}
    )


def _option(text: str) -> tuple[str, Any]:
    """`temperature=0.2` as name and value: a TOML value where it is one, else a string."""
    import tomllib

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"-o {text!r}: write -o KEY=VALUE")
    try:
        read = tomllib.loads(f"x = {value}")
    except tomllib.TOMLDecodeError:
        read = {}
    return name.strip(), read["x"] if read.keys() == {"x"} else value
