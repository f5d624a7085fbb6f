"""`make bench`: every budget of mino in one run; `QUICK=1` for a rough one, `PEERS=1` beside others."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import client, environment, instructions, latency, observers, past, startup, streaming
from .report import Report
from .server import Server


def main(wanted: list[str]) -> int:
    """Measure these groups, or all of them."""
    quick = os.environ.get("QUICK", "") not in ("", "0")
    report = Report(quick)
    environment.prepare()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        os.chdir(place)  # some of those measured write where they are started
        server = Server()
        try:
            _measure(report, server, place, wanted, quick)
        finally:
            server.close()
    results = Path(__file__).parent / "results"
    report.write(results / f"{time.strftime('%Y%m%d-%H%M%S')}.json")
    (results / "table.md").write_text(report.markdown(), encoding="utf-8")
    missed = [row for row in report.rows if row.met is False]
    goals = [row for row in report.rows if row.met is not None]
    print(f"\n{len(goals) - len(missed)} of {len(goals)} goals are met. Machine: {report.machine()}")
    return 0


def _measure(report: Report, server: Server, place: Path, wanted: list[str], quick: bool) -> None:
    ours = client.mino(server, place)
    plain = client.mino(server, place, "--plain", name="mino, plain")
    floors = client.floors(server, place)
    others = []
    if os.environ.get("PEERS", "") not in ("", "0"):
        from . import peers

        others = peers.installed(server, place, report)
    rounds, few, many, marks = (3, 1, 2000, 100) if quick else (9, 3, 20_000, 500)
    lengths = (200, many) if quick else (200, 2000, many)
    inside = (many,) if quick else (5000, many)
    pasts = (1000, 10_000) if quick else (1000, 10_000, 100_000)
    raw, thirty = floors
    groups: dict[str, Callable[[], None]] = {
        "startup": lambda: startup.measure(report, server, ours, others, rounds),
        "request": lambda: startup.first_request(report, server, ours, thirty, others, rounds),
        "plain": lambda: streaming.plain(report, server, plain, floors, others, few, many),
        "rich": lambda: streaming.rich(report, server, ours, floors, others, few, many),
        "growth": lambda: streaming.growth(report, server, ours, few, lengths),
        "latency": lambda: latency.measure(report, server, ours, [raw, *others], marks, inside),
        "past": lambda: past.measure(report, server, ours, rounds, pasts),
        "observers": lambda: observers.measure(report, server, place, few, many),
        "size": lambda: startup.size(report),
        "instructions": lambda: instructions.measure(report, server, place, thirty, 2000),
    }
    for name in wanted or groups:
        groups[name]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
