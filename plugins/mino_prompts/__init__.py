"""Slash commands that are Markdown files: the user's own, and those of a project that is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Command, Host, Settings


@hookimpl
def mino_commands(host: Host, settings: Settings) -> Mapping[str, Command]:
    """`/dir:x` for each `commands/dir/x.md`, and `/trust`."""
    from .folders import commands

    return commands(host, settings.home / "commands")
