"""OpenAI Responses, kind `openai-responses`: `POST base_url/responses`, streamed.

The whole conversation goes out each time and nothing is kept at the server (`store` is false).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from mino_core import Delta, Request, Settings
from mino_core.transport import Endpoint, read_max_tokens


class Responses:
    """The provider. Besides the endpoint's keys it reads `effort`, `max_tokens`, `strip_item_ids`."""

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(settings, base_url="https://api.openai.com/v1")
        #: What `encode` is told besides the request.
        self._encoding: dict[str, Any] = {
            "effort": settings.text("effort", ""),
            "max_tokens": read_max_tokens(settings, None),
            "strip_item_ids": settings.flag("strip_item_ids", False),
            "extra_body": self._endpoint.extra_body,
        }

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        from .responses_events import decode
        from .responses_request import encode

        body = encode(request, **self._encoding, settled=self._endpoint.settled)
        read = partial(decode, model=request.model)
        yield from self._endpoint.stream("/responses", body, read)

    def models(self) -> Iterable[str]:
        """The ids of the models that the server offers; ProviderError where it does not say."""
        return self._endpoint.models("/models")

    def warm(self) -> None:
        """Do ahead of the first request what needs no network."""
        from . import responses_events, responses_request  # noqa: F401 (imported now, not when it is asked)

        self._endpoint.warm()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
