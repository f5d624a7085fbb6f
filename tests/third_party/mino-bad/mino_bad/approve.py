"""Has an opinion that is none."""

from mino_core import hookimpl


@hookimpl(tryfirst=True)
def mino_approve(call):
    raise ValueError("no opinion")
