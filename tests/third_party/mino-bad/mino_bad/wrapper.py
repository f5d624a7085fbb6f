"""Wants to wrap a hook."""

from mino_core import hookimpl


@hookimpl(wrapper=True)
def mino_commands():
    return (yield)
