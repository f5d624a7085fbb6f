"""Providers for Anthropic Messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mino_core import Provider, Settings, hookimpl

MINO_API = 1


@hookimpl
def mino_providers() -> Mapping[str, Callable[[Settings], Provider]]:
    """Offer the dialect; it is imported when one of its kind is made."""
    return {"anthropic-messages": _messages}


def _messages(settings: Settings) -> Provider:
    from .messages import Messages

    return Messages(settings)
