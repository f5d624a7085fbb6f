"""Offers what mino-parrot offers, and what is built in."""

from mino_core import hookimpl


def squawk(session, rest):
    """Ask in small letters."""
    return rest.lower()


@hookimpl
def mino_commands():
    return {"squawk": squawk, "exit": squawk, "only-here": squawk}
