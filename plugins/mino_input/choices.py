"""What an answer to a question means: one of its choices, by its name or the beginning of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mino_core import sanitise

if TYPE_CHECKING:
    from mino_core import Screen, Session

#: Choices that change nothing: what Enter alone stands for.
_NO = frozenset({"n", "no", "not", "never", "deny", "reject", "cancel", "stop", "否", "不"})


def understand(answer: str, choices: Sequence[str]) -> str | None:
    """The choice that is meant. A blank answer is the first that says no, or None.

    ValueError where no choice is meant, or more than one.
    """
    said = answer.strip().casefold()
    if not said:
        return next((choice for choice in choices if choice.casefold() in _NO), None)
    for choice in choices:
        if choice.casefold() == said:
            return choice
    (meant,) = (choice for choice in choices if choice.casefold().startswith(said))
    return meant


def pose(session: Session | None, screen: Screen, question: str) -> None:
    """Put a question on the screen: as a notice, since the screen is the renderer's."""
    if session is not None:
        session.notify(question)
    else:
        screen.aside(sanitise(question) + "\n")


def offer(choices: Sequence[str]) -> str:
    """The prompt of a question."""
    return f"[{'/'.join(map(sanitise, choices))}] "
