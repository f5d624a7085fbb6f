"""What holds at the end of every scenario, whatever it was about."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .keys import FRESH_MODES
from .promises import promise
from .terminal import Terminal

#: Where mino may write below HOME: its own home, and the model weights in the user's cache.
_OURS = (".mino", ".cache/mino")


def oracle(
    environ: Mapping[str, str],
    *outputs: str | bytes,
    terminal: Terminal | None = None,
    secrets: Sequence[str] = (),
) -> None:
    """Fail where a run in this `home` broke what holds for all: looks at files, outputs, terminal.

    No traceback anywhere; every line of history is JSON in UTF-8; no secret in any file or output
    but config.toml; nothing below HOME but mino's own; the terminal, if the program has ended, as
    it was before.
    """
    seen = [text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in outputs]
    if terminal is not None:
        seen.append(terminal.raw)
        _left_alone(terminal)
    mino = Path(environ["MINO_HOME"])
    files = {path: path.read_bytes() for path in _files(Path(environ["HOME"])) if path.name != "config.toml"}
    named = [(f"output {n}", data) for n, data in enumerate(seen)]
    for where, data in (*named, *((str(path), data) for path, data in files.items())):
        promise(
            b"Traceback (most recent" not in data,
            f"there is a traceback in {where}: {data[-2000:].decode(errors='replace')}",
            "a traceback is a bug in mino, never something for the user.",
        )
        for secret in secrets:
            promise(
                secret.encode() not in data,
                f"the secret stands in {where}",
                "outputs are pasted into reports, and files are backed up.",
            )
    for path, data in files.items():
        if path.suffix == ".jsonl" and mino / "history" in path.parents:
            _is_json_lines(path, data)
        promise(
            any(Path(environ["HOME"]) / place in path.parents for place in _OURS),
            f"{path} was written",
            "mino keeps to its own directories.",
        )


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and os.access(path, os.R_OK)]


def _is_json_lines(path: Path, data: bytes) -> None:
    for n, line in enumerate(data.split(b"\n"), 1):
        try:
            whole = not line or isinstance(json.loads(line.decode()), dict)
        except ValueError:
            whole = False
        promise(
            whole, f"{path}:{n} is no record: {line[:200]!r}", "one bad line must never hide a conversation."
        )


def _left_alone(terminal: Terminal) -> None:
    terminal.wait_exit()
    promise(
        terminal.modes == terminal.modes_at_start,
        f"the terminal's attributes were {terminal.modes_at_start} and are {terminal.modes}",
        "the shell that follows would not show what is typed.",
    )
    promise(
        terminal.private_modes == FRESH_MODES,
        f"private modes differ from the start: {sorted(terminal.private_modes ^ FRESH_MODES)}",
        "the shell that follows would lack its cursor, or paste with brackets.",
    )
