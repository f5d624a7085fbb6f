"""`mino init`: a first config.toml, from flags or from answers on a terminal; never a second one."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core import ConfigError, UsageError, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from mino_core import Host

_HEADER = """\
# The configuration of mino. Every further key, with its default: `mino config show`.
# mino never changes this file; `mino config check` looks for mistakes in it.

"""
#: Seconds between two looks for a signal while a person is asked.
_LOOK_AGAIN = 0.2
_PLACES = ("env:", "file:", "cmd:")


@dataclass(frozen=True, slots=True)
class Answers:
    """What the file will say. `key` is a place, or blank; `literal` is a key to keep in a file of its own."""

    provider: str
    kind: str = ""
    base_url: str = ""
    model: str = ""
    key: str = ""
    literal: str = ""


def main(argv: list[str], host: Host) -> int:
    """Run `mino init ARGV`; the exit code."""
    wanted = _parser().parse_args(argv)
    path = host.config.file.path
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already; edit it, or move it away")
    answers = _from_flags(wanted) if wanted.provider else _from_terminal(host)
    _write(host, path, answers)
    say(f"{path} is written. `mino doctor` tries it.")
    if not host.config.presets.get(answers.provider, answers).model and answers.provider != "local":
        say(f"It names no model yet: `mino models {answers.provider}` lists them.")
    return 0


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser("mino init", description="Write a first config.toml.")
    parser.add_argument("--provider", metavar="NAME", help="a preset, or a name of your own")
    parser.add_argument("--kind", metavar="KIND", default="", help="for a name of your own: openai-chat, …")
    parser.add_argument("--base-url", metavar="URL", default="")
    parser.add_argument("--model", metavar="NAME", default="")
    parser.add_argument("--api-key", metavar="PLACE", default="", help="env:NAME, file:PATH or cmd:COMMAND")
    return parser


def _from_flags(wanted: Namespace) -> Answers:
    if wanted.api_key and not wanted.api_key.startswith(_PLACES):
        raise UsageError(
            "--api-key takes the place of a key (env:NAME, file:PATH or cmd:COMMAND), never the key:"
            " other users could read it in the list of processes"
        )
    return Answers(wanted.provider, wanted.kind, wanted.base_url, wanted.model, wanted.api_key)


def _from_terminal(host: Host) -> Answers:
    """Ask a person; UsageError where there is none, or where they leave."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("mino init asks its questions on a terminal; elsewhere say --provider NAME")
    try:
        return _interview(host, _ask, _ask_hidden)
    except EOFError:
        raise UsageError("nothing was written") from None


def _ask(question: str) -> str:
    """A line from the terminal; EOFError at the end of input."""
    sys.stdout.write(f"{question}: ")
    sys.stdout.flush()
    # A signal that comes just before a blocking read waits until that read returns: so look again.
    while not select.select([sys.stdin], [], [], _LOOK_AGAIN)[0]:
        pass
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def _ask_hidden(question: str) -> str:
    """The same, without showing what is typed."""
    import termios

    before = termios.tcgetattr(sys.stdin)
    silent = termios.tcgetattr(sys.stdin)
    silent[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
        return _ask(question)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        sys.stdout.write("\n")


def _interview(host: Host, ask: Callable[[str], str], ask_hidden: Callable[[str], str]) -> Answers:
    presets = host.config.presets
    say(f"Known servers: {', '.join(presets)}. `local` is a tiny model on this computer.")
    suggested = host.config.provider().name
    name = ask(f"Provider [{suggested}]") or suggested
    preset = presets.get(name)
    kind = url = ""
    if preset is None and name not in host.offers("mino_providers"):
        kind = ask("Kind [openai-chat]") or "openai-chat"
        url = ask("Address, such as https://llm.example.com/v1")
    default = preset.model if preset else None
    model = ask(f"Model [{default or 'none yet'}]") if name != "local" else ""
    if name == "local" or (preset and not preset.keys):
        return Answers(name, kind, url, model)
    from_variable = f"from {preset.keys[0]}" if preset else "none"
    literal = ask_hidden(f"Key, not shown [{from_variable}]")
    return Answers(name, kind, url, model, literal=literal)


def _write(host: Host, path: Path, answers: Answers) -> None:
    """Write the file, 0600, only if there is none."""
    import tomli_w

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = answers.key
    if answers.literal:
        key = f"file:{_keep(host.config.home, answers)}"
    said = {"kind": answers.kind, "base_url": answers.base_url, "model": answers.model, "api_key": key}
    tables: dict[str, Any] = {"session": {"provider": answers.provider}}
    if own := {name: value for name, value in said.items() if value}:
        tables["providers"] = {answers.provider: own}
    _create(path, _HEADER + tomli_w.dumps(tables))


def _keep(home: Path, answers: Answers) -> Path:
    """Keep a key in a file of its own; the result is relative to MINO_HOME."""
    folder = home / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = "".join(char if char.isalnum() or char in "-_" else "_" for char in answers.provider)
    _create(folder / name, answers.literal + "\n")
    return Path("keys") / name


def _create(path: Path, text: str) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already; edit it, or move it away") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {os.strerror(error.errno or 0)}") from None
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
