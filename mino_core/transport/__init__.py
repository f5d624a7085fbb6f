"""The wire: requests over HTTP, answers as server-sent events, and the helpers that dialects share.

A dialect is two pure functions and an `Endpoint`:

    encode(request) -> dict             the body that goes out
    decode(events) -> Iterator[Delta]   (name, data) pairs in; deltas, then one Finished, out

    endpoint = Endpoint(settings, base_url="https://api.example.com/v1")
    yield from endpoint.stream("/chat/completions", encode(request), decode)

`decode` raises ProviderError for what the server says went wrong, and simply returns where the
events end before the dialect's own terminal.
"""

from __future__ import annotations

from collections.abc import Callable

from .bridge import from_async, run_async
from .decoding import (
    WHOLE,
    SurrogateJoiner,
    as_list,
    as_table,
    as_text,
    count,
    error_text,
    parse_event,
    server_error,
    usage,
)
from .failures import plain
from .http import Endpoint
from .mending import mended

__all__ = [
    "WHOLE",
    "Endpoint",
    "SurrogateJoiner",
    "as_list",
    "as_table",
    "as_text",
    "count",
    "error_text",
    "from_async",
    "idle",
    "mended",
    "parse_event",
    "plain",
    "run_async",
    "server_error",
    "usage",
]

#: Set by the session for one stream; called before every read of a socket that would block, and
#: once before the request goes out.
idle: Callable[[], None] | None = None
