"""The reference pages name what there is, all of it and nothing else; every link leads somewhere."""

from __future__ import annotations

import re

import offered
import public
import pytest
from doc_pages import PAGES, ROOT, anchors, links, name, table
from mino_core.testing import home, run

COMMAND_LINE = ROOT / "docs/reference/command-line.md"
README = ROOT / "README.md"
_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


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


@pytest.mark.parametrize("source", [public, offered], ids=["python.md", "commands.md"])
def test_what_is_written_from_the_code_is_what_the_code_says(source):
    assert source.PAGE.read_text("utf-8") == source.page(), "run: python tests/docs/write.py"


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
