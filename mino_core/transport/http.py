"""Where one provider's requests go: its address, its key, its connection, and what can go wrong there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Literal

from mino_core.settings import Settings
from mino_core.types import Delta


class Endpoint:
    """One server that one provider talks to; `base_url` is the default where the settings have none.

    Reads from the settings: `base_url` `api_key` `auth` `read_timeout` `extra_headers` `extra_body`
    `proxy` `ca_file` `allow_http`. Public: `base_url`, `host`, `is_local` (a loopback address) and
    `extra_body`, which the dialect's `encode` puts between its own keys and the request's options.
    """

    def __init__(
        self, settings: Settings, *, base_url: str = "", auth: Literal["bearer", "x-api-key"] = "bearer"
    ) -> None:
        self.base_url = settings.text("base_url", base_url).rstrip("/")
        self.host = ""
        self.is_local = False
        self.extra_body: Mapping[str, Any] = {}

    def events(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] = {}
    ) -> Generator[tuple[str, str]]:
        """POST the body; yield (event name, data) for each server-sent event.

        A JSON body that is no stream arrives as one event named `WHOLE`. Raises ProviderError for
        every failure of connection, status and framing.
        """
        raise NotImplementedError

    def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        decode: Callable[[Iterable[tuple[str, str]]], Iterator[Delta]],
        headers: Mapping[str, str] = {},
    ) -> Iterator[Delta]:
        """`events`, decoded; the connection is closed with the iterator, errors carry the request's id."""
        with closing(self.events(path, body, headers)) as events:
            yield from decode(events)

    def get(self, path: str) -> object:
        """GET JSON, for `models()`; raises ProviderError."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections."""
