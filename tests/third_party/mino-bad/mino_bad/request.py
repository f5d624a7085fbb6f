"""Gives back what is no request."""

from mino_core import hookimpl


@hookimpl
def mino_request(request):
    return "a request"
