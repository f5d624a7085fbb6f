"""How long a word is on its way: from the server's write to the terminal, at 50 a second."""

from __future__ import annotations

import re

from .answers import Script
from .client import Client, Talk, Turn
from .report import Report, Row
from .samples import percentile
from .server import Server
from .terminal import COLUMNS, ROWS

_MARK = re.compile(rb"q(\d{6})q")


def measure(
    report: Report,
    server: Server,
    client: Client,
    raw: Client,
    marks: int,
    lengths: tuple[int, ...],
) -> None:
    """At the start of an answer, beside a socket; then far inside answers of several shapes."""
    at_start = delays(client, server, Script(marks=marks, deltas=0))
    floor = delays(raw, server, Script(marks=marks, deltas=0))
    report.add(
        _row(raw.name, floor, 0.5),
        _row(raw.name, floor, 0.99),
        _row(client.name, at_start, 0.5, 1.5),
        _row(client.name, at_start, 0.99, 10),
    )
    first = percentile(at_start, 0.5)
    rows = []
    for shape in ("prose", "paragraph", "code", "table"):
        for length in lengths:
            later = delays(client, server, Script(shape, length, marks=marks))
            what = f"mino, after {length:,} deltas, {shape}"
            rows.append(Row(_GROUP, f"{what}, p50", percentile(later, 0.5), "ms", first, "at the start", 1.2))
            rows.append(_row(what, later, 0.99, 10))
    report.add(*rows)


_GROUP = "latency of a word at 50/s"


def _row(what: str, found: list[float], share: float, most: float | None = None) -> Row:
    return Row(_GROUP, f"{what}, p{100 * share:.0f}", percentile(found, share), "ms", most=most)


def delays(client: Client, server: Server, script: Script) -> list[float]:
    """Milliseconds for each mark that was seen. RuntimeError where most were not."""
    with Talk(client, server) as talk:
        talk.turn(Script(deltas=20))
        turn = talk.turn(script, patience=120 + script.marks / 50)
    seen = _first_seen(turn, script.marks)
    writes = turn.request["writes"]
    found = [(seen[n] - writes[n]) / 1e6 for n in range(script.marks) if n in seen]
    if len(found) < 0.9 * script.marks:
        raise RuntimeError(f"{client.name} showed {len(found)} of {script.marks} marks")
    return found


def _first_seen(turn: Turn, marks: int) -> dict[int, int]:
    seen: dict[int, int] = {}
    tail = b""
    for time, data in turn.pieces:
        tail = tail[-7:] + data
        for found in _MARK.finditer(tail):
            seen.setdefault(int(found[1]), time)
    return seen if len(seen) >= 0.97 * marks else _seen_on_screen(turn)


def _seen_on_screen(turn: Turn) -> dict[int, int]:
    """The same for programs that write only the cells that change: the screen has to be drawn."""
    import pyte

    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    seen: dict[int, int] = {}
    for time, data in turn.pieces:
        stream.feed(data)
        for found in _MARK.finditer("".join(screen.display).encode()):
            seen.setdefault(int(found[1]), time)
    return seen
