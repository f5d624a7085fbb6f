"""The network under the HTTP library, watched: who is told before a read waits, and how long it may."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore

from mino_core import transport

_WOULD_WAIT = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Backend(httpcore.NetworkBackend):
    """Opens sockets whose reads call `transport.idle` before they wait.

    `deadline` (on the monotonic clock, None for none) ends every read before the request's own
    timeout does: for what is worth having only if it comes soon.
    """

    def __init__(self) -> None:
        self._backend = httpcore.SyncBackend()
        self.deadline: float | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return Stream(stream, self)

    def patience(self, timeout: float | None) -> float | None:
        """The timeout, in seconds, cut short by the deadline."""
        if self.deadline is None:
            return timeout
        left = max(self.deadline - time.monotonic(), 0.001)
        return left if timeout is None else min(timeout, left)


class Stream(httpcore.NetworkStream):
    """One connection of a Backend, over TCP or TLS."""

    def __init__(self, stream: httpcore.NetworkStream, backend: Backend) -> None:
        self._stream = stream
        self._backend = backend
        self._socket = stream.get_extra_info("socket")
        if stream.get_extra_info("ssl_object") and not isinstance(self._socket, ssl.SSLSocket):
            self._socket = None  # TLS inside TLS: this socket carries the outer one

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if transport.idle is not None:
            # Trying is the only exact test: a TLS socket may be readable and yet have no byte for us.
            if self._socket is not None and (data := self._read_at_once(max_bytes)) is not None:
                return data
            transport.idle()
        return self._stream.read(max_bytes, self._backend.patience(timeout))

    def _read_at_once(self, max_bytes: int) -> bytes | None:
        """What is there (nothing at the end of the stream), or None where a read would wait."""
        self._socket.settimeout(0)
        try:
            data: bytes = self._socket.recv(max_bytes)
        except _WOULD_WAIT:
            return None
        except OSError as error:
            raise httpcore.ReadError(error) from error
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
