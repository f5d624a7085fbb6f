"""One hook is misspelt; the other one works."""

from mino_core import hookimpl


@hookimpl
def mino_comands():
    return {"never": print}


@hookimpl
def mino_commands():
    return {"well-spelt": lambda session, rest: "well"}
