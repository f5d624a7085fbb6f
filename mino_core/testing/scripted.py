"""A provider that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from mino_core.types import Delta, Finished, Request

#: What a round is made of: deltas are yielded, exceptions raised, anything callable is called.
Item: TypeAlias = "Delta | BaseException | type[BaseException] | Callable[[], object]"


class Scripted:
    """Plays one round a request: `Scripted([TextDelta("hi"), Finished("stop")], ...)`.

    A callable stands for what happens in between: a gate that the test opens, a signal that
    arrives. `requests` are those that came; `closed_early` counts streams left before their end;
    `closed` says whether the provider itself was closed.
    """

    def __init__(self, *rounds: Iterable[Item], models: Sequence[str] = ("scripted",)) -> None:
        self._rounds = list(rounds)
        self._models = tuple(models)
        self.requests: list[Request] = []
        self.closed_early = 0
        self.closed = False

    def stream(self, request: Request) -> Iterator[Delta]:
        """Play the next round; AssertionError where the script has none left."""
        self.requests.append(request)
        asked, written = len(self.requests), len(self._rounds)
        if asked > written:
            raise AssertionError(f"request {asked} came, but the script has {written} round(s): {request!r}")
        return self._play(self._rounds[asked - 1])

    def _play(self, items: Iterable[Item]) -> Iterator[Delta]:
        ended = False
        try:
            for item in items:
                if isinstance(item, BaseException) or (
                    isinstance(item, type) and issubclass(item, BaseException)
                ):
                    ended = True
                    raise item
                if callable(item):
                    item()
                    continue
                ended = isinstance(item, Finished)  # after it, nothing is owed
                yield item
            ended = True
        finally:
            if not ended:
                self.closed_early += 1

    def models(self) -> Sequence[str]:
        """The names given at the start."""
        return self._models

    def close(self) -> None:
        """Note that the provider was closed."""
        self.closed = True
