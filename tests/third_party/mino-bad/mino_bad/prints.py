"""Prints wherever it can."""

from mino_core import hookimpl

print("PRINTED AT IMPORT")


@hookimpl
def mino_commands():
    print("PRINTED IN A HOOK")
    return {}


@hookimpl
def mino_event(event):
    print("PRINTED AT AN EVENT")
