"""`make bench`: every budget of mino in one run; `QUICK=1` for a rough one, `PEERS=1` beside others.

`python -m bench --write-docs RESULTS.json` puts what a run has written into the documentation.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import client, environment, instructions, latency, observers, page, past, startup, streaming
from .report import Report
from .server import Server


def main(arguments: list[str]) -> int:
    """Measure these groups, or all of them; or write the table of an earlier run into the docs."""
    match arguments:
        case ["--write-docs", results]:
            page.write(Path(results))
            return 0
    quick = os.environ.get("QUICK", "") not in ("", "0")
    report = Report(quick)
    environment.prepare()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        os.chdir(place)  # some of those measured write where they are started
        server = Server()
        try:
            _measure(report, server, place, arguments, quick)
        finally:
            server.close()
    file = Path(__file__).parent / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    report.write(file)
    missed = [row for row in report.rows if row.met is False]
    goals = [row for row in report.rows if row.met is not None]
    print(f"\n{len(goals) - len(missed)} of {len(goals)} goals are met. Machine: {report.machine()}")
    print("Seconds: " + ", ".join(f"{name} {seconds:.0f}" for name, seconds in report.seconds.items()))
    print(f"Written: {file}")
    return 0


def _measure(report: Report, server: Server, place: Path, wanted: list[str], quick: bool) -> None:
    ours = client.mino(server, place)
    plain = client.mino(server, place, "--plain", name="mino, plain")
    floors = client.floors(server, place)
    rounds, few, many, marks = (3, 1, 2000, 100) if quick else (9, 3, 20_000, 500)
    lengths = (200, many) if quick else (200, 2000, many)
    inside = (many,) if quick else (5000, many)
    pasts = (1000, 10_000) if quick else (1000, 10_000, 100_000)
    raw, thirty = floors
    groups: dict[str, Callable[[], None]] = {
        "startup": lambda: startup.measure(report, server, ours, rounds),
        "request": lambda: startup.first_request(report, server, ours, thirty, rounds),
        "plain": lambda: streaming.plain(report, server, plain, floors, few, many),
        "rich": lambda: streaming.rich(report, server, ours, floors, few, many),
        "growth": lambda: streaming.growth(report, server, ours, few, lengths),
        "latency": lambda: latency.measure(report, server, ours, raw, marks, inside),
        "past": lambda: past.measure(report, server, ours, raw, rounds, pasts),
        "observers": lambda: observers.measure(report, server, place, few, many),
        "size": lambda: startup.size(report),
        "instructions": lambda: instructions.measure(report, server, place, thirty, 2000),
    }
    others = os.environ.get("PEERS", "")
    if others not in ("", "0"):
        from . import peers

        groups["peers"] = lambda: peers.measure(report, server, place, ours, others)
    for name in wanted or groups:
        began = time.monotonic()
        try:
            groups[name]()
        except (OSError, RuntimeError) as error:
            report.leave_out(name, str(error))
        report.seconds[name] = time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
