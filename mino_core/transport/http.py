"""Where one provider's requests go, and how they get there."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mino_core.errors import ProviderError
from mino_core.settings import Settings
from mino_core.types import Delta

from .address import read_address, read_file, read_headers, read_proxy
from .credentials import Credentials, told
from .dump import Dump
from .proxies import hide_passwords

if TYPE_CHECKING:
    from ssl import SSLContext

    from .network import Connection
    from .proxies import Proxy
    from .settled import Settled

#: Bytes of an error's body that are read, and for how long, in seconds.
_ERROR_BYTES, _ERROR_SECONDS = 64 << 10, 5.0
#: What the end of an answer may take before its connection is given up instead of kept.
_DRAIN_BYTES, _DRAIN_SECONDS = 64 << 10, 0.02
#: Seconds for which something that follows the end of an answer is waited for: usage, late words.
_LATE_SECONDS = 2.0
#: Seconds that an answer which is no stream may take as a whole.
_GET_SECONDS = 60.0


class Endpoint:
    """One server that one provider talks to; `base_url` is the default where the settings have none.

    Reads from the settings: `base_url` `api_key` `auth` `read_timeout` `extra_headers` `extra_body`
    `proxy` `ca_file` `allow_http`, and the environment's proxies and certificates. Raises
    ConfigError. Public: `base_url`, `host`, `is_local` (a loopback address), and for the dialect's `encode`
    `extra_body`, to put between its own keys and the request's options, and `settled`.
    """

    def __init__(
        self, settings: Settings, *, base_url: str = "", auth: Literal["bearer", "x-api-key"] = "bearer"
    ) -> None:
        self.address = read_address(settings, base_url)
        self.base_url = self.address.url
        self.host = self.address.host
        self.is_local = self.address.is_local
        self.credentials = Credentials(settings, self.address, auth)
        self.read_timeout = settings.number("read_timeout", 300.0)
        self.extra_body: Mapping[str, Any] = dict(settings.table("extra_body"))
        self._extra_headers = read_headers(settings.table("extra_headers"))
        self._proxy = read_proxy(settings)
        self._ca_file = read_file(settings, "ca_file")
        self._environ = settings.environ
        hide_passwords(settings.environ)
        self._dump = Dump(settings.environ)
        self._is_warm = False
        self._via: Proxy | None = None
        self._is_forwarded = False  # by an HTTP proxy without a tunnel
        self._tls: SSLContext | None = None
        self._kept: Connection | None = None
        self._answering: Connection | None = None
        self._request_id = ""

    def events(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] = {}
    ) -> Generator[tuple[str, str]]:
        """POST the body; yield (event name, data) for each server-sent event.

        A JSON body that is no stream arrives as one event named `WHOLE`. Raises ProviderError for
        every failure of connection, status and framing.
        """
        from .bodies import encoded
        from .sse import read_events

        accept = {"Accept": "text/event-stream"}
        connection = self._send("POST", path, {**accept, **headers}, encoded(body), self.read_timeout)
        self._answering = connection
        chunks = self._chunks(connection)
        try:
            yield from read_events(chunks)
        except GeneratorExit:
            if not self.is_local:
                self._drain(connection, chunks)
            raise
        finally:
            self._answering = None
            self._release(connection)

    def expect_end(self) -> None:
        """Wait for what may still follow the dialect's own terminal for no more than a moment.

        For `decode` to call at the terminal and at each event behind it: so events count, not pings.
        What then does not come is a ProviderError (`timeout`); a Ctrl-C waits until the answer is taken.
        """
        if self._answering is not None:
            self._answering.limit(time.monotonic() + _LATE_SECONDS, is_owed=False)

    def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        decode: Callable[[Iterable[tuple[str, str]]], Iterator[Delta]],
        headers: Mapping[str, str] = {},
    ) -> Iterator[Delta]:
        """`events`, decoded. The connection is given back when the iterator is closed.

        An error that `decode` raises gets the request's id, which only the response's head knows.
        """
        with closing(self.events(path, body, headers)) as events:
            try:
                yield from decode(events)
            except ProviderError as error:
                from .foreign import fit

                raise fit(error, self._request_id) from None

    @cached_property
    def settled(self) -> Settled:
        """What was encoded before for this server, for `encode` to go on from."""
        from .settled import Settled

        return Settled()

    def models(self, path: str, headers: Mapping[str, str] = {}) -> list[str]:
        """The ids of the models that the server lists there; ProviderError where it does not say."""
        from .decoding import as_list, as_table, as_text

        models = as_list(as_table(self.get(path, headers)).get("data"))
        return [name for model in models if (name := as_text(as_table(model).get("id")))]

    def get(self, path: str, headers: Mapping[str, str] = {}) -> object:
        """GET JSON; raises ProviderError."""
        from .sse import LIMIT

        wait = min(self.read_timeout or _GET_SECONDS, _GET_SECONDS)
        connection = self._send("GET", path, {"Accept": "application/json", **headers}, b"", wait)
        try:
            text = connection.text(self._chunks(connection), LIMIT, _GET_SECONDS)
        finally:
            self._release(connection)
        import json

        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            from .foreign import plain, title_of

            found = title_of(text) or plain(text, 120) or "nothing"
            raise ProviderError(
                "protocol", f"{self.host} sent no JSON but {found}; check `base_url`"
            ) from None

    def warm(self) -> None:
        """Do ahead of the first request what needs no network: imports and certificates."""
        if self._is_warm:
            return
        from . import dialing, proxies

        address = self.address
        if self.is_local:
            self._via = None  # whatever the settings say: nothing is between this machine and itself
        elif self._proxy is None:
            self._via = proxies.proxy_for(address.scheme, address.host, address.port, self._environ)
        else:
            self._via = self._proxy if self._proxy.url else None
        if address.scheme == "https":
            self._tls = dialing.make_tls(self._ca_file, self._environ)
        self._is_forwarded = self._via is not None and self._tls is None and not self._via.is_socks
        self._is_warm = True

    def close(self) -> None:
        """Close the connection that is kept."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    # -- one request ---------------------------------------------------------------------------

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes, wait: float
    ) -> Connection:
        """A connection whose response has begun; ProviderError where there is none or it is an error.

        `wait` is how many seconds each read may take, 0 for any number.
        """
        from mino_core import transport

        from . import failures

        self.warm()
        from .network import FAULTS

        address, target = self.address, self.address.target(path)
        url = f"{address.scheme}://{address.netloc}{target}"
        fields = self._headers(headers, content)
        self._dump.request(method, url, fields, content)
        if self._is_forwarded:
            target = url  # such a proxy is asked for the whole address
        head = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
        if transport.idle is not None:
            transport.idle()
        started = time.monotonic()
        connection = self._connect()
        try:
            response = connection.ask("\r\n".join([*head, "", ""]).encode() + content, wait)
        except BaseException as error:
            connection.close()
            if isinstance(error, FAULTS):
                raise failures.unanswered(error, address, wait) from None
            raise
        self._dump.response(response.status, time.monotonic() - started, response.getheaders())
        replied = {name.lower(): value for name, value in response.getheaders()}
        self._request_id = failures.request_id(replied)
        if response.status >= 300:
            told = self._error_body(connection)
            self._dump.refusal(told)
            raise failures.refused(response.status, replied, told, self.host, self.credentials.key)
        return connection

    def _connect(self) -> Connection:
        """The connection that was kept, or a new one."""
        from .dialing import dial
        from .network import Connection

        kept, self._kept = self._kept, None
        if kept is not None:
            if kept.is_alive():
                return kept
            kept.close()
        return Connection(dial(self.address, self._via, self._tls))

    def _release(self, connection: Connection) -> None:
        """Keep a connection for the next request if it can be used again.

        This machine was told not to: a server that hears it closes while the next request goes out.
        """
        if connection.is_free and self._kept is None and not self.is_local:
            self._kept = connection
        else:
            connection.close()

    def _error_body(self, connection: Connection) -> str:
        """The body of an error, or what comes of it soon."""
        try:
            return connection.text(self._chunks(connection), _ERROR_BYTES, _ERROR_SECONDS)
        except ProviderError:
            return ""  # the status alone says enough
        finally:
            self._release(connection)

    def _headers(self, headers: Mapping[str, str], content: bytes) -> list[tuple[str, str]]:
        from mino_core import __version__

        fields = {
            "Host": self.address.netloc,
            "User-Agent": f"mino/{__version__}",
            "Accept-Encoding": "identity",  # packed by a proxy, events would arrive in one lump
            **headers,
            **self.credentials.headers(),
        }
        if content:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        if self._is_forwarded and self._via is not None and self._via.authorization:
            fields["Proxy-Authorization"] = self._via.authorization
        if self.is_local:
            # llama.cpp closes after a streamed answer, and may do so while the next request goes out.
            fields["Connection"] = "close"
        extra = {
            name: value if isinstance(value, str) else told(value)
            for name, value in self._extra_headers.items()
        }
        replaced = {name.lower() for name in extra}
        return [pair for pair in fields.items() if pair[0].lower() not in replaced] + list(extra.items())

    # -- its body ------------------------------------------------------------------------------

    def _chunks(self, connection: Connection) -> Iterator[bytes]:
        """The bytes of a body, unpacked; ProviderError where the connection breaks."""
        from . import failures
        from .bodies import unpacked
        from .network import FAULTS

        packing = connection.response.getheader("content-encoding", "")
        try:
            yield from self._dump.copied(unpacked(connection.body(), packing.strip().lower()))
        except FAULTS as error:
            failure = failures.broken(error, self.address, connection.wait)
            self._dump.note(failure.message)  # behind the end of an answer nobody else tells it
            raise failure from None

    def _drain(self, connection: Connection, chunks: Iterable[bytes]) -> None:
        """Read the end of a body that nobody needs, so that its connection can be used again."""
        try:
            connection.text(chunks, _DRAIN_BYTES, _DRAIN_SECONDS)
        except ProviderError:
            pass  # then the connection is closed, as it would have been without this
