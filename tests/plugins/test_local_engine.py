"""One child process: it starts, is waited for, and ends with its parent."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from mino_core import ProviderError, interrupts

from mino_local.engine import Engine

CHILD = Path(__file__).with_name("local_child.py")
READY = {"say": '{"url": "http://127.0.0.1:1"}\n'}


@pytest.fixture
def start(tmp_path):
    """Start a child that takes these steps; every one is ended with the test."""
    engines = []

    def start(*steps, program=CHILD):
        model = tmp_path / f"model-{len(engines)}.gguf"
        model.write_text(json.dumps(steps))
        engines.append(Engine(model, 2048, 1, program))
        return engines[-1]

    yield start
    for engine in engines:
        engine.close()


def fault(engine):
    with pytest.raises(ProviderError) as caught:
        engine.url(20)
    return caught.value


def test_a_child_says_where_it_serves_as_often_as_it_is_asked(start):
    engine = start(READY)
    assert engine.url(20) == engine.url(20) == "http://127.0.0.1:1"
    assert engine.alive()


def test_the_key_goes_through_the_environment_and_never_over_the_command_line(start, tmp_path):
    engine = start({"env": str(tmp_path / "seen.json")}, READY)
    engine.url(20)
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["environ"]["MINO_LOCAL_KEY"] == engine.key
    assert seen["environ"]["OMP_WAIT_POLICY"] == "passive"
    assert seen["argv"] == [str(engine.model), "2048", "1"]
    assert seen["session"]


def test_two_children_have_two_keys(start):
    assert start().key != start().key


def test_a_child_that_still_loads_is_left_loading(start):
    engine = start()
    with pytest.raises(ProviderError, match="still loading after 0 s; ask again") as caught:
        engine.url(0)
    assert caught.value.kind == "connect"
    assert engine.alive()


def test_ctrl_c_while_it_loads_leaves_the_child_and_its_line(start, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    engine = start({"hold": str(gate)}, READY)  # it gets on when somebody opens the other end
    with interrupts.installed():
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), interrupts.armed():
            engine.url(20)
    with gate.open():
        assert engine.url(20) == "http://127.0.0.1:1"


@pytest.mark.parametrize("step", [{"signal": signal.SIGILL}, {"exit": 132}])
def test_a_cpu_without_avx2_is_named_and_so_is_the_way_out(start, step):
    error = fault(start(step))
    assert error.kind == "config"
    assert error.message.startswith("this CPU lacks AVX2")
    assert "mino --provider" in error.message


def test_what_a_dying_child_said_last_is_the_reason(start):
    error = fault(start({"err": "Traceback\n  noise\nits engine is not installed\n\n"}, {"exit": 1}))
    assert error.kind == "config"
    assert error.message == "the local model does not start: its engine is not installed"


def test_a_child_that_dies_in_silence_leaves_its_code(start):
    assert fault(start({"exit": 7})).message == "the local model does not start: code 7"


def test_a_long_complaint_is_cut(start):
    assert len(fault(start({"err": "x" * 100_000}, {"exit": 1})).message) < 600


def test_a_killed_child_names_its_signal(start):
    assert "SIGKILL; is there enough memory?" in fault(start({"signal": signal.SIGKILL})).message


@pytest.mark.parametrize("line", ["ready\n", "[]\n", '{"uri": 1}\n', "\udcff\n"])
def test_a_child_that_says_something_else_is_ended(start, line):
    engine = start({"say": line.replace("\udcff", "\x00")})
    assert "unexpected" in fault(engine).message
    assert not engine.alive()


def test_closing_ends_a_child_that_was_ready_and_one_that_was_not(start):
    for engine in (start(READY), start()):
        engine.close()
        assert not engine.alive()


def test_closing_ends_a_child_that_does_not_want_to_end(start, tmp_path, monkeypatch):
    monkeypatch.setattr("mino_local.engine._GRACE", 0.05)
    stubborn = tmp_path / "stubborn.py"
    stubborn.write_text("import time\nwhile True: time.sleep(60)\n")
    engine = start(program=stubborn)
    engine.close()
    assert not engine.alive()


def test_a_program_that_cannot_be_run_is_one_sentence(start, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(ProviderError, match="cannot start the local model's process"):
        start()


def test_nothing_is_left_behind_after_kill_9(tmp_path):
    model, fifo = tmp_path / "model", tmp_path / "fifo"
    os.mkfifo(fifo)
    model.write_text(json.dumps([{"hold": str(fifo)}, READY]))
    program = (
        "import sys; from pathlib import Path; from mino_local.engine import Engine;"
        f" engine = Engine(Path({str(model)!r}), 1, 1, Path({str(CHILD)!r}));"
        " print(engine.url(20), flush=True); sys.stdin.read()"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as parent,
        fifo.open() as child,
    ):
        assert parent.stdout.readline()
        parent.kill()
        assert child.read() == ""  # it let go of the fifo: it has ended


def test_the_real_child_without_its_engine_says_what_to_install(tmp_path):
    child = Path(sys.modules["mino_local.engine"].CHILD)
    engine_less = subprocess.Popen(
        [sys.executable, "-I", "-S", str(child), "model.gguf", "2048", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"MINO_LOCAL_KEY": "k"},
        text=True,
    )
    with engine_less:
        said = engine_less.stderr.read()
    assert engine_less.returncode == 1
    assert "pip install 'mino-shell[local]'" in said.splitlines()[-1]
