"""What a strict server of each dialect refuses."""

from __future__ import annotations

import json

from .streams import Dialect


def problems(dialect: Dialect, body: bytes) -> list[str]:
    """A sentence for each thing wrong with a request body; none for one that is well formed."""
    try:
        value = json.loads(body)
    except ValueError as error:
        return [f"the body is no JSON: {error}"]
    return [] if isinstance(value, dict) else [f"the {dialect} body is no object"]
