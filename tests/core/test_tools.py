"""Running a tool: whatever happens becomes a result for the model, except the user's stop."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from mino_core import Tool, ToolCall, ToolContext, ToolResult, interrupts
from mino_core.secret import remember
from mino_core.tools import as_tool, run
from mino_core.tools import context as tool_context


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


def add(a: int, b: int = 1, kind: str = "plain") -> object:
    """Add."""
    return a + b if kind == "plain" else {"sum": a + b, "word": "süß"}


def result(arguments, function=add, name="add"):
    return run(as_tool(name, function), ToolCall("7", name, arguments), ToolContext())


def test_text_is_told_as_it_is_and_the_rest_as_json():
    assert result('{"a": 1}') == ToolResult("7", "2")
    assert result('{"a": 1, "kind": "rich"}').content == '{"sum": 2, "word": "süß"}'
    assert result("", lambda: "words").content == "words"
    assert result("", lambda: None).content == "done"
    assert result("", lambda: {"path": Path("a")}).content == '{"path": "a"}'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("[1]", "the arguments of add must be one JSON object"),
        ('{"a": 1', "the arguments of add must be one JSON object"),
        ("{}", "add needs a"),
        ('{"a": 1, "c": 2}', "add does not take c; it takes a, b, kind"),
        ('{"a": "one"}', "add: a must be of type integer, not 'one'"),
        ('{"a": true}', "add: a must be of type integer, not True"),
    ],
)
def test_wrong_arguments_are_a_sentence_for_the_model(arguments, words):
    assert result(arguments) == ToolResult("7", words, is_error=True)


def test_an_unlisted_choice_is_a_sentence_for_the_model():
    tool = Tool("t", "", {"properties": {"x": {"enum": ["a", "b"]}}}, lambda **values: "")
    said = run(tool, ToolCall("1", "t", '{"x": "c"}'), ToolContext())
    assert said.content == "t: x must be one of 'a', 'b', not 'c'"


def test_a_schema_that_allows_more_gets_more():
    tool = Tool("t", "", {"type": "object"}, lambda **values: sorted(values))
    assert run(tool, ToolCall("1", "t", '{"x": 1, "y": 2}'), ToolContext()).content == '["x", "y"]'


class Mute(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("two\nlines"), "t failed: ValueError: two lines"),
        (SystemExit(3), "t failed: tried to end the program (SystemExit: 3)"),
        (Mute(), "t failed: Mute: its message cannot be shown: ValueError"),
        (RecursionError(), "t failed: RecursionError"),
    ],
)
def test_an_exception_is_one_line_and_never_a_traceback(error, words):
    def tool() -> str:
        raise error

    said = result("", tool, "t")
    assert said.is_error
    assert said.content.startswith(words)
    assert "\n" not in said.content


def test_the_users_stop_passes():
    def tool() -> str:
        raise interrupts.users(KeyboardInterrupt())

    context = ToolContext()
    with pytest.raises(KeyboardInterrupt):
        run(as_tool("t", tool), ToolCall("1", "t", ""), context)
    assert context.cancelled


# -- children ----------------------------------------------------------------------------------


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


def test_a_childs_output_is_shown_as_it_comes_and_returned():
    shown = []
    ran = ToolContext(shown.append).run(
        python("import sys; print('out', flush=True); print('err', file=sys.stderr)")
    )
    assert (ran.code, ran.output, ran.timed_out) == (0, "out\nerr\n", False)
    assert "".join(shown) == ran.output


def test_a_child_gets_its_input_and_its_directory(tmp_path):
    big = "x" * 1_000_000
    code = "import os, sys; print(len(sys.stdin.read()), os.getcwd())"
    ran = ToolContext(roots=[tmp_path]).run(python(code), input=big)
    assert ran.output == f"{len(big)} {tmp_path}\n"
    assert ToolContext().run(python(code), cwd=tmp_path).output == f"0 {tmp_path}\n"


def test_a_child_that_does_not_read_its_input_is_no_error():
    assert ToolContext().run(python("print('no')"), input="x" * 1_000_000).output == "no\n"


def test_a_child_has_the_environment_but_for_keys(monkeypatch):
    remember("key-of-mino-0123456789")
    given = {"SOME_API_KEY": "other", "MINE": "key-of-mino-0123456789", "GIT_TOKEN": "kept", "PLAIN": "too"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    code = "import os, sys; print([name for name in sys.argv[1:] if name in os.environ])"
    assert ToolContext().run(python(code, *given)).output == "['GIT_TOKEN', 'PLAIN']\n"


def test_the_code_of_a_child_is_told():
    assert ToolContext().run(python("raise SystemExit(3)")).code == 3
    with pytest.raises(FileNotFoundError):
        ToolContext().run(["/nowhere/at/all"])


def test_a_long_output_keeps_both_ends(monkeypatch):
    monkeypatch.setattr(tool_context, "KEPT", 100)
    ran = ToolContext().run(python("print('a' * 50 + 'b' * 100_000 + 'c' * 49)"))
    assert ran.output == "a" * 50 + "\n[100000 bytes left out]\n" + "c" * 49 + "\n"


def test_characters_split_between_reads_are_whole():
    code = "import os, sys\nfor byte in 'ä漢'.encode(): os.write(1, bytes([byte]))"
    shown = []
    assert ToolContext(shown.append).run(python(code)).output == "ä漢"
    assert "".join(shown) == "ä漢"


WITH_GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def is_alive(pid):
    """Whether a process runs; a zombie nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to see who is alive")
@pytest.mark.parametrize("how", ["ctrl-c", "timeout"])
def test_a_stopped_child_leaves_nobody_of_its_group_behind(how):
    pids = []

    def started(text):
        pids.extend(map(int, text.split()))
        if how == "ctrl-c" and text.strip():
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()

    context = ToolContext(started)
    argv = python(WITH_GRANDCHILD)
    if how == "ctrl-c":
        with pytest.raises(KeyboardInterrupt), interrupts.armed():
            context.run(argv)
        assert context.cancelled
    else:
        assert context.run(argv, timeout=1.5).timed_out
    (grandchild,) = pids
    _wait_until(lambda: not is_alive(grandchild))


def test_a_child_that_ignores_a_polite_request_is_killed():
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    ran = ToolContext().run(python(code), timeout=0.5)
    assert ran.timed_out
    assert ran.code < 0


def test_a_child_that_leaves_its_own_child_behind_is_done():
    code = (
        "import subprocess, sys; print('done', flush=True);"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid, flush=True)"
    )
    ran = ToolContext().run(python(code))
    word, pid = ran.output.split()
    os.kill(int(pid), signal.SIGKILL)
    assert (ran.code, word) == (0, "done")


def _wait_until(true):
    gate = threading.Event()
    for _ in range(200):
        if true():
            return
        gate.wait(0.02)
    raise AssertionError("it did not become true within 4 s")


def test_a_ctrl_c_in_the_instant_in_which_a_child_starts_leaves_no_child(monkeypatch):
    import subprocess

    started = []
    real = subprocess.Popen

    def press_while_starting(*args, **kwargs):
        started.append(real(*args, **kwargs))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", press_while_starting)
    with pytest.raises(KeyboardInterrupt), interrupts.armed():
        ToolContext().run(["sleep", "1000"])
    assert started[0].poll() is not None
