"""`mino plugins new` writes packages that pass their own tests, keep our style, and load in mino."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from mino_core.testing import home, run

from mino_plugins.new import KINDS

ROOT = Path(__file__).parents[2]
HOOKS = {
    "provider": "mino_providers",
    "command": "mino_commands",
    "history": "mino_histories",
    "renderer": "mino_renderers",
    "input": "mino_inputs",
    "tool": "mino_tools",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A new package of every kind, and the run of its own tests, all of them begun at once."""
    begun = {}
    for kind in KINDS:
        place = tmp_path_factory.mktemp(kind)
        environ = home(place)
        made = run(["plugins", "new", "word-mill", "--kind", kind], environ, cwd=place)
        assert (made.code, made.err) == (0, "")
        folder = place / "mino-word-mill"
        argv = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
        child = subprocess.Popen(
            argv, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        begun[kind] = folder, environ, child
    yield begun
    for _, _, child in begun.values():
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_passes_its_own_tests_at_once(kind, packages):
    _, _, child = packages[kind]
    said, _ = child.communicate()
    assert child.returncode == 0, said
    assert " passed" in said
    assert "skipped" not in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_loads_in_mino_and_offers_what_it_is_for(kind, packages):
    folder, environ, _ = packages[kind]
    module = str(folder / "mino_word_mill" / "__init__.py")
    checked = run(["-e", module, "plugins", "check"], environ)
    assert checked.code == 0, checked
    rows = json.loads(run(["-e", module, "plugins", "list", "--json"], environ).out)["plugins"]
    (ours,) = [row for row in rows if row["source"] == "file"]
    assert ours["offers"][HOOKS[kind]] == ["word_mill" if kind == "tool" else "word-mill"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_in_good_form(kind, packages):
    folder, _, _ = packages[kind]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--line-length", "110", "--no-cache", "."]
    linted = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("name", ["none", "log", "text", "canvas"])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"command", "tool"}))
def test_whatever_the_name_the_package_hides_nothing_that_it_uses(kind, name, tmp_path):
    """A class called Log beside the one of the template, or None, would not even load."""
    run(["plugins", "new", name, "--kind", kind, "--into", str(tmp_path)], home(tmp_path))
    folder = tmp_path / f"mino-{name}"
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        names += [
            alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
        ]
        assert len(names) == len(set(names)), path
        assert not {"None", "True", "Import"} & set(names)


def test_every_kind_of_thing_that_a_plugin_makes_has_a_template():
    assert set(KINDS) == set(HOOKS)


def test_the_package_is_declared_as_mino_finds_it(tmp_path):
    run(["plugins", "new", "mino-word-mill", "--kind", "tool", "--into", str(tmp_path)], home(tmp_path))
    project = tomllib.loads((tmp_path / "mino-word-mill/pyproject.toml").read_text())["project"]
    assert project["name"] == "mino-word-mill"
    assert project["entry-points"]["mino"] == {"word-mill": "mino_word_mill"}
    assert project["dependencies"] == ["mino-shell>=0.1.0"]
    readme = (tmp_path / "mino-word-mill/README.md").read_text()
    assert "mino plugins install mino-word-mill" in readme
    assert "$$" not in readme


def test_a_dry_run_writes_nothing_and_says_what_it_would(tmp_path):
    argv = ["plugins", "new", "mill", "--kind", "command", "--into", str(tmp_path), "--dry-run", "--json"]
    told = json.loads(run(argv, home(tmp_path)).out)
    assert told["files"][:2] == ["pyproject.toml", "README.md"]
    assert told["files"][2:] == ["mino_mill/__init__.py", "tests/test_mino_mill.py"]
    assert told["written"] is False
    assert not (tmp_path / "mino-mill").exists()


def test_a_place_that_takes_no_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "mino-mill").symlink_to("nowhere")
    for into, words in (
        ("file", "file/mino-mill cannot be written: Not a dir"),
        (".", "mino-mill is there already"),
    ):
        argv = ["plugins", "new", "mill", "--kind", "tool", "--json", "--into", str(tmp_path / into)]
        done = run(argv, home(tmp_path))
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert "plugins disable" not in done.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("render", "a built-in plugin is called 'render'"),
        ("class", "'class' means something in Python"),
        ("len", "'len' means something in Python"),
        ("call", "or to the package itself"),
        ("tests", "means something in Python, to pytest"),
        ("Mill", "'Mill' is no name for a plugin"),
        ("../mill", "'../mill' is no name for a plugin"),
        ("-mill", ""),
        ("taken", "is there already"),
    ],
)
def test_a_name_that_cannot_be_is_one_sentence(tmp_path, name, words):
    (tmp_path / "mino-taken").mkdir()
    done = run(["plugins", "new", name, "--kind", "tool", "--into", str(tmp_path)], home(tmp_path))
    assert done.code == 2
    assert words in done.err
