"""Who is measured, and one turn of a conversation with one of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from . import environment, process
from .answers import END, Script
from .server import Server
from .terminal import Terminal

QUESTION = "say something"
_FLOORS = Path(__file__).parent / "floors"
_KINDS = {"completions": "openai-chat", "responses": "openai-responses", "messages": "anthropic-messages"}
_CONFIG = """
[session]
provider = "bench"
[providers.bench]
kind = "{kind}"
base_url = "{url}/v1"
model = "mock"
"""


@dataclass(frozen=True, slots=True)
class Client:
    """A program that talks to the server.

    `once` asks one question, its last word, into a pipe; `chat` converses on a terminal, ready when
    `ready` is there. `settle` is how long its screen has to be quiet before it takes a question.
    """

    name: str
    home: Path
    env: Mapping[str, str]
    once: tuple[str, ...] = ()
    chat: tuple[str, ...] = ()
    ready: str = "You> "
    version: tuple[str, ...] = ()
    submit: str = "\r"
    settle: float = 0.15
    before: tuple[tuple[str, str], ...] = field(default=())

    def ask_once(self) -> process.Cost:
        """One whole answer into a pipe."""
        return process.into_pipe([*self.once, QUESTION], self.env)


def mino(
    server: Server, place: Path, *flags: str, name: str = "mino", dialect: str = "completions", toml: str = ""
) -> Client:
    """mino, pointed at the server; `flags` go with every command."""
    home = place / name
    (home / ".mino").mkdir(parents=True, exist_ok=True)
    config = _CONFIG.format(kind=_KINDS[dialect], url=server.url) + toml
    file = home / ".mino" / "config.toml"
    file.write_text(config, encoding="utf-8")
    file.chmod(0o600)  # as `mino init` makes it
    program = str(environment.MINO / "bin" / "mino")
    return Client(
        name,
        home,
        environment.variables(home),
        once=(program, *flags, "-p"),
        chat=(program, *flags),
        version=(program, "--version"),
    )


def floors(server: Server, place: Path) -> tuple[Client, Client]:
    """A raw socket to standard output, and httpx with print."""

    def floor(name: str, python: str) -> Client:
        home = place / name
        start = (python, str(_FLOORS / f"{name}.py"), server.url)
        return Client(name, home, environment.variables(home), start, start, submit="\n")

    return floor("raw", str(environment.PYTHON)), floor("thirty", sys.executable)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer on a terminal; times in nanoseconds, `cpu` in seconds."""

    entered: int
    ended: int | None
    cpu: float
    written: int
    grown: float
    pieces: list[tuple[int, bytes]]
    request: Mapping[str, Any]

    @property
    def until_request(self) -> float:
        """Milliseconds from Enter to the request's last byte at the server."""
        return float(self.request["arrived"] - self.entered) / 1e6


class Talk:
    """A conversation on a terminal, until the end of the block."""

    def __init__(self, client: Client, server: Server) -> None:
        self.client = client
        self.server = server
        directory = client.home / "work"
        directory.mkdir(parents=True, exist_ok=True)
        self.terminal = Terminal(client.chat, client.env, str(directory))
        for pattern, keys in client.before:
            if self.terminal.wait_for(pattern):
                time.sleep(0.3)
                self.terminal.type(keys)
        self.ready = self.terminal.wait_for(client.ready)
        below = process.family(self.terminal.pid)[1:]
        self.cpu_ready = self.terminal.spent + process.cpu(below)
        if self.ready is None:
            said = b"".join(data for _, data in self.terminal.pieces)[-500:]
            self.terminal.close()
            raise RuntimeError(f"{client.name} does not get ready: {said!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.terminal.close()

    def turn(self, script: Script, patience: float = 90.0) -> Turn:
        """Ask, and take the whole answer. RuntimeError where it does not come."""
        terminal = self.terminal
        self.server.answers(script)
        terminal.settle(self.client.settle)
        terminal.type(QUESTION)
        terminal.settle(0.15)
        first, before = len(terminal.pieces), terminal.size
        pids = process.family(terminal.pid)
        cpu, memory = process.cpu(pids), process.resident(pids)
        entered = time.monotonic_ns()
        terminal.type(self.client.submit)
        ended = terminal.wait_bytes(END.encode(), patience)
        terminal.settle(0.25)
        pids = process.family(terminal.pid)
        asked = [request for request in self.server.asked() if request["size"]]
        if not asked:
            raise RuntimeError(f"{self.client.name} sent no request")
        return Turn(
            entered,
            ended,
            process.cpu(pids) - cpu,
            terminal.size - before,
            process.resident(pids, key="VmHWM") - memory,
            terminal.pieces[first:],
            asked[0],
        )
