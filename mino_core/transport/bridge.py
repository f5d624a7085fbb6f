"""Async libraries behind the plain generators of mino: one loop in one daemon thread.

A fresh loop for each stream breaks clients that are used again, and a task for each item breaks
task groups; so there is one loop for the life of the process, and one task for each generator.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

T = TypeVar("T")

_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; what it raises is raised here, and an interrupt cancels it."""
    future = _submit(_outcome(coroutine))
    try:
        result, error = future.result()
    except BaseException:
        future.cancel()
        raise
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # a result wherever there is no error


def from_async(make_generator: Callable[[], AsyncIterator[T]]) -> Generator[T]:
    """The items of an async generator, taken one at a time, so that it waits while nobody asks.

    It runs in one task from its first item to its end. Closing this iterator cancels that task
    without waiting for it; what it raises is raised here.
    """
    from queue import SimpleQueue

    items: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    wanted: list[Callable[[], object]] = []
    task = _submit(_pump(make_generator, items, wanted))
    # The queue learns of a cancelled task too, which may not have begun.
    task.add_done_callback(lambda done: items.put(("ended", None)))
    try:
        while True:
            match items.get():
                case ("item", item):
                    yield item
                    wanted[0]()
                case ("raised", error):
                    raise error
                case _:
                    return
    finally:
        task.cancel()


async def _pump(
    make_generator: Callable[[], AsyncIterator[T]],
    items: Any,
    wanted: list[Callable[[], object]],
) -> None:
    """Hand over each item when it is wanted, and whatever ends the generator."""
    import asyncio

    go = asyncio.Event()
    loop = asyncio.get_running_loop()
    wanted.append(lambda: loop.call_soon_threadsafe(go.set))
    generator: AsyncIterator[T] | None = None
    try:
        generator = make_generator()
        async for item in generator:
            items.put(("item", item))
            await go.wait()
            go.clear()
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 (raised again where the items are taken; it must not end the loop)
        items.put(("raised", error))
    finally:
        close = getattr(generator, "aclose", None)
        if close is not None:
            await close()


async def _outcome(coroutine: Coroutine[Any, Any, T]) -> tuple[T | None, BaseException | None]:
    import asyncio

    try:
        return await coroutine, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 (raised again by the caller; SystemExit would end the loop)
        return None, error


def _submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    import asyncio

    if threading.current_thread() is _thread:
        coroutine.close()
        raise RuntimeError("this runs in mino's event loop already: await it instead")
    return asyncio.run_coroutine_threadsafe(coroutine, _running_loop())


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    import asyncio

    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="mino-async", daemon=True)
            _thread.start()
        return _loop
