"""One connection: a request goes out, a response comes in, and somebody is told before a read waits.

http.client parses the response; sockets, proxies and patience are ours.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from http.client import HTTPException, HTTPResponse, IncompleteRead

from mino_core import interrupts, transport

#: What a connection raises that breaks, stays silent or speaks no HTTP.
FAULTS = (OSError, HTTPException)

WRITE_SECONDS = 30.0
#: Seconds for which a connection that is not used is kept.
_KEEP_SECONDS = 60.0
_BLOCK = 1 << 16
_WOULD_WAIT = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Watched(io.RawIOBase):
    """The bytes of a socket. Before a read waits, `transport.idle` is called.

    `timeout` is how long one read may wait, in seconds, None for ever. `deadline`, on the monotonic
    clock, ends every read before that: for what is worth having only if it comes soon. Where nothing
    `is_owed` any more, a Ctrl-C ends the wait, and nothing else.
    """

    def __init__(self, sock: socket.socket, timeout: float | None) -> None:
        self._socket = sock
        self.timeout = timeout
        self.deadline: float | None = None
        self.is_owed = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if transport.idle is not None:
            # Trying is the only exact test: a TLS socket may be readable and yet have no byte for us.
            self._socket.settimeout(0)
            try:
                return self._socket.recv_into(buffer)
            except _WOULD_WAIT:
                with nullcontext() if self.is_owed else interrupts.held():
                    transport.idle()
                    return self._wait_and_read(buffer)
        self._socket.settimeout(self._patience())
        return self._socket.recv_into(buffer)

    def _wait_and_read(self, buffer: bytearray | memoryview) -> int:
        """Read when something is there. A wait of our own also hears a signal of the instant before."""
        while True:
            if not interrupts.wait(self._socket.fileno(), self._patience()):
                raise TimeoutError("timed out")
            try:
                return self._socket.recv_into(buffer)
            except _WOULD_WAIT:
                continue  # what came was no byte for us

    def makefile(self, mode: str) -> io.BufferedReader:
        """What http.client asks of a socket."""
        return io.BufferedReader(self, _BLOCK)

    def _patience(self) -> float | None:
        if self.deadline is None:
            return self.timeout
        left = max(self.deadline - time.monotonic(), 0.001)
        return left if self.timeout is None else min(self.timeout, left)


class Connection:
    """An open socket to a server, for one exchange after the other.

    `is_free` says whether the last one came to its end, so that another may follow.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._freed = 0.0
        self.is_free = False
        self.wait = 0.0

    def ask(self, request: bytes, wait: float) -> HTTPResponse:
        """Send the request and read the head of the response. Raises FAULTS.

        `wait` is how many seconds each read may take, 0 for any number.
        """
        self.is_free = False
        self.wait = wait
        try:
            self._send(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that refuses may answer and close before it has read everything
        self._watched = Watched(self._socket, wait or None)
        self.response = HTTPResponse(self._watched)  # type: ignore[arg-type]  # all it needs is makefile
        self.response.begin()
        while 100 <= self.response.status < 200:  # interim answers, before the one that counts
            self.response.headers = None  # type: ignore[assignment]  # else it takes itself for begun
            self.response.begin()
        return self.response

    def _send(self, request: bytes) -> None:
        view = memoryview(request)
        while view:
            self._socket.settimeout(WRITE_SECONDS)  # for each piece: a long request may take longer
            view = view[self._socket.send(view[:_BLOCK]) :]

    def body(self) -> Iterator[bytes]:
        """The bytes of the response's body as they come. Raises FAULTS where it is cut short."""
        response = self.response
        while piece := response.read1(_BLOCK):
            yield piece
        if response.length:
            raise IncompleteRead(b"", response.length)
        self.is_free = not response.will_close
        self._freed = time.monotonic()

    def limit(self, deadline: float, *, is_owed: bool = True) -> None:
        """End every read of the response at this time on the monotonic clock; see `Watched`."""
        self._watched.deadline, self._watched.is_owed = deadline, is_owed

    def text(self, chunks: Iterable[bytes], size: int, seconds: float) -> str:
        """A body, unpacked in `chunks`, as text; or what came of it within these bytes and seconds."""
        end = time.monotonic() + seconds
        self.limit(end)
        body = bytearray()
        for chunk in chunks:
            body += chunk
            if len(body) >= size or time.monotonic() >= end:
                break
        return body[:size].decode("utf-8-sig", "replace")

    def is_alive(self) -> bool:
        """Whether another request can be tried: not too old, and the server has not closed."""
        if not self.is_free or time.monotonic() - self._freed > _KEEP_SECONDS:
            return False
        # There is nothing to read on an idle connection but its end.
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
