"""The observers of one turn: called one after the other, and watched without reading a clock.

An event's calls only note what is running. The shared timer looks at that every now and then: what
it sees again, the same call for the same event, longer after the first time than the limit, is over
its limit.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import Any, TypeAlias

from mino_core import interrupts
from mino_core.types import Finished, ReasoningDelta, RefusalDelta, TextDelta, ToolCall, Usage
from mino_core.values import value

#: Seconds that an observer may take for a delta, and for any other event.
DELTA_LIMIT, LIMIT = 0.1, 2.0
#: Seconds between two looks at what is running.
LOOK = 0.05
Call: TypeAlias = Callable[[Any], object]
_DELTAS = (TextDelta, ReasoningDelta, RefusalDelta, ToolCall, Usage, Finished)


@value
class Observer:
    """One plugin's `mino_event`, as a function of the event alone."""

    plugin: str
    call: Call


class Watch:
    """Shows events to observers. One that raises, or takes too long, is called no more.

    `silence` is told of it: the observer, the error, and the limit that held.
    """

    __slots__ = (
        "_armed",
        "_calls",
        "_event",
        "_live",
        "_running",
        "_seen",
        "_seen_at",
        "_silence",
        "_thread",
        "_watched",
    )

    def __init__(
        self, observers: Sequence[Observer], silence: Callable[[Observer, BaseException, float], None]
    ) -> None:
        self._live = {observer.call: observer for observer in observers}
        self._calls = tuple(self._live)
        self._silence = silence
        self._armed = interrupts.armed()  # one for all: `show` does not nest
        self._running: Call | None = None
        self._event: object = None
        self._seen: tuple[Call | None, object] = (None, None)
        self._seen_at = 0.0
        self._thread = get_ident()
        self._watched = False

    def show(self, event: object, calls: Sequence[Call] | None = None) -> None:
        """Let the observers see one event. What an observer itself causes is not observed.

        Outside of `watching`, and on the main thread, an event has a timer of its own.
        """
        if self.is_busy:
            return
        if not self._watched and get_ident() == self._thread:
            with self.watching():
                self.show(event, calls)
            return
        self._event = event
        culprit = None
        try:
            with self._armed:
                for call in self._calls if calls is None else calls:
                    self._running = call
                    call(event)
        except BaseException as error:  # a plugin's door
            if interrupts.is_users(error):
                raise
            culprit, fault = self._running, error
        finally:
            self._running = None
        if culprit is not None:
            rest = self._calls[self._calls.index(culprit) + 1 :]
            self._drop(culprit, fault)
            self.show(event, rest)

    @property
    def is_busy(self) -> bool:
        """Whether an observer runs now: then what happens is of its making."""
        return self._running is not None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look every now and then, during this block, at how long an observer takes."""
        before, self._watched = self._watched, True
        try:
            with nullcontext() if before else interrupts.every(LOOK, self._look):
                yield
        finally:
            self._watched = before

    def _drop(self, culprit: Call, error: BaseException) -> None:
        limit = self._limit()
        observer = self._live.pop(culprit)
        self._calls = tuple(self._live)
        self._silence(observer, error, limit)

    def _look(self) -> None:
        """Stop an observer that is over its limit; again at each look, until it gives way."""
        running, event = self._seen
        if running is not self._running or event is not self._event:
            self._seen, self._seen_at = (self._running, self._event), monotonic()
        elif running is not None and monotonic() - self._seen_at >= self._limit():
            raise interrupts.TimedOut

    def _limit(self) -> float:
        return DELTA_LIMIT if isinstance(self._event, _DELTAS) else LIMIT
