"""New records: what each carries, the one that a conversation begins with, and ids that sort by time."""

from __future__ import annotations

import os
import time
from typing import Any

from mino_core.types import Head

#: The version of the records that this mino writes, in each head.
FORMAT = 1
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_last_id = 0


def new_id(now: float | None = None) -> str:
    """A ULID: 26 characters that sort by time. Each is greater than the one before it in this process.

    `now` is in seconds since 1970. A clock that was set back does not take the order back, and what is
    made in one instant still differs in more than the last letters: the start of an id is enough.
    """
    global _last_id
    milliseconds = int((time.time() if now is None else now) * 1000)
    value = milliseconds << 80 | int.from_bytes(os.urandom(10), "big")
    if value >> 80 <= _last_id >> 80:
        value = _last_id + 1 + int.from_bytes(os.urandom(8), "big")
    _last_id = value
    return "".join(_DIGITS[value >> shift & 31] for shift in range(125, -1, -5))


def record(type: str, **fields: Any) -> dict[str, Any]:
    """A new record of a type, with an id and a time (RFC 3339, UTC). `fields` may set either itself."""
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
    return {"id": new_id(now), "time": stamp, "type": type, **fields}


def new_head(**more: object) -> Head:
    """The record that a new conversation begins with: which mino began it, where, and these fields.

    Its id is the conversation's.
    """
    from mino_core import __version__

    try:
        directory = os.getcwd()
    except OSError:
        directory = ""  # it was removed under us
    fields = {"format": FORMAT, "mino": __version__, "directory": directory, **more}
    return record("head", **fields) | {"id": new_id()}
