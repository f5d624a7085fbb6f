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
        max_tokens = settings.number("max_tokens", None)
        if max_tokens is not None and max_tokens < 1:
            raise settings.error("max_tokens", "must be a number from 1 up")
        self._encode = partial(
            encode,
            effort=settings.text("effort", ""),
            max_tokens=None if max_tokens is None else int(max_tokens),
            strip_item_ids=settings.flag("strip_item_ids", False),
            extra_body=self._endpoint.extra_body,
        )

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        read = partial(decode, model=request.model)
        yield from self._endpoint.stream("/responses", self._encode(request), read)

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
