"""What the pages are run with notices what is wrong in them."""

from __future__ import annotations

import pytest
from doc_pages import Block, blocks
from doc_world import World, same
from mino_core.testing import Server


@pytest.fixture
def world(tmp_path):
    with Server() as server:
        yield World(tmp_path, server)


def block(language, text):
    return Block("page.md", 1, language, text)


@pytest.mark.parametrize(
    ("shown", "seen", "agree"),
    [
        (["one", "two"], ["one", "two"], True),
        (["one"], ["one", "two"], False),
        (["one", "two"], ["one"], False),
        (["a … c"], ["a b c"], True),
        (["a … c"], ["a b d"], False),
        (["…", "two"], ["one", "two"], True),
        (["…", "two"], ["two"], True),
        (["one", "…"], ["one", "two", "three"], True),
        (["one", "…", "three"], ["one", "two", "three"], True),
        (["one", "…", "four"], ["one", "two", "three"], False),
        (["first token 0.41 s"], ["first token 12.00 s"], True),
        (["a.c (b)*"], ["a.c (b)*"], True),
        (["a.c"], ["abc"], False),
    ],
)
def test_what_is_shown_is_compared_with_what_is_seen(shown, seen, agree):
    assert same(shown, seen) is agree


@pytest.mark.parametrize(
    "session",
    [
        "$ echo one\ntwo\n",
        "$ exit 3\n",
        "$ exit 3\n$ echo $?\n2\n",
        "$ mino\n…\nYou> Hello\nAssistant> Hi.\n[tokens: input n/a, output n/a, total n/a, cached n/a; …]\n",
    ],
    ids=["another output", "a failure", "another exit code", "a session that goes on"],
)
def test_a_console_block_that_is_not_true_fails(world, session):
    with pytest.raises(AssertionError, match=r"page\.md:1"):
        for command, shown in block("console", session).commands():
            world.console(block("console", session), command, shown)


@pytest.mark.parametrize(
    "code",
    [
        "from mino_core import hookimpl\n@hookimpl\ndef mino_comands():\n    return {}\n",
        "from mino_core import nothing, hookimpl\n@hookimpl\ndef mino_event():\n    pass\n",
        "from mino_core import hookimpl\n@hookimpl\ndef mino_commands():\n    return {'a': 1}\n",
        "from mino_core import hookimpl\n@hookimpl\ndef mino_event(event):\n    raise ValueError\n",
        "def test_it():\n    assert False\n",
        "raise ValueError\n",
    ],
    ids=["a misspelt hook", "an import error", "no command", "a raise", "a failed test", "a failed script"],
)
def test_a_python_block_that_does_not_work_fails(world, code):
    with pytest.raises(AssertionError, match=r"page\.md:1"):
        world.python(block("python", code))


@pytest.mark.parametrize("table", ["[session]\nprovder = 'x'\n", "[providers.deepseek]\nbase_ulr = 'x'\n"])
def test_a_configuration_with_a_mistake_fails(world, table):
    with pytest.raises(AssertionError, match=r"page\.md:1"):
        world.toml(block("toml", table))


def test_blocks_are_found_with_their_lines_and_their_indent(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n\n```python\nx = 1\n```\n\n- item\n\n  ```toml more\n  [a]\n    b = 1\n  ```\n\n```\n```\n"
    )
    monkeypatch.setattr("doc_pages.ROOT", tmp_path)
    assert [(found.line, found.language, found.text) for found in blocks(page)] == [
        (3, "python", "x = 1\n"),
        (9, "toml", "[a]\n  b = 1\n"),
        (14, "", ""),
    ]
