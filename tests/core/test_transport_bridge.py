"""Async libraries behind plain generators."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from mino_core.transport import from_async, run_async


async def numbers(n: int) -> AsyncIterator[int]:
    for i in range(n):
        await asyncio.sleep(0)
        yield i


def test_items_come_one_by_one_and_then_the_end() -> None:
    assert list(from_async(lambda: numbers(5))) == [0, 1, 2, 3, 4]
    assert list(from_async(lambda: numbers(0))) == []


def test_a_generator_runs_only_when_its_next_item_is_wanted() -> None:
    made: list[int] = []

    async def eager() -> AsyncIterator[int]:
        for i in range(3):
            made.append(i)
            yield i

    items = from_async(eager)
    assert made == []
    assert next(items) == 0
    run_async(asyncio.sleep(0))
    assert made == [0]
    assert next(items) == 1
    items.close()


def test_a_ctrl_c_and_the_timer_are_never_the_loops() -> None:
    async def blocked() -> set[signal.Signals]:
        return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    assert {signal.SIGINT, signal.SIGALRM} <= run_async(blocked())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_every_stream_and_call_shares_one_loop_and_one_thread() -> None:
    async def where() -> tuple[object, object]:
        return asyncio.get_running_loop(), threading.current_thread()

    async def stream() -> AsyncIterator[tuple[object, object]]:
        yield await where()

    seen = {run_async(where()), *from_async(stream), *from_async(stream)}
    assert len(seen) == 1
    (_, thread) = seen.pop()
    assert isinstance(thread, threading.Thread)
    assert thread.daemon
    assert thread is not threading.current_thread()


def test_a_whole_stream_is_one_task() -> None:
    """Task groups and cancel scopes, which every HTTP and MCP library has, break otherwise."""

    async def stream() -> AsyncIterator[object]:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for _ in range(3):
                await group.create_task(asyncio.sleep(0))
                yield asyncio.current_task()

    assert len(set(from_async(stream))) == 1


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_errors_pass_and_the_loop_lives_on(error: BaseException) -> None:
    async def fail() -> int:
        raise error

    async def stream() -> AsyncIterator[int]:
        yield 1
        raise error

    with pytest.raises(type(error)):
        run_async(fail())
    if not isinstance(error, GeneratorExit):
        items = from_async(stream)
        assert next(items) == 1
        with pytest.raises(type(error)):
            next(items)
    assert list(from_async(lambda: numbers(2))) == [0, 1]


def test_a_maker_that_fails_is_an_error_of_the_first_item() -> None:
    def broken() -> AsyncIterator[int]:
        raise LookupError("no such model")

    with pytest.raises(LookupError):
        next(from_async(broken))


def hanging(cleaned: threading.Event) -> Callable[[], AsyncIterator[int]]:
    async def stream() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    return stream


def test_closing_the_iterator_cancels_the_task() -> None:
    cleaned = threading.Event()
    with closing(from_async(hanging(cleaned))) as items:
        assert next(items) == 1
    assert cleaned.wait(20)


def test_closing_before_the_first_item_is_fine() -> None:
    from_async(lambda: numbers(3)).close()


def test_a_generator_cancelled_from_inside_just_ends() -> None:
    async def stream() -> AsyncIterator[int]:
        yield 1
        raise asyncio.CancelledError

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert list(from_async(stream)) == [1]
    with pytest.raises(RuntimeError, match="cancelled"):
        run_async(cancelled())


@pytest.fixture
def interrupting() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_wakes_a_wait_for_an_item_and_cancels(interrupting: None) -> None:
    cleaned = threading.Event()

    async def stream() -> AsyncIterator[int]:
        try:
            yield 1
            os.kill(os.getpid(), signal.SIGUSR1)
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    items = from_async(stream)
    assert next(items) == 1
    with pytest.raises(KeyboardInterrupt):
        next(items)
    assert cleaned.wait(20)


def test_a_signal_wakes_a_wait_for_a_result_and_cancels(interrupting: None) -> None:
    cleaned = threading.Event()

    async def hang() -> None:
        try:
            os.kill(os.getpid(), signal.SIGUSR1)
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    with pytest.raises(KeyboardInterrupt):
        run_async(hang())
    assert cleaned.wait(20)


def test_waiting_inside_the_loop_for_itself_is_refused() -> None:
    async def nested() -> Any:
        return run_async(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="await it"):
        run_async(nested())
