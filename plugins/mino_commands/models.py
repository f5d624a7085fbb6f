"""`mino models`: which models a provider has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mino_core import UsageError, say, say_json

if TYPE_CHECKING:
    from mino_core import Host


def main(argv: list[str], host: Host) -> int:
    """Run `mino models ARGV`; the exit code."""
    from argparse import ArgumentParser

    parser = ArgumentParser("mino models", description="List the models of a provider.")
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="default: the one that is chosen")
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    wanted = parser.parse_args(argv)
    names = ask(host, wanted.provider)
    if wanted.json:
        say_json(names)
    else:
        for name in names:
            say(name)
    return 0


def ask(host: Host, name: str | None = None) -> list[str]:
    """The models of one provider. UsageError where its kind cannot say; ProviderError on failure."""
    with made_provider(host, name) as provider:
        return names_of(provider, host.config.provider(name).name)


@contextmanager
def made_provider(host: Host, name: str | None = None) -> Iterator[object]:
    """The provider of this name, or the chosen one, let go again at the end of the block."""
    choice = host.config.provider(name, host.offers("mino_providers"))
    provider: object = host.make("mino_providers", choice.kind, choice.settings)
    try:
        yield provider
    finally:
        if close := getattr(provider, "close", None):
            close()


def names_of(provider: object, name: str) -> list[str]:
    """The models that a provider lists; UsageError where it cannot."""
    models = getattr(provider, "models", None)
    if models is None:
        raise UsageError(f"{name}: a provider of this kind cannot list its models")
    return list(map(str, models()))
