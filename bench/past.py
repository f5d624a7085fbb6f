"""What a long past costs: going on with it, asking in it, searching it, adding to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median

from . import environment, process, startup
from .answers import Script, words
from .client import Client, Talk
from .report import Report, Row
from .samples import interleaved, medians
from .server import Server

#: What is searched for, in any case and in Chinese: the last words of the conversation of so many messages;
#: and the last words of every one.
_NEEDLE, _CHINESE, _FOUND_IN = "Needle in the past", "往事里的针", 1000
_EVERYWHERE, _CHINESE_EVERYWHERE = "The last Words of all", "处处都有"
_APPENDS = 200
#: Conversations longer than this are gone on with, but not sent.
_SENT = 10_000
#: Up to how many messages a question may take no longer than in an empty conversation.
_BUDGETED = 1000
#: Appends a record of the usual size, durably, N times; the seconds that each took, the floor's first.
_APPENDING = """
import json, os, sys, time
from pathlib import Path
from mino_core.settings import Settings
from mino_history import mino_histories
home, n, text = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
record = {"id": "01J" + "0" * 23, "time": "2026-01-01T00:00:00Z", "type": "said", "turn": 1,
          "message": {"role": "user", "parts": [{"type": "text", "text": text}], "meta": {}}}
line = (json.dumps(record) + "\\n").encode()
fd = os.open(home / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
head = {"id": "01J" + "1" * 23, "time": "2026-01-01T00:00:00Z", "type": "head", "format": 1}
log = mino_histories()["jsonl"](Settings(home=home)).open(head["id"], head=head)
took = [0.0, 0.0]
for _ in range(n):
    began = time.perf_counter(); os.write(fd, line); os.fdatasync(fd)
    middle = time.perf_counter(); log.append(record)
    took[0] += middle - began; took[1] += time.perf_counter() - middle
print(json.dumps([one / n for one in took]))
"""


def measure(
    report: Report, server: Server, mino: Client, raw: Client, rounds: int, lengths: tuple[int, ...]
) -> None:
    """Ready on a conversation of each length beside an empty one; the way from Enter to the request."""
    ids = {length: _conversation(mino, length) for length in lengths}

    def ready(client: Client) -> Callable[[], float]:
        return lambda: 1000 * startup.ready(client, server)

    resumed = {length: _resuming(mino, ids[length]) for length in lengths}
    empty = _resuming(mino, _conversation(mino, 0))
    runs = {"empty": ready(empty), **{str(length): ready(resumed[length]) for length in lengths}}
    took = medians(interleaved(rounds, runs))
    report.add(
        *[
            Row("going on", f"ready on {n:,} messages", took[str(n)], "ms CPU", took["empty"], "empty", 1.2)
            for n in lengths
        ]
    )
    _append(report, mino)
    _enter(report, server, mino, raw, {n: resumed[n] for n in lengths if n <= _SENT})
    _search(report, mino, rounds)


def _enter(report: Report, server: Server, mino: Client, raw: Client, resumed: Mapping[int, Client]) -> None:
    """From Enter to the request, in a warm conversation: what is kept is on the disk before it is sent."""
    group = "Enter to request, warm"
    unkept = Client(mino.name, mino.home, mino.env, chat=(*mino.chat, "--no-history"))
    report.add(
        Row(group, "raw", until_request(raw, server), "ms"),
        Row(group, "nothing kept", until_request(unkept, server), "ms", most=2),
        Row(group, "kept", until_request(mino, server), "ms", most=2),
        *[
            Row(
                group,
                f"kept, after {n:,} messages, all of them sent",
                until_request(client, server),
                "ms",
                most=2 if n <= _BUDGETED else None,
            )
            for n, client in resumed.items()
        ],
    )


def _resuming(client: Client, id: str) -> Client:
    return Client(client.name, client.home, client.env, chat=(*client.chat, "--resume", id))


def until_request(client: Client, server: Server, turns: int = 15) -> float:
    """Milliseconds from Enter to the request's last byte at the server, in a conversation that goes on."""
    with Talk(client, server) as talk:
        talk.terminal.settle(1.0)
        talk.turn(Script(deltas=20))
        return median(talk.turn(Script(deltas=20)).until_request for _ in range(turns))


def _conversation(client: Client, messages: int) -> str:
    """Write a conversation as mino would have; its id."""
    name = f"01BENCH{messages:019d}"
    from mino_core import Settings

    from mino_history import mino_histories

    head, title, *rest = _records(name, messages)
    home = client.home / ".mino"
    log = mino_histories()["jsonl"](Settings(home=home)).open(name, head=head)
    log.append(title)
    log.close()
    (path,) = home.rglob(f"*{name}.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in rest)
    return name


def _records(id: str, messages: int) -> Iterator[dict[str, object]]:
    when = "2026-01-01T00:00:00Z"
    yield {"id": id, "time": when, "type": "head", "format": 1, "mino": "0", "directory": "/"}
    yield {"id": "01H" + "0" * 23, "time": when, "type": "titled", "title": "bench"}
    for n in range(messages):
        role, text = ("assistant", words(600)) if n % 2 else ("user", words(120))
        text = words(40, "cjk") if n % 8 == 0 else text  # everywhere but in what is shown again
        last = _EVERYWHERE + _CHINESE_EVERYWHERE if n + 1 == messages else ""
        last += _NEEDLE + _CHINESE if n + 1 == messages == _FOUND_IN else ""
        parts = [{"type": "text", "text": text + last}]
        said = {"message": {"role": role, "parts": parts, "meta": {}}}
        outcome = {"outcome": "completed"} if n % 2 else {}
        yield {"id": f"01J{n:023d}", "time": when, "type": "said", "turn": n // 2 + 1, **said, **outcome}
        if n % 2:
            yield {"id": f"01K{n:023d}", "time": when, "type": "ended", "turn": n // 2 + 1, **outcome}


def _append(report: Report, mino: Client) -> None:
    place = mino.home / "appends"
    place.mkdir(exist_ok=True)
    command = [str(environment.PYTHON), "-c", _APPENDING, str(place), str(_APPENDS), words(600)]
    done = subprocess.run(command, env=dict(mino.env), capture_output=True, text=True, check=True)
    floor, ours = [1000 * seconds for seconds in json.loads(done.stdout)]
    for left in place.rglob("*.jsonl"):
        left.unlink()
    report.add(Row("append", "one durable record", ours, "ms", floor, "write and fdatasync"))


def _search(report: Report, mino: Client, rounds: int) -> None:
    """The floor looks for the same in the same files, and ignores case as well."""
    history = mino.home / ".mino" / "history"
    files = sorted(str(path) for path in history.rglob("*.jsonl"))
    megabytes = sum(Path(name).stat().st_size for name in files) / 1e6
    program = mino.version[0]
    nothing = {**mino.env, "MINO_HOME": str(mino.home / "nothing")}

    def run(*argv: str, env: Mapping[str, str] = mino.env) -> Callable[[], float]:
        return lambda: 1000 * process.into_pipe(argv, env, whole=False).cpu

    runs = {"nothing": run(program, "history", "search", _NEEDLE, env=nothing)}
    where = {
        _NEEDLE: "words, in one conversation",
        _CHINESE: "Chinese words, in one conversation",
        _EVERYWHERE: "words, in every conversation",
        _CHINESE_EVERYWHERE: "Chinese words, in every conversation",
    }
    for needle in where:
        runs |= {
            f"grep {needle}": run("grep", "-liF", needle.lower(), *files),
            needle: run(program, "history", "search", needle.lower()),
        }
    took = medians(interleaved(rounds, runs | {"list": run(program, "history", "list", "--json")}))
    group, rows = f"search in {megabytes:,.0f} MB", []
    for needle, what in where.items():
        floor, unit = took[f"grep {needle}"], "ms CPU"
        searching = took[needle] - took["nothing"]
        # Of what is listed the title is looked for too, in as many bytes again; grep lists only names.
        most = None if "every" in what else 2
        rows += [
            Row(group, f"searching for {what}", searching, unit, floor, "grep -liF", most),
            Row(group, f"mino history search, {what}", took[needle], unit, floor, "grep -liF"),
        ]
    report.add(
        *rows,
        Row(group, "mino history search, where nothing is kept", took["nothing"], "ms CPU"),
        Row(group, "mino history list", took["list"], "ms CPU"),
    )
