"""One child process that loads a model and serves it, from its start to its end.

It shares one socket pair with us, as its standard input and output. The kernel closes our end
when mino ends, even by `kill -9`, and that ends the child. Its one line is looked at and never
taken, so that a Ctrl-C at any moment loses nothing of it.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from mino_core import ProviderError

from .weights import SET_ANOTHER

CHILD = Path(__file__).with_name("child.py")
#: Seconds that a child may take to end once it was told to.
_GRACE = 2.0
#: Seconds between the end of a child's connections and the end of the child.
_DYING = 0.5


class Engine:
    """A running child. To make one starts it and waits for nothing; ProviderError where it cannot start.

    `model` is the file that it loads, `key` is what its server asks for. The key reaches the child
    through the environment, since anyone on the machine can read a command line.
    """

    def __init__(self, model: Path, context_size: int, threads: int, program: Path = CHILD) -> None:
        self.key = secrets.token_hex(16)
        self.model = model
        self._ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the child)
        # -P: the folder of this program is no place to import from
        argv = [sys.executable, "-P", str(program), str(model), str(context_size), str(threads)]
        # By default OpenMP waits in a busy loop, ten times slower beside other work.
        environ = {**os.environ, "MINO_LOCAL_KEY": self.key, "OMP_WAIT_POLICY": "passive"}
        try:
            with theirs:
                self._process = subprocess.Popen(
                    argv,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._log,
                    env=environ,
                    start_new_session=True,
                )
        except OSError as error:
            self._ours.close()
            self._log.close()
            raise ProviderError("connect", f"cannot start the local model's process: {error}") from error

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    def url(self, patience: float) -> str:
        """Where it serves, as soon as it does; waits up to `patience` seconds, interruptibly.

        Raises ProviderError where the child died or is still loading. It goes on loading.
        """
        if not select.select([self._ours], [], [], patience)[0]:
            raise ProviderError(
                "connect",
                f"the local model is still loading after {patience:g} s; ask again,"
                " or allow it more seconds with start_timeout in its table",
            )
        try:
            line = self._ours.recv(4096, socket.MSG_PEEK)
        except ConnectionError:
            line = b""
        if not line:
            raise self.fault() or ProviderError("connect", "the local model's process closed its output")
        try:
            return str(json.loads(line)["url"])
        except (ValueError, TypeError, KeyError):
            self.close()
            raise ProviderError(
                "connect", f"the local model's process said something unexpected: {line[:80]!r}"
            ) from None

    def alive(self) -> bool:
        """Whether the child still runs."""
        return self._process.poll() is None

    def fault(self) -> ProviderError | None:
        """Why the child ended; None where it still runs."""
        try:
            code = self._process.wait(_DYING)
        except subprocess.TimeoutExpired:
            return None
        if code in (-signal.SIGILL, 128 + signal.SIGILL):
            return ProviderError(
                "config", f"this CPU lacks AVX2, which the local model's engine needs; {SET_ANOTHER}"
            )
        if code < 0:
            name = signal.Signals(-code).name
            hint = "; is there enough memory?" if code == -signal.SIGKILL else ""
            return ProviderError("connect", f"the local model's process was ended by {name}{hint}")
        said = self._last_words()
        return ProviderError("config", f"the local model does not start: {said or f'code {code}'}")

    def close(self) -> None:
        """End the child, and wait until it has ended."""
        self._ours.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _last_words(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(size - 4096, 0))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:500] if lines else ""
