"""Async libraries behind the plain generators of mino: one loop in one daemon thread.

A fresh loop for each stream breaks clients that are used again, and a task for each item breaks
task groups; so there is one loop for the life of the process, and one task for each generator.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
_INSIDE = "this runs in mino's event loop already: await it instead"

_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; what it raises is raised here, and an interrupt cancels it."""
    if threading.current_thread() is _thread:
        coroutine.close()
        raise RuntimeError(_INSIDE)

    async def only() -> AsyncIterator[T]:
        yield await coroutine

    with closing(from_async(only)) as items:
        for result in items:
            return result
    raise RuntimeError("the coroutine was cancelled by what it called")


def from_async(make_generator: Callable[[], AsyncIterator[T]]) -> Generator[T]:
    """The items of an async generator, taken one at a time, so that it waits while nobody asks.

    It runs in one task from its first item to its end. Closing this iterator cancels that task
    without waiting for it; what it raises is raised here.
    """
    import asyncio

    if threading.current_thread() is _thread:
        raise RuntimeError(_INSIDE)
    loop = _running_loop()
    job: _Job[T] = _Job()
    try:
        asyncio.run_coroutine_threadsafe(job.run(make_generator), loop)
        while True:
            match job.items.get():
                case ("item", item):
                    yield item
                    loop.call_soon_threadsafe(job.wanted.set)
                case ("raised", error):
                    raise error
                case _:
                    return
    finally:  # whatever happened, even before the task began
        loop.call_soon_threadsafe(job.cancel)


class _Job(Generic[T]):
    """A generator in its task, and the queue through which its items leave."""

    def __init__(self) -> None:
        import asyncio
        from queue import SimpleQueue

        self.items: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_cancelled = False

    async def run(self, make_generator: Callable[[], AsyncIterator[T]]) -> None:
        """Hand over each item and wait until the next is wanted; hand over what ends it too."""
        import asyncio

        self._task = asyncio.current_task()
        if self._is_cancelled:
            return
        generator: AsyncIterator[T] | None = None
        try:
            generator = make_generator()
            async for item in generator:
                self.items.put(("item", item))
                await self.wanted.wait()
                self.wanted.clear()
        except asyncio.CancelledError:
            pass  # by the one who takes the items, or by the generator itself: it is the end
        except BaseException as error:  # noqa: BLE001 (raised where the items are taken; here it would end the loop)
            self.items.put(("raised", error))
        finally:
            self.items.put(("ended", None))
            close = getattr(generator, "aclose", None)
            if close is not None:
                await close()

    def cancel(self) -> None:
        """End the task, or keep it from beginning. Runs in the loop."""
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    import asyncio

    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_run, args=(_loop,), name="mino-async", daemon=True)
            _thread.start()
        return _loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop, and leave Ctrl-C and the timer to the main thread: only Linux prefers it by itself."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGALRM))
    loop.run_forever()
