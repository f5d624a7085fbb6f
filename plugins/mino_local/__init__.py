"""The embedded model: a child process that speaks the chat dialect.

This plugin knows how to run a model, not how to talk to one. The kind `openai-chat` does that; it
is looked up by its name, as a configuration would name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Host, Provider, Settings


@hookimpl
def mino_providers() -> Mapping[str, Callable[[Settings], Provider]]:
    """Offer the kind `local`."""
    return {"local": _local}


@hookimpl
def mino_subcommands() -> Mapping[str, Callable[[list[str], Host], int]]:
    """Offer `mino local`."""
    return {"local": _subcommand}


def _local(settings: Settings) -> Provider:
    from .provider import Local

    return Local(settings, _chat)


def _chat(settings: Settings) -> Provider:
    from importlib.metadata import entry_points

    # The value too, since a stranger of that name is not what anyone means.
    openai = next(iter(entry_points(group="mino", name="openai", value="mino_openai")))
    provider: Provider = openai.load().mino_providers()["openai-chat"](settings)
    return provider


def _subcommand(arguments: list[str], host: Host) -> int:
    """Fetch the embedded model, or say what there is of it."""
    from .subcommand import local

    return local(arguments, host)
