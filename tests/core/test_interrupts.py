"""Ctrl-C and timers land only where mino waits."""

import os
import signal
import subprocess
import sys

import pytest
from mino_core import interrupts


@pytest.fixture(autouse=True)
def _signals_are_ours():
    with interrupts.installed():
        yield


def press(signum=signal.SIGINT):
    os.kill(os.getpid(), signum)


def test_ctrl_c_raises_at_once_where_armed():
    with pytest.raises(KeyboardInterrupt), interrupts.armed():
        press()
        pytest.fail("the signal did not land")


def test_ctrl_c_waits_where_held_and_lands_in_the_next_armed_place():
    press()
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.armed():
        done.append("inside")
    assert not done


def test_a_held_block_inside_an_armed_one_ends_before_ctrl_c_lands():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.armed():
        with interrupts.held():
            press()
            done.append("the write was finished")
        pytest.fail("the signal did not land at the end of the held block")
    assert done == ["the write was finished"]


def test_a_second_ctrl_c_raises_in_a_held_block():
    with interrupts.held():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_no_number_of_ctrl_cs_breaks_a_sealed_block():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.armed(), interrupts.sealed():
        for _ in range(5):
            press()
        done.append("appended")
    assert done == ["appended"]


def test_a_late_ctrl_c_is_forgotten():
    press()
    interrupts.discard()
    with interrupts.armed():
        pass


def test_a_late_sigterm_is_not_forgotten():
    press(signal.SIGTERM)
    interrupts.discard()
    with pytest.raises(interrupts.Terminated) as raised, interrupts.armed():
        pass
    assert raised.value.signum == signal.SIGTERM


def test_sigterm_beats_a_ctrl_c_that_waits():
    press()
    with interrupts.sealed():
        press(signal.SIGHUP)
    with pytest.raises(interrupts.Terminated), interrupts.armed():
        pass


def test_an_error_on_its_way_out_is_not_replaced_by_a_ctrl_c():
    with pytest.raises(ValueError, match="the cause"), interrupts.armed(), interrupts.held():
        press()
        raise ValueError("the cause")
    interrupts.discard()


def test_levels_are_put_back_after_an_interrupt():
    with pytest.raises(KeyboardInterrupt), interrupts.armed():
        press()
    press()  # held again: nothing raises
    interrupts.discard()


def test_a_limit_stops_a_busy_loop():
    with pytest.raises(interrupts.TimedOut), interrupts.limit(0.01), interrupts.armed():
        while True:
            pass


def test_a_limit_stops_a_catastrophic_regular_expression():
    import re

    with pytest.raises(interrupts.TimedOut), interrupts.limit(0.01), interrupts.armed():
        re.match(r"(a+)+$", "a" * 40 + "b")


def test_a_limit_raises_again_when_the_first_was_swallowed():
    raised = 0
    with pytest.raises(interrupts.TimedOut), interrupts.limit(0.01), interrupts.armed():
        while True:
            try:
                while True:
                    pass
            except interrupts.TimedOut:
                raised += 1
                if raised == 2:
                    raise


def test_a_limit_does_not_raise_in_a_sealed_block():
    done = []
    with pytest.raises(interrupts.TimedOut), interrupts.limit(0.001), interrupts.armed():
        with interrupts.sealed():
            signal.pause()  # the timer itself wakes us
            done.append("whole")
        while True:
            pass
    assert done == ["whole"]


def test_no_clock_runs_while_a_person_is_asked():
    with interrupts.limit(30), interrupts.armed():
        with interrupts.unlimited():
            assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30


def test_repeated_work_happens_only_where_armed():
    beats = []

    def beat():
        beats.append(1)
        if len(beats) == 3:
            raise EOFError

    with pytest.raises(EOFError), interrupts.every(0.001, beat):
        signal.pause()
        assert not beats
        with interrupts.armed():
            while True:
                signal.pause()
    assert len(beats) == 3


def test_two_timers_share_the_one_clock():
    beats = []
    tick = interrupts.every(0.001, lambda: beats.append(1))
    with pytest.raises(interrupts.TimedOut), tick, interrupts.limit(0.05), interrupts.armed():
        while True:
            signal.pause()
    assert beats
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_former_handlers_are_put_back():
    program = """
import signal
from mino_core import interrupts
before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)]
with interrupts.installed():
    pass
assert before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_random_ctrl_c_leaves_file_and_memory_different(tmp_path):
    """Signals at random moments of a loop of appends: what memory says is kept is in the file."""
    program = """
import os, random, signal, sys
from mino_core import interrupts
path, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed)
memory = []
fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
with interrupts.installed():
    signal.signal(signal.SIGVTALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    for n in range(40):
        signal.setitimer(signal.ITIMER_VIRTUAL, random.uniform(1e-5, 2e-3))
        try:
            for k in range(100):
                with interrupts.armed():
                    pass
                with interrupts.sealed():
                    os.write(fd, b"%d.%d\\n" % (n, k))
                    memory.append(b"%d.%d" % (n, k))
        except KeyboardInterrupt:
            pass
        interrupts.discard()
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
assert open(path, "rb").read().split() == memory
"""
    for seed in range(5):
        path = tmp_path / str(seed)
        subprocess.run([sys.executable, "-c", program, str(path), str(seed)], check=True)


def test_a_wait_ends_when_something_can_be_read():
    reading, writing = os.pipe()
    try:
        assert not interrupts.wait(reading, 0)
        os.write(writing, b"x")
        assert interrupts.wait(reading)
    finally:
        os.close(reading)
        os.close(writing)


def test_a_wait_hears_a_signal_of_the_instant_before_it(monkeypatch):
    """The signal comes when no bytecode will run any more: its byte is in the pipe, and select sees it."""
    import select

    reading, writing = os.pipe()
    real = select.select

    def late(*args):
        press()
        return real(*args)

    class Late:
        select = staticmethod(late)

    monkeypatch.setattr(interrupts, "select", Late)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.armed():
            interrupts.wait(reading)
    finally:
        os.close(reading)
        os.close(writing)


def test_no_signal_at_any_instruction_leaves_a_level_behind():
    """A signal between any two lines of the blocks themselves: afterwards all is as before."""
    program = """
import signal, sys
from mino_core import interrupts

target = 0
def trace(frame, event, arg):
    global target
    if frame.f_code.co_filename == interrupts.__file__:
        frame.f_trace_opcodes = True
        if event == "opcode":
            target -= 1
            if target == 0:
                interrupts._on_signal(signal.SIGINT, frame)  # what it raises is raised there
    return trace

with interrupts.installed():
    for n in range(1, 400):
        target = n
        sys.settrace(trace)
        try:
            with interrupts.limit(60), interrupts.armed():
                with interrupts.held():
                    pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert interrupts._level == interrupts._HELD, n
        assert not interrupts._timers, n
        interrupts.discard()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_done_again_and_again_is_done_at_once_when_the_window_changes():
    done = []
    with interrupts.every(3600, lambda: done.append("again")), interrupts.limit(3600):
        press(signal.SIGWINCH)
        assert not done  # held
        with interrupts.armed():
            press(signal.SIGWINCH)
            assert done == ["again"]
