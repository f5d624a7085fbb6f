"""The slash commands of a conversation, and the subcommands that set mino up and look it over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Command, Host

_SUBCOMMANDS = ("init", "config", "models", "doctor")
#: Those that are of use where the configuration is wrong.
_MENDING = ("config", "doctor")


@hookimpl
def mino_commands() -> Mapping[str, Command]:
    """`/clear`, `/exit`, `/help` and the rest."""
    from .commands import COMMANDS

    return COMMANDS


@hookimpl
def mino_subcommands() -> Mapping[str, Callable[[list[str], Host], int]]:
    """`mino init`, `mino config` and the rest."""
    found = {name: partial(_run, name) for name in _SUBCOMMANDS}
    for name in _MENDING:
        vars(found[name])["mends"] = True
    return found


def _run(name: str, argv: list[str], host: Host) -> int:
    """Import the subcommand's module and run it; the exit code."""
    from importlib import import_module

    code: int = import_module(f".{name}", __name__).main(argv, host)
    return code
