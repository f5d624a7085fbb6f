"""The wire: requests over HTTP, answers as server-sent events, and the helpers that dialects share.

A dialect is two pure functions and an `Endpoint`:

    encode(request) -> dict             the body that goes out
    decode(events) -> Iterator[Delta]   (name, data) pairs in; deltas, then one Finished, out

    endpoint = Endpoint(settings, base_url="https://api.example.com/v1")
    yield from endpoint.stream("/chat/completions", encode(request), decode)

`decode` raises ProviderError for what the server says went wrong, and simply returns where the
events end before the dialect's own terminal.

The names are resolved at first use: on the way to the first prompt nothing here is needed but the
settings of an `Endpoint`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .address import read_max_tokens
    from .bridge import from_async, run_async
    from .decoding import (
        WHOLE,
        SurrogateJoiner,
        as_list,
        as_table,
        as_text,
        count,
        error_text,
        is_done,
        listed,
        mend_surrogates,
        parse_event,
        server_error,
        usage,
    )
    from .failures import plain
    from .http import Endpoint
    from .mending import fitted_ids, mended
    from .order import is_plain, kept, laid_out, order_of
    from .settled import Settled, Stretch

__all__ = [
    "WHOLE",
    "Endpoint",
    "Settled",
    "Stretch",
    "SurrogateJoiner",
    "as_list",
    "as_table",
    "as_text",
    "count",
    "error_text",
    "fitted_ids",
    "from_async",
    "idle",
    "is_done",
    "is_plain",
    "kept",
    "laid_out",
    "listed",
    "mend_surrogates",
    "mended",
    "order_of",
    "parse_event",
    "plain",
    "read_max_tokens",
    "run_async",
    "server_error",
    "usage",
]

#: Set by the session for one stream; called before every read of a socket that would block, and
#: once before the request goes out.
idle: Callable[[], None] | None = None

#: Where the names are that are not in `decoding`.
_HOMES = {
    "Endpoint": "http",
    "Settled": "settled",
    "Stretch": "settled",
    "fitted_ids": "mending",
    "from_async": "bridge",
    "is_plain": "order",
    "kept": "order",
    "laid_out": "order",
    "mended": "mending",
    "order_of": "order",
    "plain": "failures",
    "read_max_tokens": "address",
    "run_async": "bridge",
}

if not TYPE_CHECKING:  # a __getattr__ that mypy sees would make every name Any

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module 'mino_core.transport' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'decoding')}"), name)
        globals()[name] = value
        return value
