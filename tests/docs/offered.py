"""The tables of docs/reference/commands.md, from the help that the built-in plugins give of themselves."""

from __future__ import annotations

import inspect
import io
import os
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from doc_pages import ROOT
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.testing import home

PAGE = ROOT / "docs/reference/commands.md"
_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def page() -> str:
    """The page as it stands, with both tables written anew."""
    with TemporaryDirectory() as folder:
        host = Host(load(home(Path(folder)), Flags()), safe=True)
        host.load()
        written = PAGE.read_text("utf-8")
        written = _replaced(written, "## Slash commands", _commands(host))
        return _replaced(written, "## Subcommands", _subcommands(host))


def _replaced(text: str, heading: str, rows: list[str]) -> str:
    """The text with other rows in the first table below a heading."""
    before, found, after = text.partition(f"\n{heading}\n")
    table = re.search(r"(?:^\|.*\n)+", after, re.MULTILINE)
    assert found and table, f"{heading}: there is no table to replace"
    head = table[0].splitlines(keepends=True)[:2]
    return before + found + after[: table.start()] + "".join([*head, *rows]) + after[table.end() :]


def _commands(host: Host) -> list[str]:
    told = {name: inspect.getdoc(offer.value) or "" for name, offer in host.commands().items()}
    return [f"| `/{name}` | {text.splitlines()[0]} |\n" for name, text in sorted(told.items())]


def _subcommands(host: Host) -> list[str]:
    rows = []
    for name in sorted(host.offers("mino_subcommands")):
        told = _help(host, name)
        acts = re.findall(r"^    ([a-z]\S*) {2,}(.+)$", told.partition("\noptions:")[0], re.MULTILINE)
        if acts:
            rows += [_row(f"mino {name} {act}", text, _help(host, name, act)) for act, text in acts]
        else:
            rows.append(_row(f"mino {name}", told.split("\n\n")[1], told))
    return rows


def _row(name: str, text: str, told: str) -> str:
    """A subcommand and what it takes, what it does, its flags."""
    usage = " ".join(told.partition("usage: ")[2].partition("\n\n")[0].split())
    takes = re.sub(r"\[-.*?\](?= |$)|--.*?(?= \[|$)", "", usage.removeprefix(name)).split()
    flags = " ".join(flag for flag in dict.fromkeys(_FLAG.findall(usage)) if flag != "-h")
    shown = f"`{flags}`" if flags else ""
    return f"| `{' '.join([name, *takes])}` | {text[:1].upper()}{text[1:].rstrip('.')} | {shown} |\n"


def _help(host: Host, name: str, *arguments: str) -> str:
    said = io.StringIO()
    with redirect_stdout(said), patch.dict(os.environ, {"COLUMNS": "300"}), suppress(SystemExit):
        host.offers("mino_subcommands")[name].value([*arguments, "--help"], host)
    return said.getvalue()
