"""What the command line asks for. argparse is imported only where there is something to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.config import Flags
from mino_core.errors import UsageError
from mino_core.values import made, value

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_USAGE = """\
mino [options]              chat
       mino -p TEXT [options]      one answer
       mino SUBCOMMAND ..."""
_EPILOG = """\
With text on standard input, that text is the prompt (after -p, it follows the argument).
exit codes: 0 completed, 1 a bug in mino, 2 usage or configuration, 3 failed, 4 incomplete,
5 interrupted, 130 cancelled, 141 broken pipe"""


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
    """What was asked for; exits with 2 and a usage line where it cannot be read."""
    if not arguments:
        return Asked()
    parser = _parser()
    read = parser.parse_args(arguments)
    return Asked(
        flags=_flags(read),
        prompt=read.prompt,
        interactive=read.interactive,
        attach=tuple(read.attach),
        version=read.version,
        help=parser.format_help() if read.help else "",
        subcommand=read.subcommand,
        rest=tuple(read.rest),
    )


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
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="say this")
    add("-V", "--version", action="store_true", help="say which mino this is")
    add("-p", "--prompt", metavar="TEXT", help="ask this, print the answer, leave")
    add("-i", "--interactive", action="store_true", help="read prompts and commands from a pipe, a line each")
    add("-a", "--attach", metavar="FILE", action="append", default=[], type=Path, help="send a file along")
    add(
        "-c", "--continue", dest="continue_", action="store_true", help="go on with this directory's last one"
    )
    add(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with a kept conversation; the start of its id is enough, without one you choose",
    )
    add("-s", "--system", metavar="TEXT", help="instructions for this run")
    add("-o", "--option", metavar="KEY=VALUE", action="append", default=[], help="send an option as it is")
    add("--provider", metavar="NAME")
    add("--model", metavar="NAME")
    add("--renderer", metavar="NAME")
    add("--input", metavar="NAME")
    add("--history", metavar="NAME")
    add("--no-history", action="store_true", help="keep this conversation in memory only")
    add("--config", metavar="FILE", type=Path, help="read this file in place of MINO_HOME/config.toml")
    add("--plain", action="store_true", help="no colour, no motion: --renderer plain --input lines")
    add("--quiet", action="store_true", help="no banner and no usage line")
    add("--safe", action="store_true", help="load built-in plugins only")
    add("--debug", action="store_true", help="show each request on standard error, secrets masked")
    add("--yes", action="store_true", help="allow every tool call")
    add("-e", metavar="FILE", dest="extensions", action="append", default=[], type=Path, help="load a plugin")
    add("subcommand", nargs="?", help=argparse.SUPPRESS)
    add("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _flags(read: Namespace) -> Flags:
    return Flags(
        provider=read.provider,
        model=read.model,
        renderer=read.renderer,
        input=read.input,
        history=read.history,
        no_history=read.no_history,
        config=read.config,
        plain=read.plain,
        quiet=read.quiet,
        safe=read.safe,
        debug=read.debug,
        yes=read.yes,
        system=read.system,
        options=dict(map(_option, read.option)),
        extensions=tuple(read.extensions),
        resume=read.resume,
        continue_=read.continue_,
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
