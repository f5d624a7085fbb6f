"""What it costs to begin: the version, the prompt, the editor, the first request."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from . import environment, process
from .answers import Script
from .client import QUESTION, Client, Talk
from .report import Report, Row
from .samples import interleaved, medians
from .server import Server

GROUP = "start-up"
_KEY = "#"
_STRANGERS = 300


def measure(report: Report, server: Server, mino: Client, rounds: int) -> None:
    """CPU of starting, beside bare Python and a script that does nothing; time until the first request."""
    python, nothing = str(environment.PYTHON), str(environment.MINO / "bin" / "nothing")
    crowded = _among_strangers(mino)

    def cpu(argv: list[str], client: Client) -> Callable[[], float]:
        return lambda: process.into_pipe(argv, client.env, whole=False).cpu

    def prompt(client: Client) -> Callable[[], float]:
        return lambda: ready(client, server)

    runs: dict[str, Callable[[], float]] = {
        "bare": cpu([python, "-I", "-S", "-c", "pass"], mino),
        "nothing": cpu([nothing], mino),
        "mino --version": cpu(list(mino.version), mino),
        "prompt": prompt(mino),
        "editor": lambda: _editor(mino, server),
    }
    at = {name: 1000 * value for name, value in medians(interleaved(rounds, runs)).items()}
    bare = at["bare"]
    pairs = interleaved(3 * rounds, {"alone": prompt(mino), "crowded": prompt(crowded)})
    more = [there - without for there, without in zip(pairs["crowded"], pairs["alone"], strict=True)]

    def row(name: str, what: str, most: float | None = None) -> Row:
        return Row(GROUP, what, at[name], "ms CPU", bare, "bare Python", most)

    report.add(
        row("nothing", "a console script that does nothing"),
        Row(GROUP, "mino --version", at["mino --version"], "ms CPU", at["nothing"], "doing nothing", 1.2),
        row("prompt", "mino, prompt drawn", 8),
        row("editor", "mino, a key echoed by the editor", 20),
        Row(
            GROUP,
            f"more among {_STRANGERS} distributions",
            1000 * median(more),
            "ms CPU",
            most=6,
        ),
    )


def _editor(client: Client, server: Server) -> float:
    with Talk(client, server) as talk:
        first = len(talk.terminal.pieces)
        talk.terminal.type(_KEY)
        if talk.terminal.wait_for(_KEY, since=first) is None:
            raise RuntimeError("the editor echoes no key")
        return talk.terminal.spent


def ready(client: Client, server: Server) -> float:
    """Seconds of CPU until a client's prompt is there."""
    with Talk(client, server) as talk:
        return talk.cpu_ready


def first_request(report: Report, server: Server, mino: Client, thirty: Client, rounds: int) -> None:
    """Time from starting to the first request, with the question typed ahead or given."""
    runs = {mino.name: typed_ahead(mino, server)}
    runs["thirty"] = lambda: _asked_at_once(thirty, server)
    runs["mino -p"] = lambda: _asked_at_once(mino, server)
    took = medians(interleaved(rounds, runs))
    floor = took.pop("thirty")
    report.add(
        *[
            Row("exec to first request", what, value, "ms", floor, "httpx", 1.5 if what == "mino" else None)
            for what, value in took.items()
        ]
    )


def typed_ahead(client: Client, server: Server) -> Callable[[], float]:
    """Milliseconds from starting a client to the request for a question that is typed at once."""

    def run() -> float:
        server.answers(Script(deltas=3))
        with Talk(client, server) as talk:
            talk.terminal.type(QUESTION)
            if client.settle > 1:
                talk.terminal.settle(0.2)  # it drops an Enter that comes at once
            talk.terminal.type(client.submit)
            return _arrival(server, talk.terminal.began, talk.terminal.settle)

    return run


def _arrival(server: Server, began: int, drain: Callable[[float, float], None]) -> float:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        drain(0.05, 0.1)
        if asked := [request for request in server.asked() if request["size"]]:
            return float(asked[0]["arrived"] - began) / 1e6
    raise RuntimeError("no request came")


def _asked_at_once(client: Client, server: Server) -> float:
    server.answers(Script(deltas=3))
    cost = client.ask_once()
    return float(server.asked()[0]["arrived"] - cost.began) / 1e6


def _among_strangers(mino: Client) -> Client:
    """The same client, where many distributions are installed that have nothing to do with it."""
    place = mino.home / "strangers"
    for n in range(_STRANGERS):
        metadata = place / f"stranger_{n}-1.0.dist-info"
        metadata.mkdir(parents=True, exist_ok=True)
        head = f"Metadata-Version: 2.1\nName: stranger-{n}\nVersion: 1.0\n" + "Classifier: x\n" * 30
        (metadata / "METADATA").write_text(head + "\nlong text\n" * 100)
        (metadata / "RECORD").write_text("a,,\n" * 200)
        if n % 3 == 0:
            (metadata / "entry_points.txt").write_text(f"[console_scripts]\nstranger{n} = none:main\n")
    return Client(
        mino.name,
        mino.home,
        {**mino.env, "PYTHONPATH": str(place)},
        mino.once,
        mino.chat,
        version=mino.version,
    )


def size(report: Report) -> None:
    """How much is installed."""
    place = environment.site_packages(environment.MINO)
    files = [path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    ours = len([one for one in place.glob("*.dist-info") if not one.name.startswith("nothing-")])
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    report.add(
        Row("installed", "packages, mino and all it needs", ours, "packages"),
        Row("installed", "their files", megabytes, "MB"),
    )
