"""Three little distributions of strangers, loaded in this process from where their sources are.

The same ones are built as wheels and installed by the tests in `tests/real`.
"""

import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from mino_core import Request, ToolCall, Verdict, interrupts
from shelf import Shelf, lines, row

THIRD_PARTY = Path(__file__).parents[1] / "third_party"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    return Shelf(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


def install(shelf, *names):
    """As an editable install does it: metadata on the path, and the sources where they are."""
    for name in names:
        project = tomllib.loads((THIRD_PARTY / name / "pyproject.toml").read_text("utf-8"))["project"]
        shelf.distribution(project["name"], project["entry-points"]["mino"], project["version"])
        shelf.monkeypatch.setattr(sys, "path", [str(THIRD_PARTY / name), *sys.path])


def test_the_good_one_offers_something_of_every_kind(shelf):
    install(shelf, "mino-parrot")
    host = shelf.host()
    host.survey()
    assert lines(host) == []
    assert row(host, "parrot").offers == {
        "mino_providers": ("parrot",),
        "mino_commands": ("squawk",),
        "mino_histories": ("nest",),
        "mino_renderers": ("perch",),
        "mino_inputs": ("beak",),
        "mino_tools": ("count",),
        "mino_subcommands": ("feathers",),
    }
    assert host.request(Request("m", "be kind", ()), None).instructions == "be kind\nparrot was here"
    session = SimpleNamespace(allowed=set())
    assert host.approve(ToolCall("1", "count", "{}"), session) == Verdict(allowed=True)
    assert len(host.observers(None)) == 1


#: What is said of each bad plugin, in any order; each is one line.
BAD = {
    "bad-api": ["it is written for mino's API 99, and this mino has API 1"],
    "bad-attribute": ["AttributeError: module 'mino_bad.results' has no attribute 'nothing'"],
    "bad-exit": ["tried to end the program (SystemExit: 7)"],
    "bad-hang": ["took longer than 0.2 s"],
    "bad-import": ["ModuleNotFoundError: No module named 'nowhere_to_be_found' (imports.py:3)"],
    "bad-result": [
        "mino_commands: returned a value of type list",
        "mino_histories: RuntimeError: histories are not my thing (results.py:18)",
        "mino_tools: 'two words' cannot be the name of a tool",
        "mino_tools: the tool 'not-callable' is not callable but int",
        "the parameter 'value' of the tool 'no-annotations' has no annotation",
    ],
    "bad-signature": ["'weather'"],
    "bad-spelling": ["there is no hook mino_comands; did you mean mino_commands?"],
    "bad-syntax": ["SyntaxError: 'return' outside function"],
    "bad-wrapper": ["mino_commands is a hook wrapper"],
    "render": ["a built-in plugin has that name"],
    "twin": ["AssertionError"],
}


def test_each_bad_one_costs_its_own_lines_and_nobody_elses(shelf):
    install(shelf, "mino-parrot", "mino-bad")
    host = shelf.host(limit=0.2)
    host.survey()
    host.tools()
    told = {}
    for fault in host.faults:
        assert "\n" not in fault.text
        assert f"plugin {fault.plugin!r} (mino-bad 0.1): " in fault.text
        told.setdefault(fault.plugin, []).append(fault.text)
    for plugin, expected in BAD.items():
        assert len(told[plugin]) == len(expected), told[plugin]
        for words in expected:
            assert any(words in line for line in told[plugin]), (words, told[plugin])
    assert set(told) == set(BAD)
    assert {"squawk", "well-spelt", "help"} <= set(host.commands())
    assert "from-bad-signature" not in host.commands()
    assert row(host, "parrot").state == "loaded"


@pytest.mark.parametrize(
    "order", [("mino-parrot", "mino-bad", "mino-twin"), ("mino-twin", "mino-bad", "mino-parrot")]
)
def test_clashes_are_settled_alike_in_whatever_order_they_were_installed(shelf, order):
    install(shelf, *order)
    host = shelf.host(limit=0.2)
    commands = host.commands()
    assert commands["exit"].plugin == "commands"
    assert "squawk" not in commands
    assert {"parrot:squawk", "rival:squawk", "rival:exit", "only-here"} <= set(commands)
    assert {plugin.state for plugin in host.plugins if plugin.name == "twin"} == {"skipped"}
    (clash,) = [line for line in lines(host) if "'twin'" in line]
    assert "mino-bad 0.1 and mino-twin 1.0" in clash
    (offer,) = [line for line in lines(host) if "'squawk'" in line]
    assert "both 'parrot' and 'rival'" in offer
    (ours,) = [line for line in lines(host) if "'exit'" in line]
    assert "'commands' keeps it; use 'rival:exit'" in ours


def test_without_the_strangers_all_is_as_before(shelf):
    install(shelf, "mino-parrot", "mino-bad", "mino-twin")
    host = shelf.host(safe=True)
    host.survey()
    assert lines(host) == []
    assert "squawk" not in host.commands()
