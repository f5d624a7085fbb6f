"""The two commands of a newcomer, from a clean clone with an empty home."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from mino_core.testing import Terminal, home

pytestmark = pytest.mark.real

REPOSITORY = Path(__file__).parents[2]
QUESTION = "Explain in one sentence what an HTTP request is."
#: Seconds that the set-up may take.
SETTING_UP = 300


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of what is committed here."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("this source tree is no git repository")
    folder = tmp_path_factory.mktemp("clone") / "mino"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    """An empty home; how pip finds its index stays as it is."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**home(tmp_path_factory.mktemp("newcomer")), **settings}


def test_make_run_opens_a_chat_that_answers(engine, clone, environ):
    with Terminal(["make", "run"], env=environ, cwd=clone, columns=140, rows=40) as terminal:
        terminal.wait_for("You>", timeout=SETTING_UP)
        terminal.type(QUESTION + "\r")
        terminal.wait_for("tokens", timeout=60)
        terminal.type("Write a very long story about a ship.\r")
        terminal.wait_for("Assistant>", count=2, timeout=60)
        terminal.type("\x03")
        terminal.wait_for("You>", count=3)
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0


def test_make_run_sets_up_once(engine, clone, environ):
    """After the test above: without an index, so that nothing can be fetched."""
    cut_off = {**environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    done = subprocess.run(
        ["make", "run", "ARGS=--version"], env=cut_off, cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Setting up" not in done.stdout
    assert "there already" in done.stdout


def test_a_machine_without_a_python_gets_one_sentence(clone, tmp_path):
    for name in ("make", "sh", "rm", "touch", "echo"):
        (tmp_path / name).symlink_to(shutil.which(name))
    subprocess.run(["make", "clean"], cwd=clone, check=True, capture_output=True)
    done = subprocess.run(
        ["make", "run"], env={"PATH": str(tmp_path)}, cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "mino needs Python 3.11 or newer" in done.stderr
    assert not (clone / ".venv").exists()
