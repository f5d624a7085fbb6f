"""Providers for OpenAI Responses and Chat Completions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mino_core import Provider, Settings, hookimpl

MINO_API = 1


@hookimpl
def mino_providers() -> Mapping[str, Callable[[Settings], Provider]]:
    """Offer the two dialects; each is imported when one of its kind is made."""
    return {"openai-responses": _responses, "openai-chat": _chat}


def _responses(settings: Settings) -> Provider:
    from .responses import Responses

    return Responses(settings)


def _chat(settings: Settings) -> Provider:
    from .chat import Chat

    return Chat(settings)
