"""What plugins, servers and the outside world may do at each door, and that mino stays up."""

import os
import subprocess
import sys

import pytest
from mino_core import Finished, Pasted, Text, TextDelta, ToolCall, Usage, interrupts
from mino_core.shell import Shell, read_line
from mino_core.testing import Recorder, mino
from stage import Stage

STOP = Finished("stop", "stop")


@pytest.mark.parametrize(
    "delta",
    [
        TextDelta(5),
        TextDelta(None),
        Finished("bogus"),
        Finished("stop", meta=5),
        Usage("a"),
        ToolCall("a", [], "{}"),
        "text",
        object(),
    ],
    ids=lambda delta: type(delta).__name__,
)
def test_a_delta_with_the_wrong_things_in_it_is_the_providers_fault(tmp_path, delta):
    stage = Stage(tmp_path)
    stage.provider.stream = lambda request: iter([TextDelta("a"), delta])
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.error.kind) == ("failed", "plugin")


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), type("Own", (BaseException,), {})()])
def test_whatever_a_provider_raises_costs_one_turn(tmp_path, error):
    def stream(request):
        yield TextDelta("a")
        raise error

    stage = Stage(tmp_path)
    stage.provider.stream = stream
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.error.kind) == ("failed", "plugin")


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), RuntimeError("x")])
def test_whatever_a_renderer_raises_costs_the_renderer(tmp_path, error):
    def fail(event):
        if isinstance(event, TextDelta):
            raise error

    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    stage.renderer = Recorder(fail)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
        assert session.display.renderer is not stage.renderer


@pytest.mark.parametrize("answer", [5, None, SystemExit(3)])
def test_an_input_that_returns_or_raises_the_wrong_thing_is_replaced(tmp_path, answer):
    class Broken:
        def read(self, prompt):
            if isinstance(answer, BaseException):
                raise answer
            return answer

        def ask(self, question, choices):
            return None

    stage = Stage(tmp_path)
    stage.inputs = {"broken": lambda settings, screen: Broken()}
    with stage.opened() as session:
        assert Shell(session, session.host.make("mino_inputs", "broken", session.screen)).run() == 0
    assert any("reading plain lines" in notice for notice in stage.renderer.notices)


def test_a_ctrl_c_that_python_swallows_in_a_destructor_waits():
    class Dying:
        def __del__(self):
            raise interrupts.users(KeyboardInterrupt())

    with interrupts.installed():
        Dying()
        with pytest.raises(KeyboardInterrupt), interrupts.armed():
            pytest.fail("it was lost")


def test_signals_that_a_plugin_took_are_ours_again():
    program = """
import signal
from mino_core import interrupts
with interrupts.installed():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    interrupts.reclaim()
    assert callable(signal.getsignal(signal.SIGINT))
    assert callable(signal.getsignal(signal.SIGALRM))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("blank", [" ", "\u3000", "\u00a0", "\t"])
def test_any_blank_parts_a_command_from_its_rest(blank):
    line = read_line(f"/clear{blank}the table")
    assert (line.name, line.rest) == ("clear", "the table")


def test_a_pasted_line_is_never_more_than_words():
    assert read_line(Pasted("exit")).text == "exit"


def test_no_words_are_masked_in_what_is_sent(tmp_path):
    from mino_core import secret

    secret.remember("swordfish-77")
    stage = Stage(tmp_path, [TextDelta("ok"), STOP], [TextDelta("ok"), STOP])
    with stage.opened() as session:
        session.ask("is swordfish-77 a fish?")
        session.ask("and now?")
    for request in stage.provider.requests:
        assert request.messages[0].parts == (Text("is swordfish-77 a fish?"),)


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 3), ("2>&-", 0), ("<&- >&- 2>&-", 3)])
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["config", "path"], ["-p", ""]])
def test_closed_descriptors_do_no_harm(tmp_path, closed, code, arguments):
    environ = {"HOME": str(tmp_path), "MINO_HOME": str(tmp_path / "m"), "PATH": os.defpath}
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *mino(*arguments)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert done.returncode == (2 if "-p" in arguments else code)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["config", "show"]])
def test_a_full_disk_behind_standard_output_is_told(tmp_path, arguments):
    environ = {"HOME": str(tmp_path), "MINO_HOME": str(tmp_path / "m"), "PATH": os.defpath}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            mino(*arguments), env=environ, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr.startswith("Error: cannot write to standard output: No space left")
    assert "ignored" not in done.stderr


@pytest.mark.parametrize("arguments", [["-i", "-p", "x"], ["-p", "x", "doctor"], ["-i", "-a", "f"]])
def test_what_would_be_dropped_is_refused(tmp_path, arguments):
    environ = {"HOME": str(tmp_path), "MINO_HOME": str(tmp_path / "m"), "PATH": os.defpath}
    done = subprocess.run(
        mino(*arguments), env=environ, input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: -")


def test_threads_that_a_plugin_leaves_behind_neither_speak_nor_stay(tmp_path):
    from mino_core.testing import Server, chat, run
    from pointed import pointed

    with Server() as server:
        server.reply(*chat("answer"))
        environ = pointed(tmp_path, server)
        plugins = tmp_path / "home/.mino/plugins"
        plugins.mkdir()
        (plugins / "left.py").write_text(
            "import atexit, threading\n"
            "threading.Thread(target=threading.Event().wait, name='endless').start()\n"
            "atexit.register(print, 'noise')\n"
        )
        done = run(["-p", "hi"], environ)
    assert (done.code, done.out) == (0, "answer")
    assert "endless" in done.err
