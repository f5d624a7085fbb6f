"""Offers a list where a mapping is wanted, and things that are not callable."""

from mino_core import hookimpl


@hookimpl
def mino_commands():
    return ["one", "two"]


@hookimpl
def mino_tools():
    return {"not-callable": 7, "two words": print, "no-annotations": lambda value: value}


@hookimpl
def mino_histories():
    raise RuntimeError("histories are not my thing")
