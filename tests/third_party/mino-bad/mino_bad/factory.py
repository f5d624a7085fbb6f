"""Makes a renderer that cannot show, and a provider that fails to be made."""

from mino_core import hookimpl


def fail(settings):
    raise LookupError("the factory is closed")


@hookimpl
def mino_renderers():
    return {"blind": lambda settings, screen: object()}


@hookimpl
def mino_providers():
    return {"closed": fail}
