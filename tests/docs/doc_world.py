"""A page is a world: a fresh home, a terminal, mino on PATH, and a model server on loopback.

Its blocks happen one after the other, as to a reader who does what the page says. The server gives
the answers that the page shows; everything else on the screen is mino's own.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any

from doc_pages import Block
from mino_core import ToolCall, Usage
from mino_core.testing import Server, Terminal, home, mino, run, stream

_BIN = Path(sys.executable).parent
_ENDED = "[the command ended with"
_DIALECTS = {"/responses": "responses", "/messages": "messages"}
_PROMPT = re.compile(r"^You>", re.MULTILINE)
#: What differs from run to run, and what is put in its place: ids, times, which model greets.
_VARYING = (
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ID"),
    (re.compile(r"\b\d+ ms {2,}"), "TIME  "),  # in a column as wide as its widest
    (re.compile(r"\b\d+\.\d+ s\b|\b\d+ ms\b"), "TIME"),
    (re.compile(r"^mino: (?:SmolLM2-135M-Instruct|demo-1)\b.*$"), "mino: MODEL"),
)


class World:
    """The home of one page. Every check is an AssertionError that names the block."""

    def __init__(self, tmp_path: Path, server: Server) -> None:
        self.server = server
        self.answers: deque[tuple[str, Usage | None]] = deque()
        self.calls: deque[ToolCall] = deque()
        server.answer(self._answer)
        self._chosen = {
            "MINO_PROVIDER": "vllm",
            "MINO_BASE_URL": f"{server.url}/v1",
            "MINO_MODEL": "demo-1",
            "DEEPSEEK_API_KEY": "sk-example",
        }
        self.environ = home(
            tmp_path,
            **self._chosen,
            # Nothing leaves this computer, whatever a page says.
            HTTPS_PROXY="http://127.0.0.1:9",
            HTTP_PROXY="http://127.0.0.1:9",
            NO_PROXY="127.0.0.1",
        )
        self.environ["PATH"] = f"{_BIN}:{self.environ['PATH']}"
        self.plugins = Path(self.environ["MINO_HOME"]) / "plugins"
        self.folder = tmp_path / "work"
        self.folder.mkdir()
        self._code = 0

    def _answer(self, received: Any) -> list[Any]:
        """What the page shows, or a greeting; in the dialect of whoever asks."""
        dialect = next((name for end, name in _DIALECTS.items() if received.path.endswith(end)), "chat")
        if self.calls:
            return stream(dialect, self.calls.popleft())
        text, usage = self.answers.popleft() if self.answers else ("Hello.", None)
        return stream(dialect, *re.findall(r"\S*\s*", text), usage=usage)

    def unchoose(self) -> None:
        """Let the configuration say what answers, not the environment."""
        for variable in self._chosen:
            self.environ.pop(variable, None)

    # -- files ---------------------------------------------------------------------------------

    def write(self, block: Block, default: str = "") -> Path:
        """Put a block where it says it belongs; the file."""
        named = block.file or default
        path = Path(named.replace("~", self.environ["HOME"], 1)) if named[0] == "~" else self.folder / named
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
        path.chmod(0o600)
        return path

    # -- python --------------------------------------------------------------------------------

    def python(self, block: Block) -> None:
        """A plugin is loaded by mino and used once; tests are run; anything else is run."""
        if "@hookimpl" in block.text:
            self._plugin(block)
        elif re.search(r"^(def test_|class Test)", block.text, re.MULTILINE):
            path = self.write(block, f"test_block_{block.line}.py")
            self._runs(block, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name)
        else:
            self._runs(block, "-c", block.text)

    def _runs(self, block: Block, *arguments: str) -> None:
        environ = {**self.environ, "PYTHONPATH": str(self.plugins)}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environ, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stdout.decode()}{done.stderr.decode()}"

    def _plugin(self, block: Block) -> None:
        self.write(block, f"~/.mino/plugins/block-{block.line}.py")
        hooks = re.findall(r"^def (mino_\w+)\((.*?)(?=^\S|\Z)", block.text, re.MULTILINE | re.DOTALL)
        assert hooks, f"{block} is not a plugin"
        for hook, body in hooks:
            for offered in re.findall(r'"([\w-]+)":', body) or ["-"]:
                self._use(block, hook, offered)

    def _use(self, block: Block, hook: str, name: str) -> None:
        """Let mino do once what this is for."""
        match hook:
            case "mino_providers":
                self._ask(block, "--provider", name, "--model", "demo-1")
            case "mino_histories":
                self._ask(block, "--history", name)
            case "mino_renderers":
                words = self._ask(block, "--renderer", "plain").casefold().split()
                drawn = self._ask(block, "--renderer", name).casefold()
                assert all(word in drawn for word in words), (str(block), drawn)
            case "mino_commands":
                self._mino(block, "-i", "--quiet", input=f"/{name} some words\n")
            case "mino_subcommands":
                assert self._mino(block, name)
            case "mino_inputs":
                with Terminal(mino("--input", name), self.environ, columns=200, rows=50) as terminal:
                    assert terminal.wait_exit() == 0, block
                    assert "Error" not in terminal.text, terminal.dump()
            case "mino_tools":
                self._call(block, name, "--yes")
            case "mino_approve":
                self._call(block, "count_words")
            case _:
                self._ask(block)

    def _call(self, block: Block, name: str, *flags: str) -> None:
        """A turn in which the model calls a tool, whose result goes back to it."""
        self.calls.append(ToolCall("call_1", name, '{"text": "one two one"}'))
        self._ask(block, *flags)
        (result,) = [said for said in self.server.requests[-1].json["messages"] if said["role"] == "tool"]
        assert "one" in result["content"] and "2" in result["content"], (str(block), result)

    def _ask(self, block: Block, *flags: str) -> str:
        answer = self._mino(block, *flags, "-p", "some words")
        assert answer.strip(), block
        return answer

    def _mino(self, block: Block, *arguments: str, input: str | None = None) -> str:
        done = run(arguments, self.environ, input, cwd=self.folder)
        assert done.code == 0 and "Error" not in done.err and "Warning" not in done.err, (str(block), done)
        return done.out

    # -- toml ----------------------------------------------------------------------------------

    def toml(self, block: Block) -> None:
        """A fragment of pyproject.toml is TOML; a configuration is one in which nothing is wrong."""
        table = tomllib.loads(block.text)
        if "project" in table:
            return
        path = self.write(block, f"block-{block.line}.toml")
        variables = re.findall(r'"env:(\w+)"', block.text)
        done = run(
            ["--config", str(path), "config", "check"],
            {**self.environ, **dict.fromkeys(variables, "sk-example")},
        )
        assert (done.code, "Warning" in done.out) == (0, False), f"{block}\n{done.out}{done.err}"
        if path.name == "config.toml":  # it says itself what answers
            self.unchoose()

    # -- console -------------------------------------------------------------------------------

    def console(self, block: Block, command: str, shown: list[str]) -> None:
        """Run one command on a terminal and compare what it writes with what the page shows, if anything.

        What stands behind a `You>` that is shown is typed there. A command without output must end
        with 0; `$ echo $?` behind it shows another code.
        """
        self.answers.extend(answers(shown))
        seen, self._code = self.play(command, typed(shown))
        self.answers.clear()
        if shown:
            assert same(shown, seen), f"{block}: $ {command}\nshown:\n{_text(shown)}\nseen:\n{_text(seen)}"
        else:
            assert self._code == 0, f"{block}: $ {command}\n{_text(seen)}"

    def play(self, command: str, lines: list[str]) -> tuple[list[str], int]:
        """What a command writes on a terminal where these lines are typed, and its exit code."""
        script = f'(exit {self._code}); ({command}\n)\nprintf "\\n{_ENDED} %s]" $?'
        waiting = deque([*lines, "/exit"])
        with Terminal(["sh", "-c", script], self.environ, columns=200, rows=60, cwd=self.folder) as terminal:
            for prompt in count(1):
                terminal.wait_until(
                    lambda n=prompt: _ENDED in terminal.text or len(_PROMPT.findall(terminal.text)) >= n,
                    what=f"a prompt or the end of {command}",
                )
                if _ENDED in terminal.text or not waiting:
                    break
                terminal.type(waiting.popleft() + "\r")
            terminal.wait_exit()
            said, _, code = terminal.text.rpartition(_ENDED)
        return said.rstrip().splitlines(), int(code.strip(" ]\n"))


def typed(shown: list[str]) -> list[str]:
    """What a person types in what is shown of a session."""
    return [line.removeprefix("You> ") for line in shown if line.startswith("You> ")]


def answers(shown: list[str]) -> list[tuple[str, Usage | None]]:
    """What the model says in what is shown, with the tokens that the line below tells."""
    found: list[tuple[str, Usage | None]] = []
    for answer, counts in re.findall(
        r"^Assistant> (.*?)\n\[tokens: (.*?);", _text(shown), re.MULTILINE | re.DOTALL
    ):
        told = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", counts)}
        usage = Usage(
            input_tokens=told.get("input"),
            output_tokens=told.get("output"),
            total_tokens=told.get("total"),
            cache_read_tokens=told.get("cached"),
        )
        found.append((answer, usage))
    return found


def same(shown: list[str], seen: list[str]) -> bool:
    """Whether they agree. A `…` that is shown stands for any text, on a line of its own for any lines."""
    pattern = "\n".join(re.escape(_steady(line)).replace("…", "[^\n]*") for line in shown)
    pattern = re.sub(
        r"^\[\^\n\]\*(\n|$)", lambda m: "(?:[^\n]*\n)*?" if m[1] else "(?s:.*)", pattern, flags=re.MULTILINE
    )
    return re.fullmatch(pattern, _text([_steady(line) for line in seen])) is not None


def _steady(line: str) -> str:
    line = line.rstrip()
    for varying, steady in _VARYING:
        line = varying.sub(steady, line)
    return line


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
