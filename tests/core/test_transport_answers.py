"""Every way in which an answer can break or be no answer."""

from __future__ import annotations

import gzip
import socket
import threading
from contextlib import closing
from threading import Event
from typing import Any

import pytest
from mino_core import ProviderError
from mino_core.testing import CUT, HANG, RESET, Server
from mino_core.transport import WHOLE
from mino_core.transport.network import Watched
from transport_tools import ONE, ask, endpoint, failure

# -- before the answer -----------------------------------------------------------------------------


def test_a_server_that_closes_without_an_answer() -> None:
    for step in (CUT, RESET):
        with Server() as server:
            server.reply(step, framing="raw")
            error = failure(server.url)
        assert error.kind == "connect"
        assert "without an answer" in error.message


@pytest.mark.parametrize(
    "words", [b"SSH-2.0-OpenSSH\r\n", b"\x00\x01\x02garbage\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"]
)
def test_a_server_that_speaks_no_http(words: bytes) -> None:
    with Server() as server:
        server.reply(words, framing="raw")
        error = failure(server.url)
    assert error.kind == "protocol"
    assert "does not speak HTTP" in error.message


def test_silence_before_the_answer_is_a_timeout_without_status() -> None:
    with Server() as server:
        server.reply(HANG, framing="raw")
        error = failure(server.url, read_timeout=0.2)
    assert (error.kind, error.status) == ("timeout", None)
    assert "read_timeout" in error.message


def test_interim_answers_are_passed_over() -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    with Server() as server:
        server.reply(early + head + ONE, framing="raw")
        assert ask(server.url) == [("", '{"n": 1}')]
        server.reply(early + b"HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n", framing="raw")
        assert failure(server.url).status == 429


# -- during the answer -----------------------------------------------------------------------------


def partial(url: str, **settings: Any) -> tuple[list[str], ProviderError | None]:
    """The data that came, and what then went wrong."""
    seen, error = [], None
    with closing(endpoint(url, **settings)) as made:
        try:
            for _, data in made.events("/chat", {}):
                seen.append(data)
        except ProviderError as raised:
            error = raised
    return seen, error


@pytest.mark.parametrize(
    ("steps", "reply"),
    [
        ((ONE, CUT), {"framing": "chunked"}),
        ((ONE, CUT), {"framing": "length", "headers": {"content-length": "999"}}),
        ((ONE, RESET), {"framing": "chunked"}),
        ((ONE, b"zz\r\n", CUT), {"framing": "raw-chunks"}),
    ],
    ids=["no last chunk", "less than promised", "reset", "no chunk size"],
)
def test_an_answer_that_breaks_off_keeps_what_came(steps: tuple[Any, ...], reply: dict[str, Any]) -> None:
    seen_one = Event()
    if RESET in steps:  # a reset may overtake bytes that were not read yet
        steps = (ONE, seen_one, RESET)
    if reply["framing"] == "raw-chunks":
        head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        steps = (head + b"%x\r\n%s\r\n" % (len(ONE), ONE), b"zz\r\n", CUT)
        reply = {"framing": "raw"}
    with Server() as server:
        server.reply(*steps, **reply)
        made = endpoint(server.url)
        events = made.events("/chat", {})
        assert next(events) == ("", '{"n": 1}')
        seen_one.set()
        with pytest.raises(ProviderError) as caught:
            next(events)
        made.close()
    assert (caught.value.kind, caught.value.status) == ("stream", 200)
    assert "broke before the answer was complete" in caught.value.message


def test_a_body_without_length_just_ends() -> None:
    with Server() as server:
        server.reply(ONE, b'data: {"hal', framing="close")
        assert partial(server.url) == (['{"n": 1}'], None)


def test_silence_in_the_middle_is_a_timeout_with_a_status() -> None:
    with Server() as server:
        server.reply(ONE, HANG)
        seen, error = partial(server.url, read_timeout=1)
    assert seen == ['{"n": 1}']
    assert error is not None
    assert (error.kind, error.status) == ("timeout", 200)


def test_every_byte_that_comes_starts_the_wait_anew() -> None:
    """So comments keep a silent answer alive. Watched, not timed."""

    waits: list[float | None] = []

    class Socket:
        def settimeout(self, seconds: float | None) -> None:
            waits.append(seconds)

        def recv_into(self, buffer: memoryview) -> int:
            buffer[:1] = b":"
            return 1

    stream = Watched(Socket(), 5.0).makefile("rb")  # type: ignore[arg-type]
    assert [stream.read1(1) for _ in range(3)] == [b":"] * 3
    assert waits == [5.0] * 3


def test_each_event_is_there_before_the_next_is_sent() -> None:
    gates = [Event() for _ in range(3)]
    with Server() as server:
        server.reply(*(step for gate in gates for step in (ONE, gate)))
        with closing(endpoint(server.url)) as made:
            for (_, data), gate in zip(made.events("/chat", {}), gates, strict=True):
                assert data == '{"n": 1}'
                gate.set()


def test_packed_answers_are_unpacked_as_they_come() -> None:
    gate = Event()
    with Server() as server:
        server.reply(ONE, gate, ONE, gzip=True)
        with closing(endpoint(server.url)) as made:
            events = made.events("/chat", {})
            assert next(events) == ("", '{"n": 1}')
            gate.set()
            assert len(list(events)) == 1


def test_packs_may_follow_each_other() -> None:
    with Server() as server:
        server.reply(gzip.compress(ONE) + gzip.compress(ONE), headers={"content-encoding": "gzip"})
        assert len(ask(server.url)) == 2


@pytest.mark.parametrize("packing", ["gzip", "br"])
def test_a_packing_that_is_damaged_or_unknown_is_said(packing: str) -> None:
    with Server() as server:
        server.reply(ONE, headers={"content-encoding": packing})
        error = failure(server.url)
    assert error.kind == "protocol"
    assert "packed" in error.message


def test_a_body_that_is_no_stream_is_judged_by_its_bytes() -> None:
    with Server() as server:
        server.reply(b'{"choices": []}', headers={"content-type": "text/event-stream"})
        assert ask(server.url) == [(WHOLE, '{"choices": []}')]
        server.reply(ONE, headers={"content-type": "application/json; charset=iso-8859-1"})
        assert ask(server.url) == [("", '{"n": 1}')]
        server.reply(b"<html><title>Sign in</title>")
        assert "Sign in" in failure(server.url).message


def test_closing_the_iterator_closes_the_connection() -> None:
    with Server() as server:
        server.reply(ONE, HANG)
        with closing(endpoint(server.url)) as made:
            events = made.events("/chat", {})
            next(events)
            events.close()
            server.wait_for_close()


def test_an_early_refusal_of_a_long_request_is_heard() -> None:
    head = b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        client, _ = listener.accept()
        client.recv(1000)
        client.sendall(head)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1 << 20):
            pass
        client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    made = endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}")
    with pytest.raises(ProviderError, match="HTTP 413") as caught:
        list(made.events("/chat", {"q": "x" * 3_000_000}))
    thread.join()
    listener.close()
    assert "/clear" in caught.value.message
