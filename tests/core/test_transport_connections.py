"""Connections that are kept for the next request."""

from __future__ import annotations

import select
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from typing import Any

import pytest
from mino_core import ProviderError
from mino_core.testing import CUT, HANG, RESET, Server
from mino_core.transport import Endpoint
from transport_tools import ONE, endpoint

# -- connections that are kept ---------------------------------------------------------------------


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Endpoint]:
    """An endpoint on loopback that is treated like one elsewhere."""

    def make(url: str, **settings: Any) -> Endpoint:
        made = endpoint(url, **settings)
        made.is_local = False
        return made

    return make


def test_the_next_request_uses_the_same_connection(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        server.answer(lambda request: [ONE])
        for _ in range(3):
            assert len(list(made.events("/chat", {}))) == 1
        assert "connection" not in server.requests[0].headers
        assert server.connections == 1


def test_a_server_on_this_machine_gets_a_new_connection_each_time() -> None:
    """It is told to close, so using it again would be a race with its end."""
    with Server() as server, closing(endpoint(server.url)) as made:
        server.answer(lambda request: [ONE])
        for _ in range(3):
            assert len(list(made.events("/chat", {}))) == 1
        assert server.requests[0].headers["connection"] == "close"
        assert server.connections == 3


def test_an_answer_left_at_its_end_gives_its_connection_back(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        server.answer(lambda request: [ONE + b"data: [DONE]\n\n"])
        for _ in range(2):
            events = made.events("/chat", {})
            assert len(list(islice(events, 2))) == 2
            events.close()
        assert server.connections == 1


def test_an_answer_left_in_the_middle_costs_its_connection(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        server.reply(ONE, HANG)
        events = made.events("/chat", {})
        next(events)
        events.close()
        server.wait_for_close()
        server.reply(ONE)
        assert len(list(made.events("/chat", {}))) == 1
        assert server.connections == 2


def test_a_connection_that_the_server_closed_is_not_used_again(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        server.reply(b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n" + ONE[:15], framing="raw")
        list(made.events("/chat", {}))
        server.reply(ONE)
        assert made._kept is not None
        select.select([made._kept._socket], [], [], 20)  # the server's end has come
        assert len(list(made.events("/chat", {}))) == 1


def test_after_any_failure_the_next_request_has_a_fresh_connection(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        for steps in ([ONE, CUT], [ONE, RESET], [CUT]):
            server.reply(*steps)
            with pytest.raises(ProviderError):
                list(made.events("/chat", {}))
            server.reply(ONE)
            assert len(list(made.events("/chat", {}))) == 1


def test_a_refusal_gives_its_connection_back(remote: Callable[..., Endpoint]) -> None:
    with Server() as server, closing(remote(server.url)) as made:
        server.fail(429, "slow down")
        server.reply(ONE)
        with pytest.raises(ProviderError):
            list(made.events("/chat", {}))
        list(made.events("/chat", {}))
        assert server.connections == 1
