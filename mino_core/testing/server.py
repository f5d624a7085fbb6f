"""A model server on loopback whose every byte a test decides.

    with Server() as server:
        server.reply(*chat("Hello", gate, " world"))

Nothing is timed: a reply waits for gates that the test opens, and the test waits for requests and
for connections that the client closed. What the script did not foresee fails the test at the end
of the block.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeAlias

from .certificate import Certificate
from .connection import Connection, Received
from .steps import Framing, Reply, Step
from .streams import Dialect, error_body
from .strict import problems

#: Seconds that anything here waits before it gives up and the test fails.
PATIENCE = 20.0


#: What answers requests: given one, the reply, or the steps of a plain one.
Answer: TypeAlias = Callable[[Received], Reply | Sequence[Step]]


class Server:
    """Listens from the start of the block to its end, at `url`.

    `strict` names a dialect: a request that a strict server of it would refuse gets a 400 and is
    described in `refused`. `models` is what any GET of a path ending in `/models` lists.
    `ca_file` is the certificate to trust with `tls`.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        tls: bool = False,
        strict: Dialect | None = None,
        models: Sequence[str] = ("demo-1",),
        patience: float = PATIENCE,
    ) -> None:
        self.models = list(models)
        self.requests: list[Received] = []
        self.refused: list[str] = []
        self.connections = 0
        self.most_at_once = 0
        self._strict = strict
        self._patience = patience
        self._certificate = Certificate() if tls else None
        self.ca_file = "" if self._certificate is None else str(self._certificate.path)
        self._listener = _listen(host)
        self.port: int = self._listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{name}:{self.port}"
        self._replies: list[Reply] = []
        self._answer: Answer | None = None
        self._faults: list[str] = []
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._wake, self._waker = socket.socketpair()
        self._open: set[socket.socket] = set()
        self._busy = 0
        self._threads: list[threading.Thread] = []

    # -- what a test says ----------------------------------------------------------------------

    def reply(
        self,
        *steps: Step,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        framing: Framing = "chunked",
        gzip: bool = False,
    ) -> None:
        """Answer the next request that has no reply yet with these steps; see `Reply`."""
        with self._changed:
            self._replies.append(Reply(steps, status, headers or {}, framing, gzip))

    def fail(
        self,
        status: int,
        body: object = "",
        dialect: Dialect = "chat",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer the next request with an HTTP error: a message in that dialect, or bytes as they are."""
        data = body if isinstance(body, bytes) else error_body(dialect, str(body))
        self.reply(data, status=status, headers=headers, framing="length")

    def answer(self, function: Answer) -> None:
        """Answer every request for which no reply waits by what this returns. It runs in a thread."""
        self._answer = function

    # -- what a test waits for -----------------------------------------------------------------

    def wait_for_request(self, index: int = 0) -> Received:
        """The request of that index, once it has come."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) > index, self._patience):
                raise AssertionError(f"request {index} never came; {len(self.requests)} did")
            return self.requests[index]

    def wait_for_close(self, index: int = 0) -> None:
        """Return once the client has closed the connection of that request."""
        if not self.wait_for_request(index).closed.wait(self._patience):
            raise AssertionError(f"the client never closed the connection of request {index}")

    # -- life ----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._waker.close()
        with self._changed:
            for sock in self._open:
                with contextlib.suppress(OSError):  # the other side was faster
                    sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(self._patience)
        self._wake.close()
        self._listener.close()
        if self._certificate is not None:
            self._certificate.close()
        if self._faults and kind is None:
            raise AssertionError("; ".join(self._faults))

    def _start(self, work: Callable[..., object], *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            ready, _, _ = select.select([self._listener, self._wake], [], [])
            if self._wake in ready:
                return
            sock, _ = self._listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                self._open.add(sock)
                number, self.connections = self.connections, self.connections + 1
            self._start(self._serve, sock, number)

    def _serve(self, sock: socket.socket, number: int) -> None:
        mine: list[Received] = []
        plain = sock
        try:
            if self._certificate is not None:
                sock = self._certificate.wrap(sock)
            connection = Connection(sock, self._stopping, self._patience)
            while (request := connection.read(number)) is not None:
                mine.append(request)
                with self._changed:
                    self.requests.append(request)
                    self._busy += 1
                    self.most_at_once = max(self.most_at_once, self._busy)
                    self._changed.notify_all()
                try:
                    more = connection.play(self._reply_to(request))
                finally:
                    with self._changed:
                        self._busy -= 1
                request.replied.set()
                if not more:
                    return
        except OSError:  # the client went while we wrote; nothing is owed to it
            pass
        except Exception as fault:  # noqa: BLE001 (raised in a thread, it would fail no test)
            self._faults.append(str(fault) if isinstance(fault, AssertionError) else repr(fault))
            return
        finally:
            with self._changed:
                self._open.discard(plain)
            sock.close()
        if not self._stopping.is_set():
            for request in mine:
                request.closed.set()

    def _reply_to(self, request: Received) -> Reply:
        if request.method in ("GET", "HEAD") and request.path.partition("?")[0].endswith("/models"):
            listed = [{"id": name, "type": "model", "object": "model"} for name in self.models]
            data = json.dumps({"object": "list", "data": listed, "has_more": False})
            return Reply((data.encode(),), headers={"content-type": "application/json"}, framing="length")
        if self._strict and (wrong := problems(self._strict, request.body)):
            self.refused += wrong
            return Reply((error_body(self._strict, "; ".join(wrong)),), status=400, framing="length")
        with self._changed:
            if self._replies:
                return self._replies.pop(0)
        if self._answer is not None:
            answered = self._answer(request)
            return answered if isinstance(answered, Reply) else Reply(tuple(answered))
        self._faults.append(
            f"no reply was scripted for {request.method} {request.path} {request.body[:200]!r}"
        )
        return Reply(
            (error_body("chat", "this server's script is at its end"),), status=500, framing="length"
        )


def _listen(host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, 0), family=family, backlog=64)
    except OSError as error:
        if family == socket.AF_INET:
            raise
        import pytest

        pytest.skip(f"this machine has no {host}: {error}")
