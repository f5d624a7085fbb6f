"""The fixtures that pytest has wherever mino is installed; each begins with `mino_`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import pytest

from mino_core.session import Session
from mino_core.types import Provider

from .home import home, mino
from .server import Server
from .sessions import session
from .terminal import Terminal


@pytest.fixture
def mino_home(tmp_path: Path) -> dict[str, str]:
    """An environment for a child: a fresh HOME and MINO_HOME, no keys, no proxies."""
    return home(tmp_path)


@pytest.fixture
def mino_server() -> Iterator[Server]:
    """A model server on loopback, which a test scripts."""
    with Server() as server:
        yield server


@pytest.fixture
def mino_session(tmp_path: Path) -> Callable[[Provider], AbstractContextManager[Session]]:
    """What opens a real session for a provider, as `mino_core.testing.session` does."""
    return partial(session, tmp_path)


@pytest.fixture
def mino_terminal(mino_home: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Opens mino on a terminal of its own: `mino_terminal("--plain")`; it is closed after the test."""
    with ExitStack() as opened:

        def open_terminal(*arguments: str, columns: int = 80, rows: int = 24) -> Terminal:
            made = Terminal(mino(*arguments), mino_home, columns=columns, rows=rows)
            opened.callback(made.close)
            return made.__enter__()

        yield open_terminal
