"""Going on with an earlier conversation: which one, and what the user sees of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mino_core.errors import HistoryError, MinoError, UsageError

if TYPE_CHECKING:
    from mino_core.records import Turn
    from mino_core.session import Session

#: How many turns of a resumed conversation are shown, and how many lines of a text in them.
_TURNS = 2
_FIRST_LINES, _LAST_LINES = 4, 8


def go_on(session: Session) -> None:
    """Go on with the conversation that was asked for: the one named, or the last one of this directory.

    UsageError where somebody would have to choose and nobody is there, HistoryError where what was
    named is not there, or could be several.
    """
    flags = session.config.flags
    if flags.resume is not None:
        if not flags.resume.strip() and session.input is None:
            raise UsageError("--resume needs an ID where nobody can choose; see `mino history list`")
        chosen = session.choose(flags.resume)
        if chosen is not None:
            _take_up(session, chosen)
    else:
        try:
            if chosen := _last_here(session):
                _take_up(session, chosen)
            elif flags.continue_:
                session.notify("there is no earlier conversation in this directory; this is a new one")
        except MinoError as error:
            session.notify(f"{error}; this is a new conversation", "warning")


def _last_here(session: Session) -> str:
    try:
        here = os.getcwd()
    except OSError as error:
        raise HistoryError(f"the directory we are in is gone ({error.strerror})") from error
    try:
        heads = session.host.history.conversations()
        return next((str(head["id"]) for head in heads if head.get("directory") == here), "")
    except MinoError:
        raise
    except Exception as error:
        raise HistoryError(f"kept conversations cannot be listed: {type(error).__name__}: {error}") from error


def _take_up(session: Session, id: str) -> None:
    session.resume(id)
    session.notify(f"Going on with {_called(session)}.")
    if session.input is not None and session.journal.recent.turns:
        session.notify(_seen(session.journal.recent.turns))


def _called(session: Session) -> str:
    """The conversation's id, its title, if that was read anyway, and how often it was asked, also undone."""
    title = f" ({title})" if (title := session.journal.recent.title) else ""
    n = session.turn
    return f"{session.id}{title}, {n} {'question' if n == 1 else 'questions'} asked so far"


def _seen(turns: list[Turn]) -> str:
    """The end of a conversation, as one wants to see it before going on."""
    lines = []
    for turn in turns[-_TURNS:]:
        if turn.question:
            lines.append(f"You> {_shortened(turn.question)}")
        if turn.answer:
            lines.append(f"Assistant> {_shortened(turn.answer)}")
    if turns[-1].outcome != "completed":
        lines.append(f"That turn was {turns[-1].outcome}; /retry asks again, /continue asks for more.")
    return "\n".join(lines)


def _shortened(text: str) -> str:
    """The first and the last lines of a text that is longer."""
    lines = text.strip("\n").splitlines()
    left_out = len(lines) - _FIRST_LINES - _LAST_LINES
    if left_out <= 1:
        return "\n".join(lines)
    return "\n".join([*lines[:_FIRST_LINES], f"… ({left_out} lines) …", *lines[-_LAST_LINES:]])
