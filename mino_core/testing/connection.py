"""One client's connection: its requests as they came, and replies played back byte by byte."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from .steps import HANG, RESET, Reply, Wire

#: How often a waiting reply looks whether its client is still there, in seconds.
_LOOK = 0.005


@dataclass(eq=False, slots=True)
class Received:
    """One request as it came. Header names are in lower case.

    `closed` is set once the client has closed the connection, `replied` once the reply was
    played to its end. `connection` numbers the connections from 0.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    replied: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        """The body's JSON; ValueError where it is none."""
        return json.loads(self.body)


class Connection:
    """One client's socket: reads its requests, plays their replies, sees it go."""

    def __init__(self, sock: socket.socket, stopping: threading.Event, patience: float) -> None:
        self._sock = sock
        self._stopping = stopping
        self._patience = patience
        self._came = b""

    # -- reading -------------------------------------------------------------------------------

    def read(self, number: int) -> Received | None:
        """The next request, or None where the client has closed."""
        while b"\r\n\r\n" not in self._came:
            if not self._more():
                return None
        head, _, self._came = self._came.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            name = name.lower()
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
        if headers.get("transfer-encoding", "") == "chunked":
            body = self._chunks()
        else:
            body = self._take(int(headers.get("content-length", "0")))
        return Received(method, path, headers, body, number)

    def _more(self) -> bool:
        data = self._sock.recv(1 << 16)
        self._came += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        while len(self._came) < size:
            if not self._more():
                raise ConnectionError("the client left in the middle of its request")
        data, self._came = self._came[:size], self._came[size:]
        return data

    def _chunks(self) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in self._came:
                if not self._more():
                    raise ConnectionError("the client left in the middle of its request")
            size, _, self._came = self._came.partition(b"\r\n")
            data = self._take(int(size, 16))
            self._take(2)
            if not data:
                return body
            body += data

    # -- answering -----------------------------------------------------------------------------

    def play(self, reply: Reply) -> bool:
        """Send a reply; True where another request may follow on this connection."""
        sender = Sender(self._sock, reply)
        for step in reply.steps:
            match step:
                case bytes():
                    sender.send(step)
                case threading.Event():
                    self._wait(step)
                case Wire():
                    if step is HANG:
                        self._wait(threading.Event())
                    if step is RESET:
                        at_once = struct.pack("ii", 1, 0)
                        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                    return False
                case _:
                    step()
        return sender.end()

    def _wait(self, gate: threading.Event) -> None:
        """Wait for a gate; ConnectionError where the client leaves meanwhile."""
        until = time.monotonic() + self._patience
        while not gate.wait(_LOOK):
            if self._stopping.is_set() or self._gone():
                raise ConnectionError("the client closed the connection")
            if time.monotonic() > until:
                raise AssertionError(f"a gate stayed shut for {self._patience:g} s")

    def _gone(self) -> bool:
        self._sock.settimeout(0)
        try:
            return not self._more()
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self._sock.settimeout(None)


class Sender:
    """Puts the bytes of one reply into its frame."""

    def __init__(self, sock: socket.socket, reply: Reply) -> None:
        self._sock = sock
        self._reply = reply
        self._begun = reply.framing == "raw"
        self._sent = 0
        self._zip = zlib.compressobj(wbits=31) if reply.gzip else None
        self._headers = {name.lower(): value for name, value in reply.headers.items()}
        self._chunked = reply.framing == "chunked" and "content-length" not in self._headers

    def send(self, data: bytes) -> None:
        """Send one step, with the head before the first."""
        head = self._head()
        if self._zip is not None:
            data = self._zip.compress(data) + self._zip.flush(zlib.Z_SYNC_FLUSH)
        self._put(head, data)

    def end(self) -> bool:
        """End the reply; True where the connection stays."""
        head = self._head()
        rest = b"" if self._zip is None else self._zip.flush()
        self._put(head, rest)
        if self._chunked:
            self._sock.sendall(b"0\r\n\r\n")
            return True
        return self._headers.get("content-length") == str(self._sent)

    def _put(self, head: bytes, data: bytes) -> None:
        self._sent += len(data)
        if self._chunked and data:
            data = b"%x\r\n%s\r\n" % (len(data), data)
        self._sock.sendall(head + data)

    def _head(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        reply, headers = self._reply, self._headers
        kind = "text/event-stream" if reply.status == HTTPStatus.OK else "application/json"
        headers.setdefault("content-type", kind)
        if self._zip is not None:
            headers["content-encoding"] = "gzip"
        if self._chunked:
            headers["transfer-encoding"] = "chunked"
        elif reply.framing == "length":
            size = sum(len(step) for step in reply.steps if isinstance(step, bytes))
            headers.setdefault("content-length", str(size))
        elif reply.framing == "close":
            headers["connection"] = "close"
        try:
            words = HTTPStatus(reply.status).phrase
        except ValueError:
            words = "Unheard Of"
        lines = [f"HTTP/1.1 {reply.status} {words}", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
