"""Instructions executed, counted by valgrind's callgrind: what no other process on the machine disturbs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import environment
from .answers import Script
from .client import QUESTION, Client
from .report import Report, Row
from .server import Server
from .terminal import Terminal

_COLLECTED = re.compile(r"Collected : (\d+)")


def measure(report: Report, server: Server, mino: Client, plain: Client, thirty: Client, deltas: int) -> None:
    """Millions for starting, and thousands a delta."""
    if shutil.which("valgrind") is None:
        report.leave_out("instruction counts", "valgrind is not installed")
        return
    bare = _count([str(environment.PYTHON), "-I", "-S", "-c", "pass"], mino)
    nothing = _count([str(environment.MINO / "bin" / "nothing")], mino)
    version = _count(list(mino.version), mino)
    prompt = _count_chat(mino)
    report.add(
        Row("instructions", "mino --version", version, "million", nothing, "doing nothing", 1.2),
        Row("instructions", "prompt of plain lines, drawn and left", prompt, "million", bare, "bare Python"),
    )

    def each(client: Client) -> float:
        counts = []
        for many in (20, deltas + 20):
            server.answers(Script(deltas=many))
            counts.append(_count([*client.once, QUESTION], client))
        return 1000 * (counts[1] - counts[0]) / deltas

    ours, floor = each(plain), each(thirty)
    report.add(
        Row("instructions", f"{deltas:,} deltas, plain", ours, "thousand a delta", floor, "httpx", 1.2)
    )


def _valgrind(log: str) -> list[str]:
    return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]


def _python(argv: list[str]) -> list[str]:
    """A script by its interpreter: valgrind follows no `#!` line."""
    head = Path(argv[0]).read_bytes().partition(b"\n")[0]
    return [*head[2:].decode().split(), *argv] if head.startswith(b"#!") else argv


def _count(argv: list[str], client: Client) -> float:
    """Millions of instructions of a run in pipes."""
    with tempfile.NamedTemporaryFile() as log:
        subprocess.run(
            [*_valgrind(log.name), *_python(argv)],
            env={**client.env, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return _collected(log.name)


def _count_chat(client: Client) -> float:
    """The same for a chat on a terminal that is left at its first prompt."""
    with tempfile.NamedTemporaryFile() as log:
        argv = [*_valgrind(log.name), *_python([*client.chat, "--input", "lines"])]
        env = {**client.env, "PYTHONHASHSEED": "0"}
        terminal = Terminal(argv, env, str(client.home))
        terminal.wait_for(client.ready, 60)
        terminal.type("\x04")
        while not terminal.ended:
            terminal.settle(0.2)
        os.waitpid(terminal.pid, 0)
        return _collected(log.name)


def _collected(log: str) -> float:
    found = _COLLECTED.search(Path(log).read_text(encoding="utf-8"))
    if found is None:
        raise RuntimeError(f"callgrind counted nothing: {Path(log).read_text(encoding='utf-8')[-300:]}")
    return int(found[1]) / 1e6
