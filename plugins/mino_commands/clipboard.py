"""The clipboard: a program of the platform where there is one, and OSC 52 on a terminal."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mino_core import UsageError

if TYPE_CHECKING:
    from mino_core import Screen

#: Seconds that a program may take.
_LIMIT = 5.0
#: More than this many bytes of base64 are cut or refused by terminals.
_LONGEST = 100_000


def put(screen: Screen, text: str, environ: Mapping[str, str]) -> str:
    """Copy a text; the result says how, in words. UsageError where there is no way."""
    ways = []
    data = text.encode("utf-8", "replace")
    if program := _by_program(data, environ):
        ways.append(f"with {program}")
    encoded = base64.b64encode(data).decode()
    if screen.can_move and len(encoded) <= _LONGEST:
        screen.write(f"\x1b]52;c;{encoded}\x07")
        screen.flush()
        ways.append("through the terminal")
    if not ways:
        raise UsageError(
            "there is no way to the clipboard here: no terminal that takes it, and none of"
            " wl-copy, xclip, xsel and pbcopy works"
        )
    return " and ".join(ways)


def _by_program(data: bytes, environ: Mapping[str, str]) -> str | None:
    """The first program that took the text."""
    for name, *arguments in _programs(environ):
        path = shutil.which(name, path=environ.get("PATH"))
        if path and _takes([path, *arguments], data, environ):
            return name
    return None


def _programs(environ: Mapping[str, str]) -> list[list[str]]:
    """The programs that have a clipboard to write to in this environment."""
    found = [["pbcopy"]] if sys.platform == "darwin" else []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(["wl-copy"])
    if environ.get("DISPLAY"):
        found += [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    return found


def _takes(command: list[str], data: bytes, environ: Mapping[str, str]) -> bool:
    """Whether the program took the text. Some stay behind to serve it, so no pipe may wait for them."""
    try:
        done = subprocess.run(
            command,
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
