"""Reading a line: the full editor, and plain lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Input, Screen, Settings


@hookimpl
def mino_inputs() -> Mapping[str, Callable[[Settings, Screen], Input]]:
    """`editor` edits a line of any length, `lines` reads what the kernel or a pipe hands over."""
    return {"editor": _editor, "lines": _lines}


def _editor(settings: Settings, screen: Screen) -> Input:
    from .editor import Editor

    return Editor(settings, screen)


def _lines(settings: Settings, screen: Screen) -> Input:
    from .lines import Lines

    return Lines(settings, screen)


vars(_lines)["edits"] = False  # the kernel does
