"""OpenAI Responses, kind `openai-responses`: `POST base_url/responses`, streamed.

The whole conversation goes out each time and nothing is kept at the server (`store` is false).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from mino_core import Delta, Request, Settings
from mino_core.transport import Endpoint, as_list, as_table, as_text

from .responses_events import decode
from .responses_request import KIND, encode

__all__ = ["KIND", "Responses", "decode", "encode"]


class Responses:
    """The provider. Besides the endpoint's keys it reads `effort`, `max_tokens`, `strip_item_ids`."""

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(settings, base_url="https://api.openai.com/v1")
        self._effort = settings.text("effort", "")
        self._max_tokens = settings.number("max_tokens", None)
        self._strip_item_ids = settings.flag("strip_item_ids", False)

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        body = encode(
            request,
            effort=self._effort,
            max_tokens=None if self._max_tokens is None else int(self._max_tokens),
            strip_item_ids=self._strip_item_ids,
            extra_body=self._endpoint.extra_body,
        )
        yield from self._endpoint.stream("/responses", body, partial(decode, model=request.model))

    def models(self) -> Iterable[str]:
        """The ids of the models that the server offers; ProviderError where it does not say."""
        listed = as_list(as_table(self._endpoint.get("/models")).get("data"))
        return [name for model in listed if (name := as_text(as_table(model).get("id")))]

    def warm(self) -> None:
        """Do ahead of the first request what needs no network."""
        self._endpoint.warm()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
