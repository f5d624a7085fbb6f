"""The models of the `llm` package's plugins, as mino's provider kind `llm`."""

from mino_core import hookimpl

MINO_API = 1


@hookimpl
def mino_providers():
    return {"llm": _provider}


def _provider(settings):
    from .provider import Llm

    return Llm(settings)
