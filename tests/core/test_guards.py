"""What mino imports, writes and syncs: counted, not timed, so that no cost comes back unnoticed."""

import json
import subprocess
import sys

import pytest
from mino_core.testing import Server, Terminal, chat, mino, run
from pointed import pointed

_VERSION = """
import sys
before = set(sys.modules)
from mino_core.cli import main
main(["--version"])
print(*sorted(set(sys.modules) - before))
"""
#: The editor, but where it would import what it edits with, it writes down what is imported by then.
_AT_THE_PROMPT = """
import sys
from mino_core import hookimpl
from mino_input.editor import Editor

class AtThePrompt(Editor):
    def warm(self):
        with open({path!r}, "w") as file:
            print(*sys.modules, sep="\\n", file=file)
        raise EOFError

@hookimpl
def mino_inputs():
    return {{"at-the-prompt": AtThePrompt}}
"""
#: Counts the system calls of an answer, from before the question until the end, and what it imports.
_COUNTING = """
import json, os, select, signal, socket, sys
from collections import Counter
from mino_core import TurnEnded, TurnStarted, hookimpl

counts = Counter()

def counted(place, name):
    real = getattr(place, name, None)
    def call(*args):
        counts[name] += 1
        return real(*args)
    if real is not None:
        setattr(place, name, call)

for name in ("write", "fsync", "fdatasync"):
    counted(os, name)
for name in ("connect", "recv_into", "send", "settimeout"):
    counted(socket.socket, name)
for name in ("select", "poll"):
    counted(select, name)
counted(signal, "setitimer")

@hookimpl
def mino_event(event):
    if isinstance(event, TurnEnded):
        with open({path!r}, "w") as file:
            json.dump([counts, list(sys.modules)], file)
"""
#: None of these is needed before somebody has asked something; each costs at least a millisecond.
_HEAVY = {
    *(
        "argparse",
        "asyncio",
        "certifi",
        "concurrent.futures",
        "ctypes",
        "dataclasses",
        "difflib",
        "email",
    ),
    *(
        "hashlib",
        "http",
        "httpx",
        "importlib.metadata",
        "json",
        "logging",
        "prompt_toolkit",
        "rich",
        "selectors",
    ),
    *(
        "shutil",
        "socket",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "tomli_w",
        "traceback",
        "unicodedata",
    ),
    *("mino_anthropic.messages", "mino_core.session.turn", "mino_core.tools", "mino_core.transport.sse"),
    *("mino_history.jsonl", "mino_local.engine", "mino_openai.chat_events", "mino_openai.chat_request"),
    *("mino_openai.responses", "mino_render.document", "mino_input.line"),
}
#: Modules of our own at the prompt. Each costs it a quarter of a millisecond: measure before raising this.
_OURS = 72


def test_the_version_is_said_before_anything_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", _VERSION], capture_output=True, text=True, check=True, env={"PATH": ""}
    )
    assert done.stdout.splitlines()[1:] == ["gc mino_core mino_core.cli"]


def at_the_prompt(tmp_path):
    """The modules that are there when the prompt is drawn, with a provider chosen in config.toml."""
    seen = tmp_path / "modules"
    with Server() as server:
        env = pointed(tmp_path, server, toml='[input]\nname = "at-the-prompt"')
        plugins = tmp_path / "home" / ".mino" / "plugins"
        plugins.mkdir()
        (plugins / "watch.py").write_text(_AT_THE_PROMPT.format(path=str(seen)))
        with Terminal(mino(), env) as terminal:
            assert terminal.wait_exit() == 0, terminal.dump()
            assert "You>" in terminal.text
    return set(seen.read_text().split())


def test_nothing_heavy_is_imported_before_the_first_prompt(tmp_path):
    modules = at_the_prompt(tmp_path)
    assert {"mino_core.session", "mino_openai.chat", "mino_input.editor"} <= modules
    assert modules & _HEAVY == set()
    ours = {name for name in modules if name.startswith("mino")}
    assert len(ours) <= _OURS, sorted(ours)


@pytest.mark.parametrize("deltas", [200, 2000])
def test_an_answer_is_written_as_it_arrives_and_synced_once(tmp_path, deltas):
    counted = tmp_path / "counts"
    plugin = tmp_path / "counting.py"
    plugin.write_text(_COUNTING.format(path=str(counted)))
    with Server() as server:
        server.reply(b"".join(chat(*["word "] * deltas)))  # in one go
        done = run(["-e", str(plugin), "-p", "hi"], pointed(tmp_path, server))
    assert (done.code, done.out) == (0, "word " * deltas)
    calls, modules = json.loads(counted.read_text())
    assert 2 <= calls["write"] <= 60, "not once a delta"
    # The question and the reply; a new conversation also syncs its directories.
    assert 2 <= calls["fdatasync"] + calls.get("fsync", 0) <= 2 + 3
    assert calls["connect"] == 1
    assert sum(calls.values()) <= 160 + deltas // 20, calls
    assert "encodings.idna" not in modules, "no name here is in another script"
