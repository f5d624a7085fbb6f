"""A process that has imported mino and forks a run of it for each job: a hundred in the time of one start.

Jobs come as lines of JSON on standard input; each is answered with a line of JSON. A job is
`{argv, env, cwd, stdin, plan?, fsize?, kill_after?}`; the answer `{status, out, err, told, touches}`, where
`told` is what the provider wrote into its descriptor and `touches` what touched the disk.
"""

from __future__ import annotations

import argparse  # noqa: F401 (as are others: what is here is not imported by each run)
import base64
import difflib  # noqa: F401
import gc
import inspect  # noqa: F401
import json
import os
import resource
import select
import signal
import sqlite3  # noqa: F401
import sys
import time
import tomllib  # noqa: F401
from typing import Any

import mino_core.cli.resuming
import mino_core.cli.run
import mino_core.config.state
import mino_core.plugins
import mino_core.session.consulting
import mino_core.session.copies
import mino_core.session.turn
import mino_core.tools.context
import mino_core.tools.schema
import mino_core.transport.http
from shim import Shim

#: Where a run finds the descriptor that its provider tells the requests to.
TELLS = "MINO_TORTURE_FD"


def main() -> None:
    _import_plugins()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _import_plugins() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="mino"):
        point.load()
    import mino_history.commands
    import mino_history.export
    import mino_history.jsonl
    import mino_history.subcommand  # noqa: F401


def _run(job: dict[str, Any]) -> dict[str, Any]:
    pipes = {name: os.pipe() for name in ("in", "out", "err", "told", "touches")}
    pid = os.fork()
    if not pid:
        _child(job, pipes)
    for name, (reads, writes) in pipes.items():
        os.close(reads if name == "in" else writes)
    writes = pipes["in"][1]
    os.write(writes, job.get("stdin", "").encode())
    os.close(writes)
    said = _listen(
        {name: reads for name, (reads, _) in pipes.items() if name != "in"}, pid, job.get("kill_after")
    )
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {"status": status, **{name: base64.b64encode(data).decode() for name, data in said.items()}}


def _listen(ends: dict[str, int], pid: int, kill_after: float | None) -> dict[str, bytes]:
    said = dict.fromkeys(ends, b"")
    names = {fd: name for name, fd in ends.items()}
    deadline = None if kill_after is None else time.monotonic() + kill_after
    while names:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select(list(names), [], [], left)
        if not ready:
            os.kill(pid, signal.SIGKILL)
            deadline = None
        for fd in ready:
            if data := os.read(fd, 65536):
                said[names[fd]] += data
            else:
                os.close(fd)
                del names[fd]
    return said


def _child(job: dict[str, Any], pipes: dict[str, tuple[int, int]]) -> None:
    for fd, name in enumerate(("in", "out", "err")):
        os.dup2(pipes[name][0 if name == "in" else 1], fd)
    tells, touches = os.dup(pipes["told"][1]), os.dup(pipes["touches"][1])
    for ends in pipes.values():
        for end in ends:
            os.close(end)
    os.environ.clear()
    os.environ.update(job["env"], **{TELLS: str(tells)})
    os.chdir(job["cwd"])
    for name, fd, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, open(fd, mode, closefd=False))  # noqa: SIM115 (open to the end)
        setattr(sys, f"__{name}__", getattr(sys, name))
    if "fsize" in job:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["fsize"], resource.RLIM_INFINITY))
    mino_core.session.turn._PARTIAL_SECONDS = 0.0
    shim = Shim({"root": job["env"]["MINO_HOME"], **job.get("plan", {})})
    write = os.write
    shim.install()
    code = 1
    try:
        code = mino_core.cli.run.run(job["argv"])
        sys.stdout.flush()
        sys.stderr.flush()
        write(touches, " ".join(shim.touches).encode())
    finally:
        os._exit(code)


main()
