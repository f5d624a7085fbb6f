"""Chat Completions, kind `openai-chat`: `POST base_url/chat/completions`, streamed.

The dialect that nearly every server speaks, each with an accent of its own; the accents are settings
and tolerance here, never a second implementation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from mino_core import Delta, Request, Settings
from mino_core.transport import Endpoint, read_max_tokens

#: Hosts that take reasoning out of the answer themselves, so that a tag in it is meant literally.
_SEPARATES_REASONING = (
    "openai.com",
    "azure.com",
    "deepseek.com",
    "openrouter.ai",
    "googleapis.com",
    "groq.com",
    "mistral.ai",
    "moonshot.ai",
    "moonshot.cn",
    "aliyuncs.com",
    "bigmodel.cn",
    "z.ai",
)
#: Hosts whose thinking models refuse replies without reasoning, also those that somebody else gave.
_WANTS_REASONING = ("deepseek.com", "moonshot.ai", "moonshot.cn")
#: Hosts that know the newer name of `max_tokens`.
_OPENAI = ("openai.com", "azure.com")


class Chat:
    """The provider. Besides the endpoint's keys it reads `include_usage`, `trust_done`, `think_tags`,
    `think_open`, `max_tokens`, `max_tokens_field` and `effort`.
    """

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(settings, base_url="https://api.openai.com/v1")
        host = self._endpoint.host
        field = "max_completion_tokens" if _is_at(host, _OPENAI) else "max_tokens"
        #: What `encode` and `decode` are told besides what is to be encoded and decoded.
        self._encoding: dict[str, Any] = {
            "host": host,
            "always_reasoning": _is_at(host, _WANTS_REASONING),
            "include_usage": settings.flag("include_usage", True),
            "max_tokens": read_max_tokens(settings, None),
            "max_tokens_field": settings.text("max_tokens_field", field),
            "effort": settings.text("effort", ""),
            "extra_body": self._endpoint.extra_body,
        }
        self._decoding: dict[str, Any] = {
            "host": host,
            "think_tags": settings.flag("think_tags", not _is_at(host, _SEPARATES_REASONING)),
            "think_open": settings.flag("think_open", False),
            "trust_done": settings.flag("trust_done", False),
            "expect_end": self._endpoint.expect_end,
        }

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        from .chat_events import decode
        from .chat_request import encode

        body = encode(request, **self._encoding, settled=self._endpoint.settled)
        read = partial(decode, **self._decoding)
        yield from self._endpoint.stream("/chat/completions", body, read)

    def models(self) -> Iterable[str]:
        """The ids of the models that the server offers; ProviderError where it does not say."""
        return self._endpoint.models("/models")

    def warm(self) -> None:
        """Do ahead of the first request what needs no network."""
        from . import chat_events, chat_request  # noqa: F401 (imported now, not when it is asked)

        self._endpoint.warm()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def _is_at(host: str, domains: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
