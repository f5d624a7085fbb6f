"""The observers of one turn: called one after the other, and watched without reading a clock for each.

An event costs one clock reading for all observers together. It marks that event's calls, so that the
shared timer can tell a call that is still the same from one that came after it: what it sees twice,
longer apart than the limit, is over its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from . import interrupts
from .types import Finished, ReasoningDelta, RefusalDelta, TextDelta, ToolCall, Usage

#: Seconds that an observer may take for a delta, and for any other event.
DELTA_LIMIT, LIMIT = 0.1, 2.0
#: Seconds between two looks at what is running.
LOOK = 0.05
_DELTAS = (TextDelta, ReasoningDelta, RefusalDelta, ToolCall, Usage, Finished)


@dataclass(frozen=True, slots=True, eq=False)
class Observer:
    """One plugin's `mino_event`, as a function of the event alone."""

    plugin: str
    call: Callable[[Any], object] = field(repr=False)


class Watch:
    """Shows events to observers. One that raises, or takes too long, is called no more.

    `silence` is told of it: the observer, the error, and the limit that held.
    """

    def __init__(
        self, observers: Sequence[Observer], silence: Callable[[Observer, BaseException, float], None]
    ) -> None:
        self._live = {observer.call: observer for observer in observers}
        self._calls = tuple(self._live)
        self._silence = silence
        self._running: Callable[[Any], object] | None = None
        self._started = 0.0
        self._event: object = None
        self._seen: tuple[object, float] | None = None
        self._seen_at = 0.0

    def show(self, event: object) -> None:
        """Let every observer see one event. What an observer itself causes is not observed."""
        if self._running is None:
            self._event = event
            self._show(self._calls, event)

    def watching(self) -> AbstractContextManager[None]:
        """Look every now and then, during this block, at how long an observer takes."""
        return interrupts.every(LOOK, self._look)

    def _show(self, calls: tuple[Callable[[Any], object], ...], event: object) -> None:
        self._started = monotonic()
        try:
            with interrupts.armed():
                for self._running in calls:
                    self._running(event)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 (a plugin's door)
            culprit, fault = self._running, error
        else:
            return
        finally:
            self._running = None
        if culprit is not None:
            self._drop(culprit, fault)
            self._show(calls[calls.index(culprit) + 1 :], event)

    def _drop(self, culprit: Callable[[Any], object], error: BaseException) -> None:
        observer = self._live.pop(culprit)
        self._calls = tuple(self._live)
        self._silence(observer, error, self._limit())

    def _look(self) -> None:
        """Stop an observer that is over its limit; again at each look, until it gives way."""
        call, now = (self._running, self._started), monotonic()
        if call != self._seen:
            self._seen, self._seen_at = call, now
        elif self._running is not None and now - self._seen_at >= self._limit():
            raise interrupts.TimedOut

    def _limit(self) -> float:
        return DELTA_LIMIT if isinstance(self._event, _DELTAS) else LIMIT
