"""What a reply is made of: bytes to send, and what may happen between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias


class Wire(Enum):
    """What can happen to a connection."""

    CUT = "close it now, whatever was promised"
    RESET = "reset it, so that the other side sees an error"
    HANG = "say nothing more until the client closes it"


CUT, RESET, HANG = Wire.CUT, Wire.RESET, Wire.HANG

#: Bytes are sent, an Event (a gate) is waited for, a function is called in place.
Step: TypeAlias = bytes | threading.Event | Wire | Callable[[], object]
Framing: TypeAlias = Literal["chunked", "length", "close", "raw"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one request. The head goes out with the first bytes (which may be empty).

    `framing`: each step a `chunked` piece; one `length` ahead of all; none, and `close` at the
    end; or `raw`, which sends no head, so that the steps are all there is. A `content-length`
    among `headers` is sent as it stands, even where it lies.
    """

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    framing: Framing = "chunked"
    gzip: bool = False

    def __post_init__(self) -> None:
        for step in self.steps:
            if not (isinstance(step, bytes | threading.Event | Wire) or callable(step)):
                raise TypeError(f"a step is bytes, a gate, CUT, RESET, HANG or a function, not {step!r}")
