"""Where what is measured is installed: mino as a user would install it, each peer on its own.

All of it lies in `.venv-bench`; what is there is not made again, but for mino itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".venv-bench"
MINO = PLACE / "mino"
PYTHON = MINO / "bin" / "python"
_BUILD = PLACE / "build"


def prepare() -> None:
    """Install mino from a wheel, and a script that does nothing beside it; nothing else, not even pip."""
    _environment(_BUILD, "hatchling", "editables")
    wheels = PLACE / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    projects = [str(ROOT), str(ROOT / "bench" / "floors" / "nothing")]
    _pip(_BUILD, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(wheels), *projects)
    built = [str(wheel) for wheel in wheels.glob("*.whl")]
    if not PYTHON.exists():
        venv.create(MINO, symlinks=True)
        _pip(_BUILD, f"--python={PYTHON}", "install", *built)
    else:
        _pip(_BUILD, f"--python={PYTHON}", "install", "--force-reinstall", "--no-deps", *built)


def python_peer(name: str, *requirements: str) -> Path:
    """An environment with one program of the Python registry; its `bin`. CalledProcessError on failure."""
    _environment(PLACE / name, *requirements)
    return PLACE / name / "bin"


def node_peer(name: str, package: str) -> Path:
    """A folder with one program of the Node registry; its `bin`. OSError or CalledProcessError on failure."""
    place = PLACE / name
    if not (place / "node_modules").exists():
        _run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), package)
    return place / "node_modules" / ".bin"


def site_packages(place: Path) -> Path:
    """Where an environment keeps what is installed in it."""
    return next(place.glob("lib/python*/site-packages"))


def _environment(place: Path, *requirements: str) -> None:
    if (place / "ready").exists():
        return
    venv.create(place, symlinks=True, with_pip=True, clear=True)
    _pip(place, "install", *requirements)
    (place / "ready").touch()


def _pip(place: Path, *arguments: str) -> None:
    _run(str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)


def variables(home: Path, **more: str) -> dict[str, str]:
    """The environment of whoever is measured: a home of its own, no proxies, a terminal with colours."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "OPENAI_API_KEY": "none",
        **more,
    }
