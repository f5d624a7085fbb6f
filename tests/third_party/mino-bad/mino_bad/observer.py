"""Raises at every event."""

from mino_core import hookimpl


@hookimpl
def mino_event(event):
    raise ValueError(f"cannot stand {type(event).__name__}")
