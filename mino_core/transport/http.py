"""Where one provider's requests go: its address, its key, its connection."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from mino_core.errors import ConfigError, ProviderError
from mino_core.settings import Settings
from mino_core.types import Delta

from . import failures, proxies
from .address import read_address, read_file, read_headers, read_proxy
from .bodies import encoded, header_pairs, unpacked
from .dump import Dump
from .sse import LIMIT, read_events

if TYPE_CHECKING:
    import httpcore

    from .network import Backend

CONNECT_SECONDS, WRITE_SECONDS = 10.0, 30.0
#: Bytes of an error's body that are read, and for how long, in seconds.
_ERROR_BYTES, _ERROR_SECONDS = 64 << 10, 5.0
#: What the end of an answer may take before its connection is given up instead of kept.
_DRAIN_BYTES, _DRAIN_SECONDS = 64 << 10, 0.02
#: Seconds that an answer which is no stream may take as a whole.
_GET_SECONDS = 60.0


class Endpoint:
    """One server that one provider talks to; `base_url` is the default where the settings have none.

    Reads from the settings: `base_url` `api_key` `auth` `read_timeout` `extra_headers` `extra_body`
    `proxy` `ca_file` `allow_http`, and the environment's proxies and certificates. Raises
    ConfigError. Public: `base_url`, `host`, `is_local` (a loopback address) and `extra_body`, which
    the dialect's `encode` puts between its own keys and the request's options.
    """

    def __init__(
        self, settings: Settings, *, base_url: str = "", auth: Literal["bearer", "x-api-key"] = "bearer"
    ) -> None:
        self.address = read_address(settings, base_url)
        self.base_url = self.address.url
        self.host = self.address.host
        self.is_local = self.address.is_local
        self.key = settings.secret("api_key")
        self._auth = settings.text("auth", auth)
        if self._auth not in ("bearer", "x-api-key"):
            raise settings.error("auth", f'must be "bearer" or "x-api-key", not {self._auth!r}')
        self.read_timeout = settings.number("read_timeout", 300.0)
        self.extra_body: Mapping[str, Any] = dict(settings.table("extra_body"))
        self._extra_headers = read_headers(settings.table("extra_headers"))
        self._proxy = read_proxy(settings)
        self._ca_file = read_file(settings, "ca_file")
        self._allow_http = settings.flag("allow_http", False)
        self._environ = settings.environ
        self._dump = Dump(settings.environ)
        self._pool: httpcore.ConnectionPool | None = None

    def events(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] = {}
    ) -> Generator[tuple[str, str]]:
        """POST the body; yield (event name, data) for each server-sent event.

        A JSON body that is no stream arrives as one event named `WHOLE`. Raises ProviderError for
        every failure of connection, status and framing.
        """
        response = self._send("POST", path, {"Accept": "text/event-stream", **headers}, encoded(body))
        chunks = self._chunks(response)
        try:
            yield from read_events(chunks)
        except GeneratorExit:
            if not self.is_local:
                self._drain(chunks)
            raise
        finally:
            response.close()

    def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        decode: Callable[[Iterable[tuple[str, str]]], Iterator[Delta]],
        headers: Mapping[str, str] = {},
    ) -> Iterator[Delta]:
        """`events`, decoded. The connection is given back when the iterator is closed."""
        with closing(self.events(path, body, headers)) as events:
            yield from decode(events)

    def get(self, path: str) -> object:
        """GET JSON, for `models()`; raises ProviderError."""
        self.warm()
        with self._within(_GET_SECONDS):
            response = self._send("GET", path, {"Accept": "application/json"}, b"")
            with closing(response):
                text = _read(self._chunks(response), LIMIT, self._backend)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            found = failures.title_of(text) or failures.plain(text, 120) or "nothing"
            raise ProviderError(
                "protocol", f"{self.host} sent no JSON but {found}; check `base_url`"
            ) from None

    def warm(self) -> None:
        """Do ahead of the first request what needs no network: imports and certificates."""
        if self._pool is not None:
            return
        from .network import Backend
        from .pool import make_pool

        address, environ = self.address, self._environ
        self._via = self._proxy
        if self._via is None:
            self._via = proxies.proxy_for(address.scheme, address.host, address.port, environ)
        elif not self._via.url:
            self._via = None
        self._backend: Backend = Backend()
        is_secure = address.scheme == "https"
        self._pool = make_pool(is_secure, self._via, self._ca_file, environ, self._backend)

    def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    # -- one request ---------------------------------------------------------------------------

    def _send(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> httpcore.Response:
        """The response, its body unread; ProviderError where there is none or its status is an error."""
        from mino_core import transport

        self.warm()
        import httpcore

        address, target = self.address, self.address.target(path)
        fields = self._headers(headers, content)
        self._dump.request(method, f"{address.scheme}://{address.netloc}{target}", fields, content.decode())
        request = httpcore.Request(
            method,
            httpcore.URL(
                scheme=address.scheme.encode(),
                host=address.host.encode(),
                port=address.port,
                target=target.encode(),
            ),
            headers=[(name.encode(), value.encode()) for name, value in fields],
            content=content,
            extensions={
                "timeout": {
                    "connect": CONNECT_SECONDS,
                    "read": self.read_timeout or None,
                    "write": WRITE_SECONDS,
                }
            },
        )
        if transport.idle is not None:
            transport.idle()
        started = time.monotonic()
        assert self._pool is not None
        try:
            response = self._pool.handle_request(request)
        except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError) as error:
            raise failures.not_connected(error, self, self._via) from error
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise failures.unanswered(error, self) from error
        self._dump.response(response.status, time.monotonic() - started, header_pairs(response))
        if response.status >= 300:
            with closing(response):
                raise self._refusal(response)
        return response

    def _refusal(self, response: httpcore.Response) -> ProviderError:
        try:
            with self._within(_ERROR_SECONDS):
                body = _read(self._chunks(response), _ERROR_BYTES, self._backend)
        except ProviderError:
            body = ""  # the status alone says enough
        return failures.refused(response.status, dict(header_pairs(response)), body, self)

    def _headers(self, headers: Mapping[str, str], content: bytes) -> list[tuple[str, str]]:
        from mino_core import __version__

        fields = {
            "Host": self.address.netloc,
            "User-Agent": f"mino/{__version__}",
            "Accept-Encoding": "identity",  # packed by a proxy, events would arrive in one lump
            **headers,
            **self._credentials(),
        }
        if content:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        if self.is_local:
            # llama.cpp closes after a streamed answer, and may do so while the next request goes out.
            fields["Connection"] = "close"
        extra = {name: _told(value) for name, value in self._extra_headers.items()}
        replaced = {name.lower() for name in extra}
        return [pair for pair in fields.items() if pair[0].lower() not in replaced] + list(extra.items())

    def _credentials(self) -> dict[str, str]:
        """The header that carries the key; ProviderError where it must not or cannot be sent."""
        if self.key is None:
            return {}
        if self.address.scheme == "http" and not self.is_local and not self._allow_http:
            raise ProviderError(
                "config",
                f"no key goes to {self.host} over plain http; use https:// or set `allow_http = true`",
            )
        key = _told(self.key.reveal)
        if not key.isascii() or not key.isprintable():
            raise ProviderError(
                "config", f"the key from {self.key.source} holds characters that no key has; copy it again"
            )
        return {"x-api-key": key} if self._auth == "x-api-key" else {"Authorization": f"Bearer {key}"}

    # -- its body ------------------------------------------------------------------------------

    def _chunks(self, response: httpcore.Response) -> Generator[bytes]:
        """The bytes of a body, unpacked; ProviderError where the connection breaks."""
        import httpcore

        packing = dict(header_pairs(response)).get("content-encoding", "")
        try:
            yield from unpacked(response.iter_stream(), packing.strip().lower())
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise failures.broken(error, self) from error

    def _drain(self, chunks: Iterable[bytes]) -> None:
        """Read the end of a body that nobody needs, so that its connection can be used again."""
        try:
            with self._within(_DRAIN_SECONDS):
                _read(chunks, _DRAIN_BYTES, self._backend)
        except ProviderError:
            pass  # then the connection is closed, as it would have been without this

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        """End every read of this block after so many seconds, whatever `read_timeout` allows."""
        self._backend.deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            self._backend.deadline = None


def _read(chunks: Iterable[bytes], size: int, backend: Backend) -> str:
    """The body as text, or what came of it within the size and the backend's deadline."""
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) >= size or time.monotonic() >= (backend.deadline or 0.0):
            break
    return body[:size].decode("utf-8-sig", "replace")


def _told(reveal: Callable[[], str]) -> str:
    """A secret's value; ProviderError (`config`) where its command fails."""
    try:
        return reveal()
    except ConfigError as error:
        raise ProviderError("config", str(error)) from error
