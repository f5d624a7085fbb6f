"""Every way in which a connection, a proxy or a server can fail, in each dialect, as a session sees it.

One row for each: what happens on the wire after the words "Half an answer", and what a person is told.
"""

from __future__ import annotations

import os
import select
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from mino_core import Delta, Message, Request, Text, Usage, interrupts, transport
from mino_core.testing import CUT, HANG, RESET, Server, stream
from mino_core.testing.steps import Reply, Step
from mino_core.testing.streams import Dialect
from mino_core.transport import http, sse
from stage import Stage
from wire_harness import DIALECTS, Result, made_for, result_of

REQUEST = Request("demo", "", (Message("user", (Text("hi"),)),))
HALF = "Half an answer"
SSE = {"content-type": "text/event-stream"}

dialects = pytest.mark.parametrize("dialect", DIALECTS)


def half(dialect: Dialect) -> bytes:
    return joined(stream(dialect, HALF, finish=None))


def whole(dialect: Dialect) -> bytes:
    return joined(stream(dialect, HALF, usage=Usage(input_tokens=1, output_tokens=2)))


def joined(steps: Sequence[Step]) -> bytes:
    return b"".join(step for step in steps if isinstance(step, bytes))


def packed(data: bytes) -> bytes:
    """A gzip stream without its end, all of whose data can be read."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


@dataclass(frozen=True)
class Fault:
    """What the server does, given half an answer and a gate that opens when its words have come.

    `outcome` is what a session makes of it, `words` stand in the sentence.
    """

    name: str
    reply: Callable[[bytes, Event], Reply]
    outcome: str
    words: str
    settings: dict[str, Any] = field(default_factory=dict)
    tls: bool = False


def plain(*steps: Step, **rest: Any) -> Callable[[bytes, Event], Reply]:
    """The half, then these steps."""
    return lambda said, gate: Reply((said, *steps), **rest)


def nothing(*steps: Step, **rest: Any) -> Callable[[bytes, Event], Reply]:
    """These steps alone."""
    return lambda said, gate: Reply(steps, **rest)


def zipped(*steps: Step) -> Callable[[bytes, Event], Reply]:
    """The half, packed, then these steps."""
    return lambda said, gate: Reply((packed(said), *steps), headers=GZIP)


def silent(*steps: Step, **rest: Any) -> Callable[[bytes, Event], Reply]:
    """The half, if there is one, and these steps; the gate opens, and then nothing more comes."""
    return lambda said, gate: Reply((said, *steps, gate.set, HANG), **rest)


def without_size(said: bytes, gate: Event) -> Reply:
    """A chunk, and then one whose size is none."""
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return Reply((head + b"%x\r\n%s\r\n" % (len(said), said), b"zz\r\n", CUT), framing="raw")


SHORT = {"headers": {**SSE, "content-length": "999999"}, "framing": "length"}
GZIP = {**SSE, "content-encoding": "gzip"}
ENDED = "the stream ended before completion"
BROKE = "the connection broke before the answer was complete"

DURING = [
    Fault("a chunked body without its last chunk", plain(CUT), "interrupted", BROKE),
    Fault("a body shorter than was promised", plain(**SHORT), "interrupted", BROKE),
    Fault("a body without a length that ends", plain(framing="close"), "interrupted", ENDED),
    Fault("a body that ends inside an event", plain(b'data: {"cho', framing="close"), "interrupted", ENDED),
    Fault("a chunked body that ends well inside an event", plain(b'data: {"cho'), "interrupted", ENDED),
    Fault("a reset", lambda said, gate: Reply((said, gate, RESET)), "interrupted", BROKE),
    Fault("silence between events", silent(), "interrupted", "`read_timeout` can be raised"),
    Fault("silence inside an event", silent(b'data: {"cho'), "interrupted", "sent nothing"),
    Fault("silence after pings", silent(b": ping\n\n" * 3), "interrupted", "sent nothing"),
    Fault("a chunk size that is none", without_size, "interrupted", BROKE),
    Fault(
        "a packed body that is cut, its frame whole",
        zipped(),
        "interrupted",
        ENDED,
    ),
    Fault(
        "a packed body that is cut with its frame",
        zipped(CUT),
        "interrupted",
        BROKE,
    ),
    Fault(
        "a packed body that is damaged",
        zipped(b"\xff\xff damage"),
        "failed",
        "the packed answer is damaged",
    ),
    Fault("malformed JSON", plain(b'data: {"choices": [\n\n'), "failed", "malformed JSON"),
    Fault("TLS that is cut without a farewell", plain(CUT), "interrupted", BROKE, tls=True),
    Fault("TLS that ends without a length", plain(framing="close"), "interrupted", ENDED, tls=True),
]
BEFORE = [
    Fault(
        "a connection closed without an answer", nothing(CUT, framing="raw"), "failed", "without an answer"
    ),
    Fault("a reset without an answer", nothing(RESET, framing="raw"), "failed", "without an answer"),
    Fault(
        "a head that is cut", nothing(b"HTTP/1.1 200 OK\r\nconte", CUT, framing="raw"), "interrupted", ENDED
    ),
    Fault("garbage", nothing(b"SSH-2.0-OpenSSH_9\r\n", CUT, framing="raw"), "failed", "does not speak HTTP"),
    Fault("an empty line", nothing(b"\r\n\r\n", CUT, framing="raw"), "failed", "does not speak HTTP here;"),
    Fault("binary garbage", nothing(b"\x16\x03\x01\x02\x00", CUT, framing="raw"), "failed", "not speak HTTP"),
    Fault("silence", silent(framing="raw"), "failed", "sent nothing for 300 s"),
    Fault("half a head, then silence", silent(b"HTTP/1.1 200", framing="raw"), "failed", "sent nothing"),
    Fault("a head, then silence", silent(b""), "interrupted", "sent nothing"),
    Fault(
        "a redirect",
        nothing(b"", status=307, headers={"location": "https://b.example/x?key=1"}),
        "failed",
        "redirects to https://b.example/x;",
    ),
    Fault(
        "a page",
        nothing(b"<!doctype html><title>Sign in</title>", headers={"content-type": "text/html"}),
        "failed",
        "Sign in",
    ),
    Fault("nothing at all", nothing(b""), "interrupted", ENDED),
    Fault(
        "a packing that nobody asked for", nothing(b"x", headers={"content-encoding": "br"}), "failed", "br"
    ),
    Fault("a refusal without words", nothing(status=500), "failed", "HTTP 500 from 127.0.0.1: empty body"),
    Fault("a refusal that is cut", nothing(b'{"error": {"mess', CUT, status=503), "failed", "HTTP 503"),
    Fault(
        "a refusal of a proxy",
        nothing(b"<title>502 Bad gateway</title>" + b"x" * 20_000, status=502),
        "failed",
        "502 Bad gateway",
    ),
    Fault(
        "a list", nothing(b'[{"error": {"message": "No such key."}}]', status=400), "failed", "No such key."
    ),
    Fault(
        "nested words", nothing(b'{"error": {"error": {"message": "Deep."}}}', status=400), "failed", "Deep."
    ),
    Fault(
        "overload",
        nothing(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', status=529),
        "failed",
        "[overloaded_error] Overloaded; ask again in a while",
    ),
    Fault(
        "a limit",
        nothing(b'{"error": "slow down"}', status=429, headers={"retry-after": "7"}),
        "failed",
        "slow down; ask again in 7 s",
    ),
    Fault(
        "a wrong key",
        nothing(b'{"error": {"message": "bad key"}}', status=401),
        "failed",
        "bad key; the key came from api_key",
        settings={"api_key": "sk-wrong-0123456789"},
    ),
    Fault(
        "no such model",
        nothing(b'{"error": {"message": "no model demo"}}', status=404),
        "failed",
        "no model demo; check the model, and whether `base_url` needs or has a `/v1`",
    ),
    Fault(
        "colours and bells",
        nothing(b'{"error": "\\u001b[31mred\\u0007\\u009b2J"}', status=400),
        "failed",
        "red",
    ),
]


def outcome(dialect: Dialect, fault: Fault, data: bytes) -> Result:
    """What comes of it. Silence is what follows the server's last word: no clock can run ahead of it."""
    gate = Event()

    def wait(fd: int, seconds: float | None) -> bool:
        while not select.select([fd], [], [], 0.005)[0]:
            if gate.is_set():
                return bool(select.select([fd], [], [], 0)[0])
        return True

    with Server(tls=fault.tls) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(interrupts, "wait", wait)
        patch.setattr(transport, "idle", lambda: None)
        server.answer(lambda request: fault.reply(data, gate))
        settings = {**fault.settings, **({"ca_file": server.ca_file} if fault.tls else {})}
        with closing(made_for(dialect, server.url, **settings)) as made:
            return result_of(_opening(gate, fault, made.stream(REQUEST)))


def _opening(gate: Event, fault: Fault, deltas: Iterable[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if fault.name == "a reset":
            gate.set()  # it may overtake bytes that were not read yet
        yield delta


@dialects
@pytest.mark.parametrize("fault", DURING, ids=lambda fault: fault.name)
def test_an_answer_that_breaks_is_kept_and_never_complete(fault: Fault, dialect: Dialect) -> None:
    result = outcome(dialect, fault, half(dialect))
    assert (result.outcome, result.text) == (fault.outcome, HALF)
    assert fault.words in result.error
    assert len(result.error) < 300
    assert result.error.isprintable()


@dialects
@pytest.mark.parametrize("fault", BEFORE, ids=lambda fault: fault.name)
def test_what_is_no_answer_is_one_sentence(fault: Fault, dialect: Dialect) -> None:
    result = outcome(dialect, fault, b"")
    assert (result.outcome, result.text) == (fault.outcome, "")
    assert fault.words in result.error
    assert len(result.error) < 300
    assert result.error.isprintable()
    assert "\n" not in result.error


@dialects
@pytest.mark.parametrize(
    "fault", [fault for fault in DURING if fault.outcome == "interrupted"], ids=lambda fault: fault.name
)
def test_what_breaks_after_the_end_of_the_answer_does_not_undo_it(fault: Fault, dialect: Dialect) -> None:
    """Once the dialect's own terminal came, nothing is owed."""
    result = outcome(dialect, fault, whole(dialect))
    assert (result.outcome, result.text, result.error) == ("completed", HALF, "")


@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_a_server_that_keeps_an_answer_open_after_its_end_is_not_waited_for(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage and late words may follow the terminal, but only for a moment."""
    monkeypatch.setattr(http, "_LATE_SECONDS", 0.05)
    ended = whole(dialect).partition(b"data: [DONE]")[0].partition(b"event: message_stop")[0]
    with Server() as server:
        server.reply(ended, HANG)
        with closing(made_for(dialect, server.url)) as made:
            result = result_of(made.stream(REQUEST))
        server.wait_for_close()
    assert (result.outcome, result.text, result.error) == ("completed", HALF, "")
    assert result.usage is not None


@dialects
@pytest.mark.parametrize("step", [b"data: " + b"x" * 8192, b"data: x\n" * 8192], ids=["a line", "lines"])
def test_an_event_beyond_the_limit_ends_the_answer(
    dialect: Dialect, step: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LIMIT", 1 << 12)
    with Server() as server:
        server.reply(half(dialect), step, HANG)
        with closing(made_for(dialect, server.url)) as made:
            result = result_of(made.stream(REQUEST))
        server.wait_for_close()
    assert (result.outcome, result.text) == ("failed", HALF)
    assert "an event larger than" in result.error


@dialects
def test_pings_keep_a_silent_answer_alive(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wait is for the whole of `read_timeout`. Watched, not timed."""
    waits: list[float | None] = []
    gates = [Event() for _ in range(4)]
    shut = iter(gates)

    def wait(fd: int, seconds: float | None) -> bool:
        waits.append(seconds)
        if gate := next(shut, None):
            gate.set()
        return interrupts_wait(fd, 20)

    interrupts_wait = interrupts.wait
    monkeypatch.setattr(interrupts, "wait", wait)
    monkeypatch.setattr(transport, "idle", lambda: None)
    with Server() as server:
        server.reply(*(step for gate in gates for step in (gate, b": ping\n\n")), whole(dialect))
        with closing(made_for(dialect, server.url, read_timeout=7)) as made:
            assert result_of(made.stream(REQUEST)).outcome == "completed"
    assert set(waits[:4]) == {7}


@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_a_ctrl_c_while_only_late_words_may_follow_leaves_the_answer_complete(
    dialect: Dialect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it reach the next question."""
    ended = whole(dialect).partition(b"data: [DONE]")[0].partition(b"event: message_stop")[0]
    stage, interrupts_wait = Stage(tmp_path), interrupts.wait

    def wait(fd: int, seconds: float | None) -> bool:
        if stage.renderer.text == HALF and len(stage.renderer.ended) == 0:  # the terminal came with it
            os.kill(os.getpid(), signal.SIGINT)
        return interrupts_wait(fd, seconds)

    monkeypatch.setattr(interrupts, "wait", wait)
    with (
        Server() as server,
        closing(made_for(dialect, server.url)) as stage.provider,
        stage.opened() as session,
    ):
        server.reply(ended, HANG)
        assert session.ask("hi").outcome == "completed"
        server.reply(whole(dialect))
        assert session.ask("again").outcome == "completed"
