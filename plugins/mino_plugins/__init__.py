"""`mino plugins`: see, make, install, switch and remove what others wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mino_core import hookimpl

if TYPE_CHECKING:
    from mino_core import Host


@hookimpl
def mino_subcommands() -> Mapping[str, Callable[[list[str], Host], int]]:
    """`mino plugins`."""
    return {"plugins": _run}


def _run(argv: list[str], host: Host) -> int:
    from .command import main

    return main(argv, host)
