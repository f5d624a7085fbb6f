"""The scripted server, in a process of its own: what it streams is said beforehand, when is written down.

Run as a module it is the server: a thread for each connection, told by lines of JSON on standard
input. `Server` is the handle of whoever measures. Times are of CLOCK_MONOTONIC, which all processes
share, in nanoseconds.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_server, socket
from typing import Any

from .answers import Script, cut

#: Deltas in one write at full speed: what a fast server puts into one packet.
_TOGETHER = 8
#: Seconds before the marks, and deltas a second that whoever reads is given time for.
_PAUSE, _CAUGHT_UP = 1.0, 5000
_MARKS_A_SECOND = 50.0


class Server:
    """A running server; `url` is its root, without a slash."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "bench.server"]
        root = Path(__file__).parent.parent
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True)
        self.url = f"http://127.0.0.1:{self._hear()}"

    def answers(self, script: Script) -> None:
        """Answer like this from now on, and forget what was asked so far."""
        self._tell({"script": asdict(script)})
        self._hear()

    def asked(self) -> list[dict[str, Any]]:
        """Each request since: `arrived`, its `size` in bytes, and the times of its `writes`."""
        self._tell({})
        requests: list[dict[str, Any]] = self._hear()
        return requests

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _tell(self, what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


# -- the process -------------------------------------------------------------------------------

_script = Script()
_requests: list[dict[str, Any]] = []
_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)


@lru_cache(32)
def _frames(dialect: str, script: Script) -> tuple[list[bytes], list[bytes], bytes]:
    """What opens the stream and the deltas at full speed; the marks; what closes it. In HTTP chunks."""
    from mino_core.testing import chat, messages, responses
    from mino_core.types import Usage

    make: Any = {"completions": chat, "responses": responses, "messages": messages}[dialect]
    deltas, marks = cut(script)
    said = deltas + marks
    steps = make(*said, usage=Usage(input_tokens=10, output_tokens=len(said), total_tokens=10 + len(said)))
    chunks = [b"%x\r\n%s\r\n" % (len(step), step) for step in steps]
    opening = next(at for at, step in enumerate(steps) if said[0] in _text(step))
    first_mark = opening + len(deltas)
    end = opening + len(said)
    return chunks[:first_mark], chunks[first_mark:end], b"".join(chunks[end:]) + b"0\r\n\r\n"


def _text(step: bytes) -> str:
    """The text in an event, in whatever key the dialect has it."""
    found: list[str] = []
    data = step.partition(b"data: ")[2]
    json.loads(data, object_hook=lambda inner: found.extend(v for v in inner.values() if isinstance(v, str)))
    return "\0".join(found)


def _serve(connection: socket) -> None:
    connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as incoming:
        try:
            while request := incoming.readline():
                path = request.split()[1].decode()
                length = 0
                while (line := incoming.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                incoming.read(length)
                _answer(connection, path.split("?")[0], length)
        except OSError:
            pass  # the client has left


def _answer(connection: socket, path: str, size: int) -> None:
    arrived = time.monotonic_ns()
    dialect = path.rpartition("/")[2]
    if dialect not in ("completions", "responses", "messages"):
        listed = json.dumps({"object": "list", "data": [{"id": "mock", "object": "model"}]}).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        connection.sendall(head % len(listed) + listed)
        return
    script = _script
    writes: list[int] = []
    _requests.append({"arrived": arrived, "size": size, "writes": writes})
    burst, marks, closing = _frames(dialect, script)
    connection.sendall(_HEAD)
    if script.rate:
        _pace(connection, burst, script.rate, writes)
    else:
        for at in range(0, len(burst), _TOGETHER):
            connection.sendall(b"".join(burst[at : at + _TOGETHER]))
    if marks:
        time.sleep(_PAUSE + len(burst) / _CAUGHT_UP)
        writes.clear()
        _pace(connection, marks, _MARKS_A_SECOND, writes)
    connection.sendall(closing)


def _pace(connection: socket, chunks: list[bytes], rate: float, writes: list[int]) -> None:
    began = time.monotonic_ns()
    for n, chunk in enumerate(chunks):
        left = began + int(n * 1e9 / rate) - time.monotonic_ns()
        if left > 0:
            time.sleep(left / 1e9)
        writes.append(time.monotonic_ns())
        connection.sendall(chunk)


def _obey() -> None:
    global _script
    for line in sys.stdin:
        told = json.loads(line)
        if "script" in told:
            _script = Script(**told["script"])
            for dialect in ("completions", "responses", "messages"):
                _frames(dialect, _script)  # now, not while somebody waits
            _requests.clear()
            gc.collect()
            gc.freeze()
        print(json.dumps(_requests if not told else True), flush=True)


def main() -> None:
    """Serve until standard input ends."""
    sys.setswitchinterval(0.0005)
    gc.disable()
    listening = create_server(("127.0.0.1", 0), backlog=64)
    print(listening.getsockname()[1], flush=True)

    def accept() -> None:
        while True:
            threading.Thread(target=_serve, args=[listening.accept()[0]], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    _obey()


if __name__ == "__main__":
    main()
