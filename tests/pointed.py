"""An environment for a child whose provider is a scripted server."""

from __future__ import annotations

from mino_core.testing import home

DIALECTS = {"chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic-messages"}


def pointed(tmp_path, server, dialect="chat", toml="", more="", **variables):
    """`toml` follows the provider's table, `more` goes into it."""
    text = f"""
[session]
provider = "demo"
[providers.demo]
kind = "{DIALECTS[dialect]}"
base_url = "{server.url}"
model = "demo-1"
{more}
{toml}
"""
    return home(tmp_path, text, **variables)
