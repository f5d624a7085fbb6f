"""Wants an argument that mino does not have; nothing of it counts."""

from mino_core import hookimpl


@hookimpl
def mino_commands():
    return {"from-bad-signature": print}


@hookimpl
def mino_event(event, weather):
    pass
