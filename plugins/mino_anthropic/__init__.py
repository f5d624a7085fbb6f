"""Providers for Anthropic Messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mino_core import Provider, Settings, hookimpl


@hookimpl
def mino_providers() -> Mapping[str, Callable[[Settings], Provider]]:
    """Anthropic Messages, as spoken by Anthropic and by the servers that follow it."""
    return {"anthropic-messages": _messages}


def _messages(settings: Settings) -> Provider:
    from .messages import Messages

    return Messages(settings)
