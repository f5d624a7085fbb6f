"""A real session for a test: everything is as in `mino`, but what answers and what draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mino_core import interrupts
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.screen import Screen
from mino_core.session import Session
from mino_core.session.display import Display
from mino_core.types import Provider, Renderer, SessionStarted

from .home import home
from .recorder import Recorder

#: A provider that is never asked: the given one answers.
_NOBODY = '[providers.nobody]\nkind = "openai-chat"\nmodel = "demo-1"\nbase_url = "http://127.0.0.1:9"\n'


@contextmanager
def session(
    tmp_path: Path, provider: Provider, renderer: Renderer | None = None, toml: str = _NOBODY
) -> Iterator[Session]:
    """A session in a home below `tmp_path`, with every plugin that is installed.

    `renderer` draws, or a Recorder. Signals and the timer belong to the session during the block,
    as they do in `mino`.
    """
    environ = home(tmp_path, toml)
    recorder = renderer or Recorder()
    with interrupts.installed(), Path(os.devnull).open("wb") as nowhere:
        screen = Screen(nowhere.fileno(), nowhere.fileno(), environ)
        host = Host(load(environ, Flags(provider="nobody" if toml is _NOBODY else None)))
        host.load()
        opened = Session(host, Display(screen, recorder, Recorder))
        opened.answerer = provider
        opened.display.observers = host.observers(opened)
        opened.display.show(SessionStarted(opened.id, opened.provider, opened.model))
        try:
            yield opened
        finally:
            opened.close()
            screen.close()
