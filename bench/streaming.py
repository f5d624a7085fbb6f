"""What an answer costs: CPU a delta, bytes written, memory, and how all that grows with its length."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from .answers import SHAPES, Script, cut
from .client import Client, Talk, Turn, mino
from .report import Report, Row
from .samples import exponent, interleaved
from .server import Server

_FEW = 200


def plain(
    report: Report,
    server: Server,
    client: Client,
    floors: tuple[Client, Client],
    rounds: int,
    many: int,
) -> None:
    """CPU a delta into a pipe: the slope between a short and a long answer, so that starting is left out."""
    raw, thirty = floors
    place = client.home.parent
    others = [
        mino(server, place, "--plain", name=f"mino, {dialect}", dialect=dialect)
        for dialect in ("responses", "messages")
    ]
    everyone = [raw, thirty, client, *others]
    slopes = each_delta(everyone, server, rounds, many)
    floor = slopes["thirty"]
    report.add(
        *[
            Row(
                f"{many:,} deltas, plain, into a pipe",
                name,
                value,
                "µs CPU a delta",
                floor,
                "httpx",
                1.2 if name == client.name else None,
            )
            for name, value in slopes.items()
            if name != "thirty"
        ]
    )


def each_delta(everyone: list[Client], server: Server, rounds: int, many: int) -> dict[str, float]:
    """What a delta costs each of them into a pipe, in microseconds of CPU."""

    def cost(one: Client, deltas: int) -> Callable[[], float]:
        def run() -> float:
            server.answers(Script(deltas=deltas))
            return one.ask_once().cpu

        return run

    runs = {f"{one.name}|{deltas}": cost(one, deltas) for one in everyone for deltas in (_FEW, many)}
    costs = interleaved(rounds, runs)
    slopes = {}
    for one in everyone:
        pairs = zip(costs[f"{one.name}|{_FEW}"], costs[f"{one.name}|{many}"], strict=True)
        slopes[one.name] = 1e6 * median((long - short) / (many - _FEW) for short, long in pairs)
    return slopes


def rich(
    report: Report,
    server: Server,
    client: Client,
    floors: tuple[Client, Client],
    rounds: int,
    many: int,
) -> None:
    """The same on a terminal, in a warm conversation; bytes written, in a burst and at 50 a second."""
    everyone = [*floors, client]
    burst = {one.name: turns(one, server, Script(deltas=many), rounds) for one in everyone}
    group = f"{many:,} deltas, Markdown on a terminal"
    raw = _cost(burst["raw"]) / many
    rows = [
        Row(group, name, 1e6 * _cost(said) / many, "µs CPU a delta", most=40 if name == "mino" else None)
        for name, said in burst.items()
    ]
    report.add(
        *rows, Row(group, "mino beside raw", 1e6 * _cost(burst["mino"]) / many, "µs", 1e6 * raw, "raw")
    )
    report.add(
        *[_written(f"{name}, in a burst", said, many, 1.3, name == "mino") for name, said in burst.items()],
        *[
            _written(
                f"{one.name}, at 50/s",
                turns(one, server, Script(deltas=_FEW, rate=50), 1),
                _FEW,
                2,
                one is client,
            )
            for one in everyone
        ],
    )
    report.add(
        *[
            Row(
                f"memory for {many:,} deltas",
                name,
                said[0].grown,
                "MB more",
                most=4 if name == "mino" else None,
            )
            for name, said in burst.items()
        ]
    )


def answer_bytes(deltas: int) -> int:
    """How long an answer in prose is."""
    return len("".join(cut(Script(deltas=deltas))[0]).encode())


def _written(what: str, said: list[Turn], deltas: int, most: float, ours: bool) -> Row:
    value = median(turn.written for turn in said) / answer_bytes(deltas)
    return Row("bytes to the terminal", what, value, "per byte of answer", most=most if ours else None)


def turns(client: Client, server: Server, script: Script, rounds: int, patience: float = 90.0) -> list[Turn]:
    """Answers on a terminal, in a warm conversation."""
    with Talk(client, server) as talk:
        talk.turn(Script(deltas=20))
        return [talk.turn(script, patience) for _ in range(rounds)]


def _cost(said: list[Turn]) -> float:
    return median(turn.cpu for turn in said)


def growth(report: Report, server: Server, client: Client, rounds: int, lengths: tuple[int, ...]) -> None:
    """How the CPU of one answer grows with its length, shape by shape."""
    rows = []
    for shape in SHAPES:

        def cost(deltas: int, shape: str = shape) -> Callable[[], float]:
            return lambda: turns(client, server, Script(shape, deltas), 1)[0].cpu

        results = interleaved(rounds, {str(length): cost(length) for length in lengths})
        *_, small, large = [median(results[str(length)]) for length in lengths]
        grown = exponent(small, large, lengths[-1] / lengths[-2])
        each = ", ".join(f"{1e6 * median(results[str(n)]) / n:.0f}" for n in lengths)
        rows.append(
            Row(
                f"growth, {' → '.join(f'{n:,}' for n in lengths)} deltas",
                f"{shape} ({each} µs a delta)",
                grown,
                "exponent",
                most=1.05,
            )
        )
    report.add(*rows)
