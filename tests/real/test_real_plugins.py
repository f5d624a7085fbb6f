"""Distributions of strangers, built as wheels and installed beside the wheel of mino."""

import json
import re
from pathlib import Path

import pytest
from mino_core.testing import home
from places import Place, wheels

pytestmark = pytest.mark.real

THIRD_PARTY = Path(__file__).parents[1] / "third_party"
CONFIG = """
[session]
provider = "parrot"
model = "grey"
[providers.parrot]
kind = "parrot"
[plugins]
limit = 0.5
"""


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """The wheels of strangers: one good, one bad in every way, one that wants the same names."""
    return wheels(tmp_path_factory.mktemp("third-party"), *sorted(THIRD_PARTY.glob("mino-*")))


@pytest.fixture(scope="module")
def crowded(wheel, strangers, tmp_path_factory):
    """A place where the good one, the bad ones and the rival are installed."""
    place = Place(tmp_path_factory.mktemp("crowded") / "venv")
    place.pip("install", wheel)
    place.pip("install", "--no-deps", *strangers)
    return place


@pytest.fixture
def environ(tmp_path):
    return home(tmp_path, CONFIG)


ANSWER = "hello there [parrot was here]"


def test_every_command_runs_among_broken_plugins(crowded, environ):
    assert crowded.mino(environ, "--version").stdout.startswith("mino ")
    assert "usage: mino" in crowded.mino(environ, "--help").stdout
    assert crowded.mino(environ, "plugins", "list").stdout


def test_an_answer_in_a_pipe_is_the_answer_alone(crowded, environ):
    done = crowded.mino(environ, "-p", "hello there")
    assert done.stdout == ANSWER
    for printed in ("PRINTED AT IMPORT", "PRINTED AT AN EVENT"):
        assert printed in done.stderr


def test_each_broken_plugin_has_one_line_with_its_distribution_and_a_cure(crowded, environ):
    lines = crowded.mino(environ, "-p", "hello there").stderr.splitlines()
    for plugin, words in {
        "bad-api": "API 99",
        "bad-attribute": "AttributeError",
        "bad-exit": "SystemExit: 7",
        "bad-hang": "took longer than 0.5 s",
        "bad-import": "No module named 'nowhere_to_be_found'",
        "bad-observer": "ValueError: cannot stand",
        "bad-request": "returned a value of type str, not a Request",
        "bad-signature": "weather",
        "bad-spelling": "did you mean mino_commands?",
        "bad-syntax": "SyntaxError",
        "bad-wrapper": "hook wrapper",
    }.items():
        (line,) = [line for line in lines if f"plugin {plugin!r}" in line]
        assert "mino-bad 0.1" in line
        assert words in line
        assert line.endswith(f"mino plugins disable {plugin}")
    (twin,) = [line for line in lines if "plugin 'twin'" in line]
    assert "mino-bad 0.1 and mino-twin 1.0" in twin
    (thief,) = [line for line in lines if "plugin 'render'" in line]
    assert "mino plugins disable mino-bad" in thief


def test_the_list_says_what_became_of_each(crowded, environ):
    listed = json.loads(crowded.mino(environ, "plugins", "list", "--json").stdout)
    rows = listed["plugins"] if isinstance(listed, dict) else listed
    states = {(row["name"], row["distribution"]): row["state"] for row in rows}
    assert states["parrot", "mino-parrot"] == states["render", "mino-shell"] == "loaded"
    assert states["bad-import", "mino-bad"] == "failed"
    assert states["twin", "mino-bad"] == states["twin", "mino-twin"] == "skipped"


def test_a_plugin_for_another_mino_is_skipped_with_both_versions(crowded, environ):
    (line,) = [
        line for line in crowded.mino(environ, "-p", "hello").stderr.splitlines() if "plugin 'late'" in line
    ]
    version = crowded.mino(environ, "--version").stdout.split()[1]
    assert f"(mino-late 9.0): not loaded: it is written for mino >=99, and this is mino {version}" in line


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--provider", "gasping", "-p", "hello"), 3, "RuntimeError: out of breath"),
        (("--provider", "leaving", "-p", "hello"), 3, "SystemExit"),
        (("--renderer", "fading", "-p", "hello"), 0, "out of ink"),
        (("--history", "leaky", "-p", "hello"), 0, "the drawer is stuck"),
        (("--history", "leaky", "history", "list"), 2, "the list has a hole"),
        (("--provider", "closed", "-p", "hello"), 2, "the factory is closed"),
        (("--renderer", "blind", "-p", "hello"), 2, "which has no show()"),
        (("crash",), 2, "it crashed"),
    ],
)
def test_what_breaks_only_when_it_is_used_is_one_sentence(crowded, tmp_path, arguments, code, words):
    disabled = [f"bad-{name}" for name in ("request", "approve", "observer", "print", "hang")]
    environ = home(tmp_path, CONFIG + f"disabled = {json.dumps([*disabled, 'mino-twin'])}\n")
    done = crowded.mino(environ, "--model", "grey", *arguments, code=code)
    assert words in done.stderr
    if code == 0:
        assert done.stdout.startswith("hello")


def test_safe_leaves_the_built_ins(crowded, tmp_path):
    environ = home(tmp_path)
    done = crowded.mino(environ, "--safe", "plugins", "list")
    assert "plugin '" not in done.stderr
    assert "PRINTED" not in done.stderr


def test_disabling_the_distribution_ends_the_lines(crowded, tmp_path):
    environ = home(tmp_path, CONFIG + 'disabled = ["mino-bad", "mino-late", "mino-twin"]\n')
    done = crowded.mino(environ, "-p", "hello there")
    assert done.stdout == ANSWER
    assert "plugin '" not in done.stderr
    assert "PRINTED" not in done.stderr


def test_renderer_history_and_tools_of_a_stranger_work(crowded, tmp_path):
    environ = home(tmp_path, CONFIG + 'disabled = ["mino-bad", "mino-late", "mino-twin"]\n')
    done = crowded.mino(environ, "--renderer", "perch", "--history", "nest", "-p", "hello there")
    assert done.stdout == ">hello >there >[parrot was here]\n"
    assert crowded.mino(environ, "-p", "count this").stdout.startswith('{"one": 1, "two": 2}')


def test_the_package_of_the_tutorial_is_built_and_taken_up(crowded, environ, tmp_path):
    page = (Path(__file__).parents[2] / "docs/tutorial/first-plugin.md").read_text("utf-8")
    folder = tmp_path / "mino-words"
    folder.mkdir()
    project = re.search(r"```toml\n(# mino-words/pyproject.toml\n.*?)```", page, re.DOTALL)[1]
    (folder / "pyproject.toml").write_text(project)
    module = re.search(r"```python\n# ~/.mino/plugins/words.py\n(.*?)```", page, re.DOTALL)[1]
    (folder / "mino_words.py").write_text(module)
    crowded.pip("install", "--no-deps", folder)
    rows = json.loads(crowded.mino(environ, "plugins", "list", "--json").stdout)["plugins"]
    (ours,) = [row for row in rows if row["name"] == "words"]
    assert (ours["state"], ours["offers"]["mino_commands"]) == ("loaded", ["words"])
    crowded.pip("uninstall", "--yes", "mino-words")


def test_a_plugin_that_was_removed_is_missed_in_one_sentence(wheel, environ, tmp_path):
    place = Place(tmp_path / "venv")
    place.pip("install", wheel)
    place.pip("install", "--no-deps", "-e", THIRD_PARTY / "mino-parrot")
    assert place.mino(environ, "-p", "hello there").stdout == ANSWER
    place.pip("uninstall", "--yes", "mino-parrot")
    done = place.mino(environ, "-p", "hello there", code=2)
    assert "parrot" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hello there" in place.mino(environ, "history", "list").stdout
