"""The history in SQLite as its users have it: a wheel, installed beside the wheel of mino."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mino_core.testing import home
from test_real_plugins import THIRD_PARTY, Place

pytestmark = pytest.mark.real

SOURCE = Path(__file__).parents[2] / "examples/mino-history-sqlite"
CONFIG = """
[session]
provider = "parrot"
model = "grey"
[providers.parrot]
kind = "parrot"
[history]
backend = "sqlite"
"""


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """A place where mino, the parrot that answers, and the history are installed."""
    folder = tmp_path_factory.mktemp("sqlite")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    sources = [str(SOURCE), str(THIRD_PARTY / "mino-parrot")]
    subprocess.run([*pip, "--wheel-dir", str(folder), *sources], check=True)
    made = Place(folder / "venv")
    made.pip("install", wheel)
    made.pip("install", "--no-deps", *folder.glob("*.whl"))
    return made


def test_conversations_are_kept_found_and_continued(place, tmp_path):
    environ = home(tmp_path, CONFIG)
    assert place.mino(environ, "-p", "里面有一个漢字").stderr.count("Warning") == 0
    place.mino(environ, "-c", "-p", "and more")
    (listed,) = json.loads(place.mino(environ, "history", "list", "--json").stdout)
    assert listed["first"] == "里面有一个漢字"
    for words in ("字", "漢字", "有一个漢", "AND MORE"):
        assert place.mino(environ, "history", "search", words).stdout.startswith(listed["id"]), words
    exported = json.loads(place.mino(environ, "history", "export", "--json", listed["id"]).stdout)
    assert [said["content"] for said in exported["messages"][::2]] == ["里面有一个漢字", "and more"]
    assert not (Path(environ["MINO_HOME"]) / "history").exists()
    place.mino(environ, "history", "rm", listed["id"])
    assert place.mino(environ, "history", "list").stdout == ""


def test_its_settings_are_checked(place, tmp_path):
    environ = home(tmp_path, CONFIG + 'pth = "x"\n')
    assert "history.pth" in place.mino(environ, "config", "check", code=2).stdout


def test_what_jsonl_kept_is_not_mixed_with_it(place, tmp_path):
    environ = home(tmp_path, CONFIG)
    place.mino(environ, "--history", "jsonl", "-p", "in a file")
    place.mino(environ, "-p", "in a table")
    assert "in a table" in place.mino(environ, "history", "list").stdout
    assert "in a file" not in place.mino(environ, "history", "list").stdout
