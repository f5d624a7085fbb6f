"""What observers cost: one, five and twenty plugins that see every event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median

from .answers import Script
from .client import Client, mino
from .report import Report, Row
from .samples import interleaved
from .server import Server

_PLUGIN = """
from mino_core import hookimpl

seen = 0

@hookimpl
def mino_event(event):
    global seen
    seen += 1
"""


def measure(report: Report, server: Server, place: Path, rounds: int, deltas: int) -> None:
    """CPU that each of them adds to a delta, into a pipe."""
    crowds = {n: _watched(server, place, n) for n in (0, 1, 5, 20)}

    def cost(client: Client) -> Callable[[], float]:
        def run() -> float:
            server.answers(Script(deltas=deltas))
            return client.ask_once().cpu

        return run

    costs = interleaved(rounds, {str(n): cost(client) for n, client in crowds.items()})
    alone = costs["0"]
    rows = []
    for n in (1, 5, 20):
        more = median(there - without for there, without in zip(costs[str(n)], alone, strict=True))
        rows.append(Row("observers", f"{n} of them", 1e6 * more / deltas, "µs CPU more a delta"))
    report.add(*rows)


def _watched(server: Server, place: Path, n: int) -> Client:
    client = mino(server, place, "--plain", name=f"observers-{n}")
    plugins = client.home / ".mino" / "plugins"
    plugins.mkdir(exist_ok=True)
    for one in range(n):
        (plugins / f"observer{one}.py").write_text(_PLUGIN, encoding="utf-8")
    return client
