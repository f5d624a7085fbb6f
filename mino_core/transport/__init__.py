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
    from .address import read_max_tokens as read_max_tokens
    from .bridge import from_async as from_async
    from .bridge import run_async as run_async
    from .decoding import WHOLE as WHOLE
    from .decoding import SurrogateJoiner as SurrogateJoiner
    from .decoding import as_list as as_list
    from .decoding import as_table as as_table
    from .decoding import as_text as as_text
    from .decoding import count as count
    from .decoding import is_done as is_done
    from .decoding import mend_surrogates as mend_surrogates
    from .decoding import parse_event as parse_event
    from .decoding import server_error as server_error
    from .decoding import usage as usage
    from .foreign import plain as plain
    from .http import Endpoint as Endpoint
    from .mending import fitted_ids as fitted_ids
    from .mending import mended as mended
    from .order import is_plain as is_plain
    from .order import kept as kept
    from .order import laid_out as laid_out
    from .order import order_of as order_of
    from .settled import Settled as Settled
    from .settled import Stretch as Stretch

#: Set by the session for one stream; called before every read of a socket that would block, and
#: once before the request goes out.
idle: Callable[[], None] | None = None

_HOMES = {
    "address": ("read_max_tokens",),
    "bridge": ("from_async", "run_async"),
    "decoding": (
        "WHOLE",
        "SurrogateJoiner",
        "as_list",
        "as_table",
        "as_text",
        "count",
        "is_done",
        "mend_surrogates",
        "parse_event",
        "server_error",
        "usage",
    ),
    "foreign": ("plain",),
    "http": ("Endpoint",),
    "mending": ("fitted_ids", "mended"),
    "order": ("is_plain", "kept", "laid_out", "order_of"),
    "settled": ("Settled", "Stretch"),
}
__all__ = sorted(["idle", *(name for names in _HOMES.values() for name in names)])  # noqa: PLE0605 (as in mino_core)

if not TYPE_CHECKING:  # a __getattr__ that mypy sees would make every name Any

    def __getattr__(name):
        for module, names in _HOMES.items():
            if name in names:
                from importlib import import_module

                value = getattr(import_module(f"{__name__}.{module}"), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
