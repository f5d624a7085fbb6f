"""What an answer to a question means: one of its choices, by its name or the beginning of it."""

from __future__ import annotations

from collections.abc import Sequence

from mino_core import Sanitiser

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


def shown(text: str) -> str:
    """Text from anywhere, fit for a terminal."""
    sanitiser = Sanitiser()
    return sanitiser.feed(text) + sanitiser.end()
