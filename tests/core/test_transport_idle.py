"""Somebody is told before a read waits, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from threading import Event
from typing import Any

import pytest
from mino_core import transport
from mino_core.testing import Server
from mino_core.transport import Endpoint
from transport_tools import ONE, endpoint


@pytest.fixture(params=["tcp", "tls"])
def served(request: Any) -> Iterator[tuple[Server, Endpoint]]:
    with Server(tls=request.param == "tls") as server:
        settings = {"ca_file": server.ca_file} if server.ca_file else {}
        with closing(endpoint(server.url, **settings)) as made:
            yield server, made


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happened, in order; each Idle writes itself down."""
    happened: list[str] = []
    monkeypatch.setattr(transport, "idle", lambda: happened.append("idle"))
    return happened


def test_idle_comes_when_nothing_more_has_arrived(
    served: tuple[Server, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes on only when the client says that it waits."""
    server, made = served
    gates = {3: Event(), 5: Event()}
    happened: list[str] = []

    def idle() -> None:
        happened.append("idle")
        if gate := gates.get(happened.count("data")):
            gate.set()

    monkeypatch.setattr(transport, "idle", idle)
    server.reply(ONE * 3, gates[3], ONE * 2, gates[5])
    for _ in made.events("/chat", {}):
        happened.append("data")  # noqa: PERF401 (one at a time, that is the point)
    runs = [step for step, _ in groupby(happened)]
    assert runs[:4] == ["idle", "data", "idle", "data"]
    assert happened.count("data") == 5


def test_a_burst_is_not_idle_in_between(served: tuple[Server, Endpoint], log: list[str]) -> None:
    """Bytes that were there are read without a word, though they are many chunks and several reads."""
    server, made = served
    chunk = b"%x\r\n%s\r\n" % (len(ONE), ONE)
    body = chunk * 5_000 + b"0\r\n\r\n"
    sent = Event()
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    server.reply(head + chunk, sent, body, framing="raw")
    events = made.events("/chat", {})
    next(events)
    sent.set()
    server.requests[0].replied.wait(20)
    log.clear()
    assert sum(1 for _ in events) == 5_000
    assert len(log) < 50


def test_a_stream_that_comes_at_once_has_an_idle_before_its_first_delta(
    served: tuple[Server, Endpoint], log: list[str]
) -> None:
    server, made = served
    server.reply(ONE)
    for _, data in made.events("/chat", {}):
        log.append(data)
    assert log[0] == "idle"


def test_idle_is_asked_for_at_each_read(
    served: tuple[Server, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session sets it for one stream and takes it away again."""
    server, made = served
    calls = []
    gate = Event()
    server.reply(ONE, gate, ONE)
    events = made.events("/chat", {})
    next(events)
    monkeypatch.setattr(transport, "idle", lambda: (calls.append(1), gate.set()))
    assert len(list(events)) == 1
    assert calls


def test_an_interrupt_while_waiting_leaves_at_once_and_the_next_request_works(
    served: tuple[Server, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, made = served
    server.reply(ONE, Event())
    events = made.events("/chat", {})
    next(events)

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transport, "idle", interrupt)
    with pytest.raises(KeyboardInterrupt):
        next(events)
    server.wait_for_close()
    monkeypatch.setattr(transport, "idle", None)
    server.reply(ONE)
    assert len(list(made.events("/chat", {}))) == 1
