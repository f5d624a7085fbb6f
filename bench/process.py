"""Processes, and what they cost: CPU clocks, memory, a run into a pipe."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .answers import END

_DEVNULL_IN = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run cost: seconds by the wall, seconds of CPU with its children, bytes written."""

    wall: float
    cpu: float
    written: int = 0
    began: int = 0


def into_pipe(argv: Sequence[str], env: Mapping[str, str], *, whole: bool = True) -> Cost:
    """Run a program to its end, its output into a pipe; RuntimeError where the answer is not whole."""
    reading, writing = os.pipe()
    actions = [
        _DEVNULL_IN,
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    began = time.monotonic_ns()
    pid = os.posix_spawnp(argv[0], list(argv), dict(env), file_actions=actions)
    os.close(writing)
    size, tail, is_whole = 0, b"", not whole
    while data := os.read(reading, 1 << 16):
        size += len(data)
        tail = tail[-64:] + data
        is_whole = is_whole or END.encode() in tail
    os.close(reading)
    _, status, used = os.wait4(pid, 0)
    ended = time.monotonic_ns()
    if not is_whole or (whole and status):
        raise RuntimeError(f"{argv[0]} gave no whole answer (status {status})")
    return Cost((ended - began) / 1e9, used.ru_utime + used.ru_stime, size, began)


def family(pid: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
        children.setdefault(parent, []).append(int(name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return found


def end_all(home: str) -> None:
    """Kill what still runs with this HOME: some programs leave a server of their own behind."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as environ:
                if os.fsencode(f"HOME={home}") in environ.read().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has just ended, or is somebody else's


def cpu(pids: Sequence[int]) -> float:
    """Seconds of CPU that these processes have used, their ended threads included."""
    spent = 0
    for pid in pids:
        try:
            spent += time.clock_gettime_ns((~pid << 3) | 2)  # Linux's clock of another process
        except OSError:
            pass  # it has ended
    return spent / 1e9


def resident(pids: Sequence[int], *, key: str = "VmRSS") -> float:
    """Megabytes in memory; `VmHWM` for the most there ever were."""
    kilobytes = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                kilobytes += sum(int(line.split()[1]) for line in status if line.startswith(f"{key}:"))
        except OSError:
            pass  # it has ended
    return kilobytes / 1024


def readable(fd: int, seconds: float) -> bool:
    """Whether there is something to read within that time."""
    return bool(select.select([fd], [], [], seconds)[0])
