"""The hooks, as their authors read them.

Hooks whose name is a plural noun *offer*: they return a mapping of names to callables. The others
observe or decide at a moment. Every hook may name `settings` last: the plugin's own table
`[plugins.settings.NAME]`. An implementation leaves out the arguments it does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import pluggy

if TYPE_CHECKING:
    from .plugins import Host
    from .screen import Screen
    from .session import Session
    from .settings import Settings
    from .types import Event, History, Input, Provider, Renderer, Request, Tool, ToolCall, Verdict

hookspec = pluggy.HookspecMarker("mino")
#: Marks a function as the implementation of the hook of that name.
hookimpl = pluggy.HookimplMarker("mino")

#: Takes the session and the raw rest of the line; a returned string is asked as the prompt. Its
#: help is the docstring's first line. May have `complete(session, text) -> Iterable[str]`, and `file`
#: where a user's file is the command: it yields its name to a command that is code.
Command: TypeAlias = "Callable[[Session, str], str | None]"


@hookspec
def mino_providers(settings: Settings) -> Mapping[str, Callable[[Settings], Provider]]:  # type: ignore[empty-body]
    """Offer kinds of provider: `[providers.NAME] kind = "..."` makes one of them."""


@hookspec
def mino_commands(host: Host, settings: Settings) -> Mapping[str, Command]:  # type: ignore[empty-body]
    """Offer slash commands. Asked again at each `/`, so the offer may change."""


@hookspec
def mino_histories(settings: Settings) -> Mapping[str, Callable[[Settings], History]]:  # type: ignore[empty-body]
    """Offer places to keep conversations: `[history] backend` chooses one."""


@hookspec
def mino_renderers(settings: Settings) -> Mapping[str, Callable[[Settings, Screen], Renderer]]:  # type: ignore[empty-body]
    """Offer ways to draw: `[renderer] name` chooses one."""


@hookspec
def mino_inputs(settings: Settings) -> Mapping[str, Callable[[Settings, Screen], Input]]:  # type: ignore[empty-body]
    """Offer ways to read a line: `[input] name` chooses one."""


@hookspec
def mino_tools(settings: Settings) -> Mapping[str, Tool | Callable[..., object]]:  # type: ignore[empty-body]
    """Offer tools that the model may call. Asked at the start of each turn."""


@hookspec
def mino_subcommands(settings: Settings) -> Mapping[str, Callable[[list[str], Host], int]]:  # type: ignore[empty-body]
    """Offer subcommands: `mino NAME ...`, given the rest of the command line; returns the exit code."""


@hookspec
def mino_request(request: Request, session: Session, settings: Settings) -> Request | None:
    """Change the next request. Plugins take turns in order, each given the result of the one before."""


@hookspec(firstresult=True)
def mino_approve(call: ToolCall, session: Session, settings: Settings) -> Verdict | None:
    """Decide on a tool call, or return None for no opinion. The first plugin with one decides."""


@hookspec
def mino_event(event: Event, session: Session, settings: Settings) -> None:
    """Observe one event, after the renderer has shown it."""
