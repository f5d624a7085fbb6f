"""What a plugin made, as mino holds it: whatever it raises is one line with the plugin's name.

A provider, a history, a renderer or an input is called from many places. So that each of them need
not know whose it is, what a stranger's factory returned is wrapped once, where it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mino_core import interrupts
from mino_core.errors import MinoError
from mino_core.faults import reason
from mino_core.screen import ScreenGone

#: Turns what was raised into a kept fault, and into the error that says the same.
Blame = Callable[[str], MinoError]


class Made:
    """Something a plugin made. `stops` says that it tells of a key for the end, or of Ctrl-C, by raising."""

    def __init__(self, thing: object, blame: Blame, *, stops: bool = False) -> None:
        self._thing = thing
        self._blame = blame
        self._stops = stops

    def __getattr__(self, name: str) -> Any:
        value = self._guarded(getattr, self._thing, name)
        if not callable(value):
            return value
        return lambda *args, **named: self._result(name, self._guarded(value, *args, **named))

    def _result(self, name: str, result: Any) -> Any:
        """What comes of a call: the log of a history and an iterator are the plugin's as well."""
        if name == "open":
            return Made(result, self._blame)
        return self._each(result) if isinstance(result, Iterator) else result

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        end = object()
        try:
            while (item := self._guarded(next, items, end)) is not end:
                yield item
        finally:
            if close := getattr(items, "close", None):
                self._guarded(close)

    def _guarded(self, act: Callable[..., Any], *args: Any, **named: Any) -> Any:
        try:
            return act(*args, **named)
        except BaseException as error:  # a plugin's door
            if self._passes(error) or (act is getattr and isinstance(error, AttributeError)):
                raise
            raise self._blame(reason(error)) from error

    def _passes(self, error: BaseException) -> bool:
        """Whether an error is no fault of the plugin's: an answer, a stop, the end of our output."""
        match error:
            case KeyboardInterrupt():
                return interrupts.is_users(error) or (self._stops and type(error) is KeyboardInterrupt)
            case EOFError():
                return self._stops
            case ScreenGone():
                return error.__cause__ is not None  # what the system said; without it, it is made up
        return isinstance(error, MinoError)
