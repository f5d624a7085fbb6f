"""Async libraries behind the plain generators of mino: one loop in one daemon thread.

A fresh loop for each stream breaks clients that are used again, and a task for each item breaks
task groups; so there is one loop for the life of the process and one task for each generator.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def from_async(make_generator: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
    """The items of an async generator, one at a time; closing the iterator cancels the generator."""
    raise NotImplementedError


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; an interrupt cancels it."""
    raise NotImplementedError
