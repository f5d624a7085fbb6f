"""Environments of their own, made by the installers that people use, with a `mino` in each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(argv, environ=None, code=0, cwd=None):
    """Run a program to its end; what it wrote, together."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, argv)),
        env=inherited if environ is None else environ,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "connection broken" in done.stdout + done.stderr:
        pytest.skip("no package index can be reached")
    assert "Traceback" not in done.stdout + done.stderr, done
    assert done.returncode == code, done.stdout + done.stderr
    return done


class Place:
    """A virtual environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        run([sys.executable, "-m", "venv", folder])

    def pip(self, *arguments):
        return run([self.python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments])

    def mino(self, environ, *arguments, code=0):
        return run([self.folder / "bin" / "mino", *arguments], environ, code)


def wheels(folder: Path, *sources: Path) -> list[Path]:
    """Wheels of these sources."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    run([*pip, "--wheel-dir", folder, *sources])
    return sorted(folder.glob("*.whl"))
