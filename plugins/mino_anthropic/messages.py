"""Anthropic Messages, kind `anthropic-messages`: `POST base_url/v1/messages`, streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from mino_core import Delta, Request, Settings
from mino_core.transport import Endpoint, read_max_tokens

_OFFICIAL_HOST = "api.anthropic.com"
_OLD_VERSION, _NEW_VERSION = "2023-06-01", "2026-10-21"
#: Options that the new version refuses, even at their defaults.
_SAMPLING = ("temperature", "top_p", "top_k")


class Messages:
    """The provider. Besides the endpoint's keys it reads `max_tokens`, `effort`, `cache`, `api_version`.

    `api_version` is by default 2026-10-21 at api.anthropic.com, where no sampling option forbids it,
    and else 2023-06-01, which every other server knows.
    """

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(settings, base_url=f"https://{_OFFICIAL_HOST}", auth="x-api-key")
        #: What `encode` is told besides the request.
        self._encoding: dict[str, Any] = {
            "max_tokens": read_max_tokens(settings, 8192),
            "effort": settings.text("effort", ""),
            "cache": settings.flag("cache", True),
            "extra_body": self._endpoint.extra_body,
        }
        self._version = settings.text("api_version", "")

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        from .messages_events import decode
        from .messages_request import encode

        body = encode(request, **self._encoding, settled=self._endpoint.settled)
        read = partial(decode, model=request.model, expect_end=self._endpoint.expect_end)
        yield from self._endpoint.stream("/v1/messages", body, read, self.headers(body))

    def headers(self, body: Mapping[str, Any]) -> dict[str, str]:
        """The headers that say how a body is meant."""
        is_new = self._endpoint.host == _OFFICIAL_HOST and not any(key in body for key in _SAMPLING)
        return {"anthropic-version": self._version or (_NEW_VERSION if is_new else _OLD_VERSION)}

    def models(self) -> Iterable[str]:
        """The ids of the models that the server offers; ProviderError where it does not say."""
        return self._endpoint.models("/v1/models?limit=1000", self.headers({}))

    def warm(self) -> None:
        """Do ahead of the first request what needs no network."""
        from . import messages_events, messages_request  # noqa: F401 (imported now, not when it is asked)

        self._endpoint.warm()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
