"""What a user would pick instead, each in an environment of its own and pointed at the scripted server.

All are measured by what mino is measured by, mino first, one after the other in one run: a client
that one of the measurements cannot be had of is named as left out of it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median

from . import environment, latency, past, process, startup, streaming
from .answers import Script
from .client import Client, Turn
from .report import BESIDE, Report, Row
from .samples import percentile
from .server import Server

#: Deltas of an answer; more of them, and some do not come to the end.
_DELTAS, _MARKS, _AT_50 = 2000, 200, 100
#: Seconds that such an answer may take on a terminal.
_PATIENCE = 30.0


def measure(report: Report, server: Server, place: Path, mino: Client, wanted: str) -> None:
    """mino and every peer that installs, by each measure; `wanted` are names, or 1 for all."""
    rows: dict[str, list[Row]] = {}
    for client in [mino, *installed(server, place, report, wanted)]:
        for what, unit, times, run in _measures(client, server):
            try:
                value = median(run() for _ in range(times))
            except (OSError, RuntimeError, subprocess.SubprocessError, IndexError) as error:
                report.leave_out(f"{client.name}: {what}", str(error)[-200:])
                continue
            print(f"  {client.name}: {what}: {value:.3g} {unit}", flush=True)
            rows.setdefault(what, []).append(Row(f"{BESIDE}{what}", client.name, value, unit))
        process.end_all(client.env["HOME"])
    for found in rows.values():
        report.add(*found)


def _measures(client: Client, server: Server) -> list[tuple[str, str, int, Callable[[], float]]]:
    """What is measured, in which unit, how often, and how."""
    turns: list[Turn] = []
    delays: list[float] = []

    def version() -> float:
        return 1000 * process.into_pipe(client.version, client.env, whole=False).cpu

    def terminal() -> float:
        turns[:] = streaming.turns(client, server, Script(deltas=_DELTAS), 1, patience=_PATIENCE)
        (turn,) = turns
        if turn.ended is None:
            turns.clear()
            raise RuntimeError(f"an answer of {_DELTAS:,} deltas does not come to its end")
        return 1e6 * turn.cpu / _DELTAS

    def at_50() -> float:
        (turn,) = streaming.turns(client, server, Script(deltas=_AT_50, rate=50), 1)
        return turn.written / streaming.answer_bytes(_AT_50)

    def typical() -> float:
        delays[:] = latency.delays(client, server, Script(marks=_MARKS, deltas=0))
        return percentile(delays, 0.5)

    return [
        ("--version", "ms CPU", 3, version),
        ("ready", "ms CPU", 3, lambda: 1000 * startup.ready(client, server)),
        ("exec to first request", "ms", 3, startup.typed_ahead(client, server)),
        ("Enter to request", "ms", 1, lambda: past.until_request(client, server, 5)),
        (
            "a delta into a pipe",
            "µs CPU",
            1,
            lambda: streaming.each_delta([client], server, 1, _DELTAS)[client.name],
        ),
        ("a delta on a terminal", "µs CPU", 1, terminal),
        ("bytes in a burst", "per byte", 1, lambda: turns[0].written / streaming.answer_bytes(_DELTAS)),
        ("bytes at 50/s", "per byte", 1, at_50),
        ("a word at 50/s, p50", "ms", 1, typical),
        ("a word at 50/s, p99", "ms", 1, lambda: percentile(delays, 0.99)),
    ]


def installed(server: Server, place: Path, report: Report, wanted: str) -> list[Client]:
    """Those that install and answer; the report says of the others why they are left out."""
    found = []
    for name, make in _PEERS.items():
        if wanted != "1" and name not in wanted.split():
            continue
        try:
            peer = make(server, place / name)
            peer.ask_once()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            report.leave_out(name, " ".join(str(said).split())[-300:])
        else:
            found.append(peer)
    return found


def _llm(server: Server, home: Path) -> Client:
    program = str(environment.python_peer("llm", "llm") / "llm")
    env = environment.variables(home, LLM_USER_PATH=str(home))
    models = f"- model_id: mock\n  model_name: mock\n  api_base: {server.url}/v1\n"
    (home / "extra-openai-models.yaml").write_text(models, encoding="utf-8")
    return Client(
        "llm",
        home,
        env,
        once=(program, "-m", "mock"),
        chat=(program, "chat", "-m", "mock"),
        ready="Type.*> ",
        version=(program, "--version"),
    )


def _shell_gpt(server: Server, home: Path) -> Client:
    program = str(environment.python_peer("shell-gpt", "shell-gpt", "click") / "sgpt")
    env = environment.variables(
        home, API_BASE_URL=f"{server.url}/v1", DEFAULT_MODEL="mock", OPENAI_USE_FUNCTIONS="false"
    )
    return Client(
        "shell-gpt",
        home,
        env,
        once=(program, "--no-cache"),
        chat=(program, "--no-cache", "--repl", "temp"),
        ready=">>> ",
        version=(program, "--version"),
        submit="\n",
    )


def _aider(server: Server, home: Path) -> Client:
    program = str(environment.python_peer("aider", "aider-chat") / "aider")
    env = environment.variables(home, OPENAI_API_BASE=f"{server.url}/v1", AIDER_ANALYTICS="false")
    quiet = (
        *("--no-git", "--no-show-model-warnings", "--no-check-update", "--no-analytics", "--no-gitignore"),
        *("--no-show-release-notes", "--model", "openai/mock", "--edit-format", "ask"),
    )
    return Client(
        "aider",
        home,
        env,
        once=(program, *quiet, "--yes-always", "--message"),
        chat=(program, *quiet),
        ready="ask> |\n> ",
        version=(program, "--version"),
    )


def _pi(server: Server, home: Path) -> Client:
    program = str(environment.node_peer("pi", "@mariozechner/pi-coding-agent") / "pi")
    env = environment.variables(home, PI_OFFLINE="1")
    provider = {
        "baseUrl": f"{server.url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "mock"}],
    }
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"mock": provider}}), encoding="utf-8")
    chosen = ("--provider", "mock", "--model", "mock")
    return Client(
        "pi",
        home,
        env,
        once=(program, *chosen, "-p"),
        chat=(program, *chosen),
        ready=r"\(mock\)|mock",
        version=(program, "--version"),
    )


def _codex(server: Server, home: Path) -> Client:
    program = str(environment.node_peer("codex", "@openai/codex") / "codex")
    env = environment.variables(home)
    folder = home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(
        f'''
model = "mock"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "{server.url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[projects."{home / "work"}"]
trust_level = "trusted"
''',
        encoding="utf-8",
    )
    return Client(
        "codex",
        home,
        env,
        once=(program, "exec", "--skip-git-repo-check"),
        chat=(program,),
        ready="mock|OpenAI Codex",
        version=(program, "--version"),
        settle=6.0,
    )


_PEERS: dict[str, Callable[[Server, Path], Client]] = {
    "llm": _llm,
    "shell-gpt": _shell_gpt,
    "aider": _aider,
    "pi": _pi,
    "codex": _codex,
}
