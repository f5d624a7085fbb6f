"""A home of one's own for a child process, and running mino in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Seconds that a child gets before a test fails.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Completed:
    """How a child ended: its exit code (minus the signal, if one ended it) and what it wrote."""

    code: int
    out: str
    err: str


def home(tmp_path: Path, toml: str = "", **variables: str | None) -> dict[str, str]:
    """An environment for a child: a fresh HOME and MINO_HOME below `tmp_path`, no keys, no proxies.

    `toml` becomes config.toml; with nothing given there is none. `variables` are set on top, and
    one that is None is left out. Called again on the same path, it keeps what is there.
    """
    house = tmp_path / "home"
    mino = house / ".mino"
    temporary = tmp_path / "tmp"
    for folder in (house, mino, temporary):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if toml:
        (mino / "config.toml").write_text(toml, encoding="utf-8")
    environ: dict[str, str | None] = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(house),
        "MINO_HOME": str(mino),
        "XDG_CONFIG_HOME": str(house / ".config"),
        "XDG_DATA_HOME": str(house / ".local/share"),
        "XDG_STATE_HOME": str(house / ".local/state"),
        "XDG_CACHE_HOME": str(house / ".cache"),
        "TMPDIR": str(temporary),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **variables,
    }
    return {name: value for name, value in environ.items() if value is not None}


def mino(*args: str) -> list[str]:
    """The command line of the mino that belongs to this Python."""
    script = Path(sys.executable).with_name("mino")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "mino_core.cli"]
    return [*start, *args]


def run(
    args: Sequence[str],
    env: Mapping[str, str],
    input: str | bytes | None = None,
    cwd: Path | None = None,
    timeout: float = PATIENCE,
) -> Completed:
    """Run `mino ARGS` in pipes to its end. Without `input`, standard input is empty.

    Bytes that are not UTF-8 come back as surrogates. TimeoutExpired after `timeout` seconds.
    """
    given = input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input
    done = subprocess.run(
        mino(*args),
        env=dict(env),
        input=given or b"",
        cwd=cwd or env["HOME"],
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
    return Completed(done.returncode, out, err)
