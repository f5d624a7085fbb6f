"""Servers and libraries that nobody here wrote, each in an environment of its own, kept between runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from mino_core.testing import home

#: The releases that these tests were written against.
LLMOCK = "llmock==0.2.2"
AIMOCK = "@copilotkit/aimock@1.43.0"
SDKS = ("openai==3.57.0", "anthropic==2.14.0")


def python_with(cache: pytest.Cache, name: str, *requirements: str) -> Path:
    """A Python with these requirements; made once, and made anew where they change."""

    def install(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", str(folder)])
        pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        _run([*pip, *requirements])

    return _made(cache, name, requirements, install) / "bin/python"


def node_with(cache: pytest.Cache, name: str, package: str) -> Path:
    """A folder of node modules with this package; skips where node is missing or too old."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("node and npm are not installed")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", said)[:2])) < (20, 15):
        pytest.skip(f"node is {said.strip()}; this needs 20.15 or newer")

    def install(folder: Path) -> None:
        folder.mkdir()
        _run([npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), package])

    return _made(cache, name, (package,), install) / "node_modules"


def _made(cache: pytest.Cache, name: str, requirements: Sequence[str], install: Any) -> Path:
    folder = cache.mkdir("environments") / name
    mark = folder / "made-of.json"
    wanted = json.dumps([sys.version, *requirements])
    if not mark.is_file() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        install(folder)
        mark.write_text(wanted)
    return folder


def _run(argv: Sequence[str]) -> None:
    """Run an installer; skip with its last words where it fails."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environ,
        check=False,
    )
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.strip()]
        pytest.skip(f"{argv[-1]} cannot be installed: {said[-1] if said else done.returncode}")


@contextmanager
def running(argv: Sequence[str], folder: Path, ready: str, **variables: str) -> Iterator[str]:
    """A server in a fresh home below `folder`; the address that its first line like `ready` says."""
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=home(folder, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(ready, line):
                    yield found[1]
                    return
            pytest.fail(f"{argv[0]} ended before it served:\n{''.join(said[-20:])}")
        finally:
            process.kill()


def call(url: str, method: str = "GET", body: Mapping[str, Any] | None = None) -> Any:
    """What a server's own controls answer."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json"}, method=method)
    with urlopen(request) as answer:
        return json.load(answer)
