"""Runs of mino that go wrong at a chosen moment, and what has to hold afterwards."""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import record_schema
from mino_core.records import Conversation, fold
from mino_core.testing import home

#: What answers: it tells each request, says a few words with a pause behind each, and calls a tool when
#: it is asked to look.
PLUGIN = r'''
import json, os
from mino_core import Finished, TextDelta, ToolCall, Usage, Verdict, hookimpl

def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

class Answering:
    def __init__(self, settings):
        pass

    def stream(self, request):
        last = request.messages[-1]
        told = [[message.role, message.text] for message in request.messages]
        os.write(int(os.environ["MINO_TORTURE_FD"]), (json.dumps(told) + "\n").encode())
        if last.role == "user" and "look" in last.text:
            yield ToolCall("c" + str(len(told)), "look", json.dumps({"at": last.text}))
            yield Finished("tool_calls")
            return
        for n in range(4):
            yield TextDelta(f"{n} on {last.text or 'the result'}; ")
        yield Usage(input_tokens=len(told), output_tokens=4)
        yield Finished("stop")

@hookimpl
def mino_providers():
    return {"answering": Answering}

@hookimpl
def mino_tools():
    return {"look": look}

@hookimpl
def mino_approve(call):
    return Verdict(allowed=True)
'''
#: The distribution that keeps conversations in SQLite, as a plugin of one file.
SQLITE = Path(__file__).parents[2] / "examples/mino-history-sqlite/mino_history_sqlite.py"
CONFIG = """
[session]
provider = "answering"
model = "m"
[providers.answering]
kind = "answering"
"""


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended (minus the signal, if one ended it) and what it said; `requests` are what was asked."""

    status: int
    out: str
    err: str
    requests: list[list[tuple[str, str]]]
    touches: list[str]

    @property
    def questions(self) -> list[str]:
        """What the user sent; what mino asks for a summary is none of it."""
        last = [request[-1] for request in self.requests]
        return [text for role, text in last if role == "user" and not text.startswith("Summarise")]


class Zygote:
    """Forks runs of mino."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("zygote.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, job: Mapping[str, Any]) -> Run:
        """One run, to its end."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the zygote is gone: {self._process.wait()}"
        answer = json.loads(line)
        out, err, told, touches = (
            base64.b64decode(answer[name]).decode("utf-8", "replace")
            for name in ("out", "err", "told", "touches")
        )
        requests = [[(role, text) for role, text in json.loads(line)] for line in told.splitlines()]
        return Run(answer["status"], out, err, requests, touches.split())

    def close(self) -> None:
        self._process.communicate()


class Place:
    """One home, in which runs follow each other; `sent` is all that the user sent so far."""

    def __init__(
        self, zygote: Zygote, folder: Path, backend: str = "jsonl", like: Place | None = None
    ) -> None:
        self.zygote = zygote
        self.backend = backend
        if like is not None:
            shutil.copytree(like.home, folder / "home" / ".mino")
        self.environ = home(folder, CONFIG, MINO_HISTORY=backend)
        self.home = Path(self.environ["MINO_HOME"])
        self.sent = list(like.sent) if like else []
        (self.home / "plugins").mkdir(exist_ok=True)
        (self.home / "plugins" / "answering.py").write_text(PLUGIN)
        if backend == "sqlite":
            shutil.copy(SQLITE, self.home / "plugins")

    def run(self, *lines: str, flags: Sequence[str] = ("-i",), **how: Any) -> Run:
        """Run mino with these lines from a pipe; `how` goes into the job: `plan`, `fsize`, `kill_after`."""
        stdin = "".join(f"{line}\n" for line in lines)
        run = self.zygote.run({"argv": list(flags), "env": self.environ, "cwd": "/", "stdin": stdin, **how})
        assert "Traceback" not in run.out + run.err, run.err
        assert "a bug in mino" not in run.err, run.err
        self.sent += run.questions
        return run

    def files(self) -> list[Path]:
        """The files of the backend `jsonl`."""
        return sorted(self.home.glob("history/*/*.jsonl"))

    def logs(self) -> list[list[dict[str, Any]]]:
        """The records of each conversation, read without any of mino's own readers."""
        if self.backend == "sqlite":
            return _tables(self.home / "history.sqlite")
        return [list(map(_record, _whole_lines(path))) for path in self.files()]


def _record(line: bytes) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise AssertionError(f"{line!r} is no record: {error}") from error
    return kept


def _tables(path: Path) -> list[list[dict[str, Any]]]:
    if not path.exists() or not path.stat().st_size:
        return []
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'").fetchone():
            return []
        logs: dict[str, list[dict[str, Any]]] = {}
        for name, record in connection.execute("SELECT conversation, record FROM records ORDER BY n"):
            logs.setdefault(name, []).append(json.loads(record))
        return list(logs.values())
    finally:
        connection.close()


def _whole_lines(path: Path) -> list[bytes]:
    lines = path.read_bytes().split(b"\n")
    try:
        return lines if json.loads(lines[-1]) else lines[:-1]
    except ValueError:
        return lines[:-1]


def check_files(place: Place) -> set[str]:
    """Every record is whole and as documented, but for a last line that a write was cut short in.

    Returns every text that was said.
    """
    said: set[str] = set()
    for records in place.logs():
        partial = ""
        for kept in records:
            record_schema.validator()(kept)
            if kept["type"] == "said":
                said.add("".join(part.get("text", "") for part in kept["message"]["parts"]))
            elif kept["type"] == "compacted":
                said.add(kept["summary"])
            elif kept["type"] == "partial":
                words = "".join(part["text"] for part in kept["parts"])
                partial = partial + words[kept.get("again", 0) :] if kept.get("more") else words
                said.add(partial)
    return said


def check_run(place: Place, run: Run) -> None:
    """What the user sent is kept, what was sent along with it, and all that was shown but the last words."""
    said = check_files(place)
    lost = [question for question in place.sent if question not in said]
    assert not lost, f"the user sent {lost}, and it is not kept"
    for request in run.requests:
        words = [text for _, text in request if text and not text.startswith("Summarise")]
        lost = [text for text in words if text not in said]
        assert not lost, f"{lost} was sent as part of the conversation, and is not kept"
    _check_shown(run, said)


def _check_shown(run: Run, said: set[str]) -> None:
    """Of an answer that was cut, all words but those since the last moment of waiting are kept."""
    shown = run.out.rpartition("0 on ")[2]
    if run.status != -9 or not shown:
        return
    pieces = ("0 on " + shown).split("; ")[:-1]
    known = "; ".join(pieces[:-1]) + "; "
    if len(pieces) > 1:
        assert any(text.startswith(known) for text in said), f"{known!r} was shown, and is not kept: {said}"


def check_going_on(place: Place) -> None:
    """mino goes on with what there is, sends exactly what it amounts to, and keeps what is said then."""
    before = [_sent(fold(records)) for records in place.logs()]
    run = place.run("and after?", flags=("-c", "-i"))
    assert run.status == 0, run.err
    (request,) = run.requests
    assert request[-1] == ("user", "and after?")
    if before:
        assert request[:-1] in before, f"{request[:-1]} is what none of {before} amounts to"
    else:
        assert request[:-1] == []
    assert "and after?" in check_files(place), f"what is said afterwards is not kept: {run.err}"
    for path in place.files():
        data = path.read_bytes()
        if request[-1][1] in data.decode("utf-8", "replace"):
            assert data.endswith(b"\n") and all(map(_record, data.splitlines()))


def _sent(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages()]


@contextmanager
def zygote() -> Iterator[Zygote]:
    opened = Zygote()
    try:
        yield opened
    finally:
        opened.close()
