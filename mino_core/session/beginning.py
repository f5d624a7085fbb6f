"""The record that a new conversation begins with: which mino began it, and where."""

from __future__ import annotations

import os

from mino_core.records import FORMAT, new_id, record
from mino_core.types import Head


def head(**more: object) -> Head:
    """A head with these further fields. Its id is the conversation's."""
    from mino_core import __version__

    fields = {"format": FORMAT, "mino": __version__, "directory": _directory(), **more}
    return record("head", **fields) | {"id": new_id()}


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory was removed under us
        return ""
