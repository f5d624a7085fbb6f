"""How a session begins and ends: what is made, what is said first, what is said last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mino_core.faults import let_go
from mino_core.session import Session
from mino_core.session.display import Display
from mino_core.types import Input, Renderer, SessionStarted

if TYPE_CHECKING:
    from mino_core.plugins import Host
    from mino_core.screen import Screen


@contextmanager
def session(host: Host, screen: Screen, reader: Input | None = None) -> Iterator[Session]:
    """A session, ready for the first question, and let go at the end of the block.

    `reader` is what a person answers through: who is there, is greeted.
    """
    if host.config.history.settings:  # a mistake in them is none that a conversation is begun with
        _ = host.history
    opened = Session(host, _display(host, screen))
    opened.input = reader
    try:
        opened.display.observers = host.observers(opened)
        for warning in (*host.config.warnings, *map(str, host.faults)):
            opened.notify(warning, "warning")
        flags = host.config.flags
        if flags.resume is not None or host.config.session.resume == "last":
            from . import resuming

            resuming.go_on(opened)
        banner = _banner(opened) if reader is not None and not flags.quiet else ""
        opened.display.show(SessionStarted(opened.id, opened.provider, opened.model, banner, flags.quiet))
        yield opened
    finally:
        opened.close()


def _display(host: Host, screen: Screen) -> Display:
    def make(name: str) -> Renderer:
        renderer: Renderer = host.make("mino_renderers", name, screen)
        return renderer

    # A pipe, or a terminal that knows no sequences, gets text and nothing else, unless told otherwise.
    name = host.config.renderer.name if screen.can_move or host.config.flags.renderer else "plain"
    return Display(screen, make(name), lambda: make("plain"))


def _banner(session: Session) -> str:
    """Two lines: what answers; what of the conversation the model sees, and how to leave."""
    note = getattr(session.answerer, "note", "")
    why = f"; {session.why}" if session.why else ""
    sent = {
        "all": "The model sees the whole conversation",
        "completed": "The model sees completed turns only",
        "none": "Each question stands on its own",
    }[session.config.send]
    kept = ", kept in memory only" if session.config.history.name == "memory" else ""
    return (
        f"mino: {session.model}{'. ' + note if note else f' ({session.provider}{why})'}\n"
        f"{sent}{kept}. /help lists commands, Ctrl-D leaves."
    )


@contextmanager
def reader(host: Host, screen: Screen) -> Iterator[Input]:
    """What reads lines from a person; the terminal's modes are put back at the end of the block."""
    from mino_core import keyboard

    name = host.config.input.name if screen.can_move else "lines"
    offer = host.offers("mino_inputs").get(name)
    with keyboard.typing_ahead(screen, quiet=getattr(offer and offer.value, "edits", True)):
        made: Input = host.make("mino_inputs", name, screen)
        keyboard.is_read = hasattr(made, "hold")
        try:
            yield made
        finally:
            keyboard.is_read = False
            if trouble := let_go(made):
                screen.aside(f"Warning: the input failed to close: {trouble}\n")


def farewell(session: Session) -> str:
    """How to go on with this conversation later, or what of it is lost; nothing where nothing was kept."""
    if lost := session.journal.unkept:
        return f"{lost} {'message' if lost == 1 else 'messages'} of this conversation could not be kept."
    if not session.journal.is_kept or session.config.history.name == "memory":
        return ""
    return f"To go on later: mino --resume {session.id}"
