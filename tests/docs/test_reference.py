"""The reference pages name what there is, all of it and nothing else; every link leads somewhere."""

from __future__ import annotations

import inspect
import re

import public
import pytest
from doc_pages import PAGES, ROOT, anchors, links, name, table
from mino_core.config import Flags, load
from mino_core.plugins import Host
from mino_core.testing import home, run

COMMAND_LINE = ROOT / "docs/reference/command-line.md"
COMMANDS = ROOT / "docs/reference/commands.md"
README = ROOT / "README.md"
_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


@pytest.fixture
def host(tmp_path):
    """A host with the built-in plugins."""
    opened = Host(load(home(tmp_path), Flags()), safe=True)
    opened.load()
    return opened


def flags(told):
    """The flags in the text of a help."""
    lines = re.findall(r"^  (-.*?)(?:  |$)", told, re.MULTILINE)
    return {flag for line in lines for flag in _FLAG.findall(line)}


def test_every_flag_is_on_the_page_and_no_other(tmp_path):
    shown = {flag for row in table(COMMAND_LINE, "Flags") for flag in _FLAG.findall(row)}
    assert shown == flags(run(["--help"], home(tmp_path)).out)


def test_the_exit_codes_are_those_of_the_help(tmp_path):
    said = run(["--help"], home(tmp_path)).out.partition("exit codes: ")[2].partition("\nsubcommands")[0]
    codes = dict(re.findall(r"(\d+) (\w+)", " ".join(said.split())))
    rows = table(COMMAND_LINE, "Exit codes")
    assert list(rows) == list(codes)
    for code, word in codes.items():
        assert word in rows[code], code


def test_the_readme_tells_every_exit_code():
    told = README.read_text("utf-8").partition("## How an answer ends")[2].partition("\n## ")[0]
    for code in table(COMMAND_LINE, "Exit codes"):
        assert re.search(rf"\b{code}\b", told), code


def test_the_slash_commands_are_those_of_the_built_ins_with_their_help(host):
    offered = {f"/{name}": offer.value for name, offer in host.commands().items()}
    rows = table(COMMANDS, "Slash commands")
    assert list(rows) == sorted(offered)
    for command, act in offered.items():
        assert rows[command].rstrip(" |") == inspect.getdoc(act).partition("\n")[0]


def acts(told):
    """The actions of a subcommand, as the text of its help lists them."""
    listed = told.partition("positional arguments:")[2].partition("options:")[0]
    return re.findall(r"^    (\w+)(?:  |$)", listed, re.MULTILINE)


def test_the_subcommands_are_those_of_the_built_ins_with_their_flags(host, capsys):
    def told_by(subcommand, *arguments):
        assert offered[subcommand].value([*arguments, "--help"], host) == 0
        return capsys.readouterr().out

    offered = host.offers("mino_subcommands")
    rows = table(COMMANDS, "Subcommands")
    expected = {}
    for subcommand in offered:
        told = told_by(subcommand)
        for act in acts(told):
            expected[f"mino {subcommand} {act}"] = flags(told_by(subcommand, act))
        if not acts(told):
            expected[f"mino {subcommand}"] = flags(told)
    assert sorted(rows) == sorted(expected)
    for row, cells in rows.items():
        assert set(_FLAG.findall(cells)) == expected[row] - {"-h", "--help"}, row


def test_the_page_of_public_names_says_what_the_docstrings_say():
    assert public.PAGE.read_text("utf-8") == public.page(), "run: python tests/docs/public.py"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page):
    for link in links(page):
        assert not link.startswith(("http:", "https:")), link
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), link


def test_every_page_can_be_reached_from_the_index():
    index = ROOT / "docs/index.md"
    reached = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    assert set(ROOT.glob("docs/**/*.md")) - {index} - reached == set()


def test_agents_md_is_short():
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) <= 60
