"""Conversations in memory and in JSONL files, and what looks after them: commands, a budget, a subcommand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Command, History, Host, Request, Session, Settings


@hookimpl
def mino_histories() -> Mapping[str, Callable[[Settings], History]]:
    """`jsonl` keeps conversations in files, `memory` until mino ends."""
    return {"jsonl": _jsonl, "memory": _memory}


@hookimpl
def mino_commands() -> Mapping[str, Command]:
    """`/history`, `/resume`, `/title`, `/fork` and `/compact`."""
    from .commands import COMMANDS

    return COMMANDS


@hookimpl
def mino_request(request: Request, session: Session) -> Request | None:
    """Leave out the oldest turns where `[history] budget` says so."""
    if session.config.budget is None:
        return None
    from .budget import within

    return within(request, session)


@hookimpl
def mino_subcommands() -> Mapping[str, Callable[[list[str], Host], int]]:
    """`mino history list|show|search|export|import|rm`."""
    return {"history": _history}


def _jsonl(settings: Settings) -> History:
    from pathlib import Path

    from .jsonl import Jsonl

    return Jsonl(settings.home / Path(settings.text("path", "history")).expanduser())


def _memory(settings: Settings) -> History:
    from .memory import Memory

    return Memory()


def _history(argv: list[str], host: Host) -> int:
    """Find, look at, move and erase conversations."""
    from .subcommand import main

    return main(argv, host)
