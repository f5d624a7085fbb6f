"""Drawing an answer: `rich` for terminals, `plain` for pipes and screen readers, `json` for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Renderer, Screen, Settings


@hookimpl
def mino_renderers() -> Mapping[str, Callable[[Settings, Screen], Renderer]]:
    """`rich` draws Markdown, `plain` writes the words as they come, `json` one object per event."""
    return {"rich": _rich, "plain": _plain, "json": _json}


def _rich(settings: Settings, screen: Screen) -> Renderer:
    if not screen.can_move and (screen.is_terminal or not screen.colour):
        return _plain(settings, screen)  # nothing can be repainted there, and no escape is welcome
    from .rich_terminal import Rich

    return Rich(settings, screen)


def _plain(settings: Settings, screen: Screen) -> Renderer:
    from .plain import Plain

    return Plain(settings, screen)


def _json(settings: Settings, screen: Screen) -> Renderer:
    from .json_lines import JsonLines

    return JsonLines(screen)
