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
from .client import QUESTION, Client, mino
from .report import Report, Row
from .server import Server
from .terminal import Terminal

#: An editor that ends the process where it would import what it edits with: the prompt is drawn by then.
_AT_THE_PROMPT = """
import os
from mino_core import hookimpl
from mino_input.editor import Editor

class AtThePrompt(Editor):
    def warm(self):
        os._exit(0)

@hookimpl
def mino_inputs():
    return {"at-the-prompt": AtThePrompt}
"""
_COLLECTED = re.compile(r"Collected : (\d+)")


def measure(report: Report, server: Server, place: Path, thirty: Client, deltas: int) -> None:
    """Millions for starting, and thousands a delta."""
    if shutil.which("valgrind") is None:
        report.leave_out("instruction counts", "valgrind is not installed")
        return
    plain = mino(server, place, "--plain", name="counted")
    bare = _count([str(environment.PYTHON), "-I", "-S", "-c", "pass"], plain)
    nothing = _count([str(environment.MINO / "bin" / "nothing")], plain)
    version = _count(list(plain.version), plain)
    prompt = _count_prompt(server, place)
    report.add(
        Row("instructions", "mino --version", version, "million", nothing, "doing nothing", 1.2),
        Row("instructions", "mino, prompt drawn", prompt, "million", bare, "bare Python"),
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


def _count_prompt(server: Server, place: Path) -> float:
    """The same for a chat on a terminal that ends when its prompt is drawn."""
    client = mino(server, place, name="at-the-prompt", toml='[input]\nname = "at-the-prompt"\n')
    plugins = client.home / ".mino" / "plugins"
    plugins.mkdir()
    (plugins / "at_the_prompt.py").write_text(_AT_THE_PROMPT, encoding="utf-8")
    with tempfile.NamedTemporaryFile() as log:
        argv = [*_valgrind(log.name), *_python(list(client.chat))]
        terminal = Terminal(argv, {**client.env, "PYTHONHASHSEED": "0"}, str(client.home))
        while not terminal.ended:
            terminal.settle(0.2)
        os.waitpid(terminal.pid, 0)
        return _collected(log.name)


def _collected(log: str) -> float:
    found = _COLLECTED.search(Path(log).read_text(encoding="utf-8"))
    if found is None:
        raise RuntimeError(f"callgrind counted nothing: {Path(log).read_text(encoding='utf-8')[-300:]}")
    return int(found[1]) / 1e6
