"""Editing a text in another program: the one that $VISUAL or $EDITOR names."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from shutil import which

from . import modes

_USUAL = ("editor", "nano", "vi")


class NoEditorError(Exception):
    """The text could not be edited; the message says why."""


def edit(text: str) -> str:
    """The text as it was left there, without the newline at its end. Raises NoEditorError."""
    command = _command()
    try:
        with tempfile.TemporaryDirectory(prefix="mino-", ignore_cleanup_errors=True) as folder:  # 0700
            path = Path(folder, "line.md")
            path.write_text(text, "utf-8", "replace")
            _run([*command, str(path)])
            return path.read_text("utf-8", "replace").removesuffix("\n")
    except OSError as error:
        raise NoEditorError(
            f"the file for the editor: {error.strerror}: {error.filename}; the line is as it was"
        ) from error


def _command() -> list[str]:
    told = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    try:
        command = shlex.split(told)
    except ValueError as error:
        raise NoEditorError(f"$VISUAL or $EDITOR cannot be read: {error}") from error
    command = command or next(([name] for name in _USUAL if which(name)), [])
    if not command:
        raise NoEditorError("no editor was found; set $EDITOR")
    return command


def _run(argv: list[str]) -> None:
    """Give it the terminal until it ends. A Ctrl-C typed there is its own."""
    ours = signal.signal(signal.SIGINT, lambda signum, frame: None)
    try:
        with modes.cooked():
            code = subprocess.call(argv)
    except OSError as error:
        raise NoEditorError(f"{argv[0]} cannot be started: {error.strerror}; set $EDITOR") from error
    finally:
        signal.signal(signal.SIGINT, ours)
    if code:
        raise NoEditorError(f"{argv[0]} ended with code {code}; the line is as it was")
