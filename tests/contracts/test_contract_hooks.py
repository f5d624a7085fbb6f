"""The page about hooks says what the hookspecs say, its examples load, and every hook has a test."""

import inspect
import re
import sys
from pathlib import Path

import pytest
from mino_core import hooks, interrupts
from mino_core.plugins import loading

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "core"))
from shelf import Shelf, lines  # noqa: E402 (it lives beside the tests of the core)

PAGE = (ROOT / "docs" / "reference" / "hooks.md").read_text("utf-8")
NAMES = loading.names()


def section(hook):
    """What the page says below the heading of one hook."""
    found = re.search(rf"^### `{hook}\(.*?$\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/reference/hooks.md has no heading for {hook}"
    return found[1]


def test_there_are_ten_hooks_and_all_have_their_prefix():
    assert len(NAMES) == 10
    assert all(name.startswith("mino_") for name in NAMES)


@pytest.mark.parametrize("hook", NAMES)
def test_every_hook_is_a_heading_with_its_exact_signature(hook):
    signature = str(inspect.signature(getattr(hooks, hook))).replace("'", "")
    assert f"\n### `{hook}{signature}`\n" in PAGE


@pytest.mark.parametrize("hook", NAMES)
def test_the_page_begins_with_the_words_of_the_docstring(hook):
    said = " ".join(section(hook).split())
    assert " ".join(inspect.getdoc(getattr(hooks, hook)).split()).rstrip(".") in said


def test_the_page_names_no_hook_that_is_not_there():
    assert set(re.findall(r"^### `(\w+)", PAGE, re.MULTILINE)) == set(NAMES)


@pytest.mark.parametrize("hook", NAMES)
def test_every_example_loads_and_offers_what_it_says(hook, tmp_path, monkeypatch):
    (code,) = re.findall(r"^```python\n(.*?)^```", section(hook), re.MULTILINE | re.DOTALL)
    shelf = Shelf(tmp_path, monkeypatch)
    shelf.file("example", "").write_text(code)
    with interrupts.installed():
        host = shelf.host()
        host.survey()
        tools = host.tools()
    assert lines(host) == []
    (example,) = [plugin for plugin in host.plugins if plugin.name == "example"]
    assert hook in code
    if hook in example.offers:
        assert example.offers[hook]
    assert "count_words" in tools or hook != "mino_tools"


@pytest.mark.parametrize("hook", NAMES)
def test_every_hook_has_a_test(hook):
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "core").glob("test_plugins*.py"))
    assert re.search(rf"def {hook}\(|\"{hook}\"", tests)


@pytest.mark.parametrize("hook", NAMES)
def test_settings_is_the_last_argument_of_every_hook(hook):
    assert list(inspect.signature(getattr(hooks, hook)).parameters)[-1] == "settings"
