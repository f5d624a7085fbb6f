"""`mino init`: a first config.toml, from flags or from answers on a terminal; never a second one."""

from __future__ import annotations

import os
import select
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core import ConfigError, MinoError, UsageError, did_you_mean, say

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
#: What most servers speak.
_USUAL = "openai-chat"


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
        raise UsageError(_there_already(path))
    answers = _from_flags(host, wanted) if any(vars(wanted).values()) else _from_terminal(host)
    if wrong := _wrong(host, answers):
        raise UsageError(f"nothing was written: {wrong}")
    _write(host, path, answers)
    say(f"{path} is written. `mino doctor --online` tries it.")
    preset = host.config.presets.get(answers.provider)
    if not (answers.model or (preset and preset.model) or answers.provider == "local"):
        say(f"It names no model yet: `mino models {answers.provider}` lists them;")
        say('write one of them below [session], as model = "NAME".')
    if missing := _missing_key(host, answers):
        say(f"Its key is not there yet: {missing}")
    return 0


def _there_already(path: Path) -> str:
    return f"{path} is there already, and mino never changes it; edit it, or move it away and begin anew"


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser("mino init", description="Write a first config.toml.")
    parser.add_argument("--provider", metavar="NAME", help="a preset, or a name of your own")
    parser.add_argument(
        "--kind", metavar="KIND", default="", help="what a name of your own speaks: openai-chat, if not said"
    )
    parser.add_argument("--base-url", metavar="URL", default="", help="the address of its server")
    parser.add_argument("--model", metavar="NAME", default="", help="which model, if not the preset's own")
    parser.add_argument("--api-key", metavar="PLACE", default="", help="env:NAME, file:PATH or cmd:COMMAND")
    return parser


def _from_flags(host: Host, wanted: Namespace) -> Answers:
    if not (wanted.provider or "").strip():
        raise UsageError("say which provider is meant: --provider NAME")
    if wanted.api_key and not wanted.api_key.startswith(_PLACES):
        raise UsageError(
            "--api-key takes the place of a key (env:NAME, file:PATH or cmd:COMMAND), never the key:"
            " other users could read it in the list of processes"
        )
    if wanted.api_key and not wanted.api_key.partition(":")[2].strip():
        raise UsageError(f"--api-key {wanted.api_key} names no place")
    given = (wanted.provider, wanted.kind, wanted.base_url, wanted.model, wanted.api_key)
    answers = Answers(*map(str.strip, given))
    is_new = answers.base_url and answers.provider not in host.config.presets
    return replace(answers, kind=_USUAL) if is_new and not answers.kind else answers


def _wrong(host: Host, answers: Answers) -> str:
    """Why no provider can be made of these answers, if so; nothing is said of a key that is not there yet."""
    table = _table(answers)
    if answers.key or answers.literal or _preset_key(host, answers):
        table["api_key"] = "placeholder"
    config = host.config
    own = {answers.provider: config.settings(f"providers.{answers.provider}", table)} if table else {}
    trial = replace(config, providers=own)
    try:
        choice = trial.provider(answers.provider, host.offers("mino_providers"))
        made = host.make("mino_providers", choice.kind, choice.settings)
    except MinoError as error:
        lone = not (answers.kind or answers.base_url or answers.provider in config.presets)
        return f"{error}{'; a server of your own needs --base-url' if lone else ''}"
    if close := getattr(made, "close", None):
        close()
    if answers.kind and "base_url" in choice.settings.asked() and not choice.settings.get("base_url"):
        return f"a server of the kind {choice.kind} needs an address (base_url)"
    return ""


def _preset_key(host: Host, answers: Answers) -> str:
    """The variable that holds the key of a preset, or nothing."""
    preset = host.config.presets.get(answers.provider)
    return (preset.key(host.config.environ) or preset.keys[0]) if preset and preset.keys else ""


def _missing_key(host: Host, answers: Answers) -> str:
    """What says that the key is not where the file looks for it."""
    place = answers.key or (f"env:{variable}" if (variable := _preset_key(host, answers)) else "")
    kind, _, rest = place.partition(":")
    if answers.literal or kind not in ("env", "file"):
        return ""
    if kind == "env":
        return "" if host.config.environ.get(rest.strip(), "").strip() else f"set {rest.strip()}."
    try:
        host.config.settings(f"providers.{answers.provider}", {"api_key": place}).secret("api_key")
    except ConfigError as error:
        return str(error)
    return ""


def _from_terminal(host: Host) -> Answers:
    """Ask a person; UsageError where there is none, or where they leave."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("mino init asks its questions on a terminal; elsewhere say --provider NAME")
    try:
        return _interview(host)
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


def _interview(host: Host) -> Answers:
    presets, kinds = host.config.presets, sorted(host.offers("mino_providers"))
    say(f"Known servers: {', '.join(presets)}. `local` is a tiny model on this computer.")
    say("Another name is your own, for a server that you say the address of.")
    suggested = host.config.provider().name
    name = _ask(f"Provider [{suggested}]") or suggested
    preset = presets.get(name)
    answers = Answers(name)
    if preset is None and name not in kinds:
        answers = _own_server(host, name, [kind for kind in kinds if kind != "local"])
    elif wrong := _wrong(host, answers):
        raise UsageError(f"nothing was written: {wrong}")
    default = preset.model if preset else None
    if name != "local":
        answers = replace(answers, model=_ask(f"Model [{default or 'none yet'}]"))
    if name == "local" or (preset and not preset.keys):
        return answers
    from_variable = f"from {_preset_key(host, answers)}" if preset else "none"
    return replace(answers, literal=_ask_hidden(f"Key, not shown [{from_variable}]"))


def _own_server(host: Host, name: str, kinds: list[str]) -> Answers:
    """The kind and the address of a server without a preset, asked until they can be right."""
    usual = _USUAL if _USUAL in kinds else kinds[0]
    say(f"{name} is none of them. Kinds: {', '.join(kinds)}; most servers speak {_USUAL}.")
    while (kind := _ask(f"Kind [{usual}]") or usual) not in kinds:
        say(f"There is no kind {kind!r}{did_you_mean(kind, kinds)}")
    while True:
        answers = Answers(name, kind, _ask("Address, such as https://llm.example.com/v1"))
        if not (wrong := _wrong(host, answers)):
            return answers
        say(wrong)


def _write(host: Host, path: Path, answers: Answers) -> None:
    """Write the file, 0600, only if there is none."""
    import tomli_w

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = answers.key
    if answers.literal:
        key = f"file:{_keep(host.config.home, answers)}"
    tables: dict[str, Any] = {"session": {"provider": answers.provider}}
    if own := _table(answers) | ({"api_key": key} if key else {}):
        tables["providers"] = {answers.provider: own}
    _create(path, _HEADER + tomli_w.dumps(tables))


def _table(answers: Answers) -> dict[str, Any]:
    """What was said about the provider itself."""
    said = {"kind": answers.kind, "base_url": answers.base_url, "model": answers.model}
    return {name: value for name, value in said.items() if value}


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
        raise UsageError(_there_already(path)) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {os.strerror(error.errno or 0)}") from None
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
