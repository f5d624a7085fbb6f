"""A renderer that draws nothing and remembers everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mino_core.types import Event, Notice, ReasoningDelta, RefusalDelta, TextDelta, TurnEnded

_E = TypeVar("_E")


class Recorder:
    """Keeps the events in order. `react`, if given, is called with each one after it is kept.

    `closed` says whether the renderer was closed.
    """

    def __init__(self, react: Callable[[Event], object] | None = None) -> None:
        self._react = react
        self.events: list[Event] = []
        self.closed = False

    def show(self, event: Event) -> None:
        """Keep one event."""
        self.events.append(event)
        if self._react is not None:
            self._react(event)

    def close(self) -> None:
        """Note that the renderer was closed."""
        self.closed = True

    def of(self, kind: type[_E]) -> list[_E]:
        """The events of one kind: `recorder.of(Notice)`."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """What was answered, in one piece."""
        return "".join(event.text for event in self.of(TextDelta))

    @property
    def reasoning(self) -> str:
        """What was thought, in one piece."""
        return "".join(event.text for event in self.of(ReasoningDelta))

    @property
    def refusal(self) -> str:
        """What was refused, in one piece."""
        return "".join(event.text for event in self.of(RefusalDelta))

    @property
    def notices(self) -> list[str]:
        """The sentences shown beside the answer."""
        return [event.text for event in self.of(Notice)]

    @property
    def ended(self) -> list[TurnEnded]:
        """The ends of the turns so far."""
        return self.of(TurnEnded)
