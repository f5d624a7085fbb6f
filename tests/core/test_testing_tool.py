"""The suite for tools catches what is wrong and lets pass what is right; pytest has mino's fixtures."""

import os
import subprocess
import sys
from typing import Any

import pytest
from mino_core import Finished, TextDelta, Tool, ToolContext
from mino_core.testing import Scripted, Server, ToolConformance, call, chat


def suite(tool, *arguments):
    class Suite(ToolConformance):
        def tool(self):
            return tool

    Suite.arguments = arguments or ({"text": "x"},)
    return Suite()


def broken(tool, tmp_path, monkeypatch, capfd, *arguments):
    """The names of the promises that a tool breaks."""
    made = suite(tool, *arguments)
    found = []
    for name, fixtures in (
        ("a_model_is_told_its_name_its_purpose_and_its_parameters", ()),
        ("what_is_sent_of_it_is_json", ()),
        ("the_calls_it_is_for_work", (tmp_path, monkeypatch, capfd)),
    ):
        try:
            getattr(made, f"test_{name}")(*fixtures)
        except AssertionError as error:
            assert "Why it matters: " in str(error)
            found.append(name)
    return found


def right(context: ToolContext, text: str, times: int = 1) -> str:
    """Say a text."""
    context.output("saying it\n")
    return text * times


def silent(text: str):
    return text


def printing(text: str):
    """Say a text."""
    print(text)


def failing(text: str):
    """Say a text."""
    raise ValueError(text)


def other(words: str):
    """Take another argument."""


def bare(text):
    """Have no annotations."""


def schema(**parameters: Any) -> Tool:
    return Tool("made", "Made of a schema.", parameters, lambda **arguments: "done")


def test_a_right_tool_keeps_every_promise(tmp_path, monkeypatch, capfd):
    assert broken(right, tmp_path, monkeypatch, capfd) == []
    whole = schema(type="object", properties={"text": {"type": "string"}})
    assert broken(whole, tmp_path, monkeypatch, capfd) == []


TOLD, JSON, WORKS = (
    "a_model_is_told_its_name_its_purpose_and_its_parameters",
    "what_is_sent_of_it_is_json",
    "the_calls_it_is_for_work",
)


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        (silent, [TOLD]),
        (printing, [WORKS]),
        (failing, [WORKS]),
        (other, [WORKS]),
        (schema(type="string"), [TOLD]),
        (schema(type="object", default={1, 2}), [JSON]),
        (Tool("two words", "Has a name that servers refuse.", {"type": "object"}, lambda text: text), [TOLD]),
    ],
)
def test_a_wrong_tool_is_caught(tool, names, tmp_path, monkeypatch, capfd):
    assert broken(tool, tmp_path, monkeypatch, capfd) == names


def test_a_tool_without_annotations_has_no_schema():
    with pytest.raises(AssertionError, match="has no annotation\nWhy it matters: without a schema"):
        suite(bare).test_what_is_sent_of_it_is_json()


def test_a_suite_that_names_no_call_says_so(tmp_path, monkeypatch, capfd):
    made = suite(right)
    made.arguments = ()
    with pytest.raises(AssertionError, match="never called is not tested"):
        made.test_the_calls_it_is_for_work(tmp_path, monkeypatch, capfd)


def test_a_call_tells_what_the_model_is_told():
    assert call(right, text="x", times=2).content == "xx"
    result = call(failing, text="no")
    assert result.is_error
    assert "failing failed: ValueError: no" in result.content
    assert call(right).content == "right needs text"


# -- fixtures ----------------------------------------------------------------------------------


def test_a_home_of_ones_own(mino_home, tmp_path):
    assert mino_home["MINO_HOME"].startswith(str(tmp_path))
    assert not {name for name in mino_home if name.endswith("_API_KEY")}


def test_a_server_to_script(mino_server):
    assert isinstance(mino_server, Server)
    mino_server.reply(*chat("hi"))


def test_a_session_to_open(mino_session):
    with mino_session(Scripted([TextDelta("hi"), Finished("stop")])) as session:
        assert session.ask("hello").outcome == "completed"


def test_a_terminal_with_mino_on_it(mino_terminal):
    terminal = mino_terminal("--version")
    terminal.wait_for("mino ")
    assert terminal.wait_exit() == 0


def test_pytest_finds_the_fixtures_by_itself(tmp_path):
    """In a package of a stranger, without a word in its conftest."""
    (tmp_path / "test_it.py").write_text(
        "def test_it(mino_home, mino_server, mino_session, mino_terminal): pass"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
