"""Signals that land anywhere in a stream: nothing hangs, nothing is mixed up, nothing leaks."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from threading import Event

import pytest
from mino_core.testing import Server
from transport_tools import ONE, endpoint


@pytest.fixture
def interrupting() -> Iterator[None]:
    """SIGALRM raises like Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_signal_wakes_a_read_that_waits(interrupting: None) -> None:
    with Server() as server, closing(endpoint(server.url)) as made:
        server.reply(ONE, Event())
        events = made.events("/chat", {})
        next(events)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            next(events)
        server.wait_for_close()


# A signal between a socket's making and its keeping leaves it to the garbage collector, which warns.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_after_signals_at_random_moments_every_answer_is_still_its_own(interrupting: None) -> None:
    with Server() as server, closing(endpoint(server.url)) as made:
        made.is_local = False  # keep connections, so that a half-read one could do harm
        server.answer(lambda request: [b'data: {"n": %s}\n\n' % request.json["n"].encode()] * 20)
        interrupted = 0
        for n in range(150):
            body = {"n": str(n)}
            data: set[str] = set()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.000_05 * (n % 40 + 1))
                for _, piece in made.events("/chat", body):
                    data.add(piece)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert data <= {f'{{"n": {n}}}'}
        assert interrupted
        assert {piece for _, piece in made.events("/chat", {"n": "7"})} == {'{"n": 7}'}
