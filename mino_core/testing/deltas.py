"""Looking at what a provider yielded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from mino_core.errors import ProviderError
from mino_core.types import Delta, Finished, TextDelta

from .steps import Step

_E = TypeVar("_E")


def half(step: Step) -> list[Step]:
    return [step[: len(step) // 2]] if isinstance(step, bytes) else []


def of(kind: type[_E], deltas: Iterable[Delta]) -> list[_E]:
    return [delta for delta in deltas if isinstance(delta, kind)]


def finished(deltas: list[Delta]) -> Finished:
    last = of(Finished, deltas)
    return last[-1] if last else Finished("pause", "there was no Finished")


def spoken(deltas: Iterable[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def next_text(deltas: Iterator[Delta]) -> str:
    """The next text, or what came in its place, in words."""
    try:
        return next((delta.text for delta in deltas if isinstance(delta, TextDelta)), "nothing came")
    except ProviderError as error:
        return f"an error came: {error}"


def until_error(deltas: Iterator[Delta]) -> tuple[list[Delta], Exception | None]:
    """What came, and what was raised after it."""
    came: list[Delta] = []
    try:
        for delta in deltas:
            came.append(delta)  # noqa: PERF402 (what came before an error counts too)
    except Exception as error:  # noqa: BLE001 (what is raised is what is judged)
        return came, error
    return came, None
