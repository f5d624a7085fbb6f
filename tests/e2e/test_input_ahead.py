"""What is typed while an answer comes, in the real mino: kept, seen, taken back, and sent in order."""

import fcntl
import signal
import sys
import termios

import pytest
from mino_core.testing import chat
from talk import Talk, is_stopped

ASKING = """
from mino_core import hookimpl

def ask(session, text):
    "Ask something."
    session.notify(f"said {session.question('Really?', text.split(','))}")

@hookimpl
def mino_commands():
    return {"ask": ask}
"""
#: The editor, and plain lines.
TERMS = ["xterm", "dumb"]


def streaming(talk, gate):
    """An answer has begun, and goes on when the gate is opened."""
    talk.server.reply(*chat("first words", gate, " and the last"))
    talk.at_prompt().type("q1\r")
    talk.terminal.wait_for("first words")
    return talk.terminal


@pytest.mark.parametrize("term", TERMS)
def test_lines_typed_ahead_are_seen_as_they_are_sent_one_after_the_other(tmp_path, gate, term):
    with Talk(tmp_path, TERM=term) as talk:
        terminal = streaming(talk, gate)
        terminal.type("q2\rq3\rhalf")
        talk.answers("second", "third")
        gate.set()
        terminal.wait_for("You> half")
        shown = [line for line in terminal.text.split("\n") if line.startswith(("You>", "Assistant>"))]
        assert shown == [
            "You> q1",
            "Assistant> first words and the last",
            "You> q2",
            "Assistant> second",
            "You> q3",
            "Assistant> third",
            "You> half",
        ]
        assert talk.asked == ["q1", "q2", "q3"]
        assert talk.server.most_at_once == 1


@pytest.mark.parametrize("term", TERMS)
def test_after_a_ctrl_c_what_was_typed_ahead_stands_at_the_prompt_and_waits_for_enter(tmp_path, gate, term):
    with Talk(tmp_path, TERM=term) as talk:
        terminal = streaming(talk, gate)
        terminal.type("q2\r\r/status\rhalf")
        terminal.press("ctrl-c")
        terminal.wait_for("the 2 lines that you had typed are not sent yet")
        terminal.wait_for("You> q2")
        assert talk.asked == ["q1"]
        talk.answers("second", "third")
        terminal.press("enter")
        terminal.wait_for("You> /status")
        assert "conversation " not in terminal.text
        terminal.press("enter")
        terminal.wait_for("conversation ")
        terminal.wait_for("You> half")
        terminal.type(" a line\r")
        terminal.wait_for("third")
        assert talk.asked == ["q1", "q2", "half a line"]


def test_a_line_that_waits_after_a_ctrl_c_can_be_dropped_and_brought_back(tmp_path, gate):
    with Talk(tmp_path) as talk:
        terminal = streaming(talk, gate)
        terminal.type("q2\rq3\r")
        terminal.press("ctrl-c")
        terminal.wait_for("You> q2")
        terminal.press("ctrl-c")
        terminal.wait_for("You> q3")
        terminal.press("ctrl-c")
        terminal.wait_until(lambda: "q3" not in terminal.text)
        terminal.press("up", "up")
        terminal.wait_for("You> q2")
        terminal.press("ctrl-u")
        terminal.wait_until(lambda: "q2" not in terminal.text)
        talk.ends_by("ctrl-d")
        assert talk.asked == ["q1"]


def test_up_behind_an_enter_takes_the_line_back_before_it_is_sent(tmp_path, gate):
    with Talk(tmp_path) as talk:
        terminal = streaming(talk, gate)
        terminal.type("q2\rq3\r")
        terminal.press("up")
        terminal.type(" changed")
        talk.answers("second", "third")
        gate.set()
        terminal.wait_for("You> q3 changed")
        assert talk.asked == ["q1", "q2"]
        terminal.press("enter")
        terminal.wait_for("third")
        assert talk.asked == ["q1", "q2", "q3 changed"]


def test_a_sent_line_that_was_typed_ahead_comes_back_with_up(tmp_path, gate):
    with Talk(tmp_path) as talk:
        terminal = streaming(talk, gate)
        terminal.type("q2\r")
        talk.answers("second")
        gate.set()
        terminal.wait_for("second")
        terminal.wait_for("You>", count=3)
        terminal.press("up")
        terminal.wait_for("You> q2", count=2)


@pytest.mark.parametrize("term", TERMS)
def test_a_ctrl_c_at_a_question_sends_nothing_that_was_typed_before_it(tmp_path, gate, term):
    with Talk(tmp_path, plugin=ASKING, TERM=term) as talk:
        terminal = streaming(talk, gate)
        terminal.type("/ask yes,no\rq2\r")
        gate.set()
        terminal.wait_for("[yes/no]")
        terminal.press("ctrl-c")
        terminal.wait_for("/ask was stopped")
        terminal.wait_for("You> q2")
        talk.answers("second")
        assert talk.asked == ["q1"]
        terminal.press("enter")
        terminal.wait_for("second")


@pytest.mark.parametrize("term", TERMS)
def test_what_was_pasted_without_brackets_is_no_command_after_a_ctrl_c_either(tmp_path, gate, term):
    with Talk(tmp_path, TERM=term) as talk:
        talk.server.reply(*chat("first words", gate))
        talk.at_prompt().type("l1\r/exit\rl3\r")
        terminal = talk.terminal
        terminal.wait_for("first words")
        terminal.press("ctrl-c")
        terminal.wait_for("You> /exit")
        talk.answers("second", "third")
        terminal.press("enter")
        terminal.wait_for("You> l3")
        terminal.press("enter")
        terminal.wait_for("third")
        assert talk.asked == ["l1", "/exit", "l3"]


@pytest.mark.parametrize("end", [1, 15])
def test_a_line_that_is_being_typed_when_mino_is_ended_comes_back_with_up(tmp_path, end):
    with Talk(tmp_path) as talk:
        terminal = talk.at_prompt()
        terminal.type("half a\x0adraft")
        terminal.wait_for("     draft")
        terminal.signal(end)
        assert terminal.wait_exit() == -end
    with Talk(tmp_path) as talk:
        terminal = talk.at_prompt()
        terminal.press("up")
        terminal.wait_for("You> half a")
        terminal.wait_for("     draft")


def test_a_ctrl_c_is_heard_behind_more_than_the_kernel_keeps(tmp_path, gate):
    with Talk(tmp_path) as talk:
        terminal = streaming(talk, gate)
        pasted = "some words\n" * 3000
        terminal.type("see ")
        terminal.paste(pasted)
        terminal.type("the end")
        terminal.press("ctrl-c")
        terminal.wait_for("[cancelled]")
        terminal.wait_for("     the end")
        talk.answers("granted")
        terminal.press("enter")
        terminal.wait_for("granted")
        assert talk.asked == ["q1", f"see {pasted}the end"]


@pytest.mark.parametrize("args", [(), ("--plain",)])
def test_what_is_typed_ahead_is_not_left_to_the_shell_at_ctrl_z(tmp_path, gate, args):
    with Talk(tmp_path, args=args) as talk:
        terminal = streaming(talk, gate)
        talk.answers("second", "third")
        terminal.type("ahead\rhalf")
        terminal.press("ctrl-z")
        terminal.wait_until(lambda: is_stopped(terminal.pid))
        assert waiting(terminal) == 0
        terminal.signal(signal.SIGCONT)
        gate.set()
        terminal.wait_for("second")
        terminal.wait_for("You> half")
        if args:  # the line that the kernel edits
            terminal.press("ctrl-z")
            terminal.wait_until(lambda: is_stopped(terminal.pid))
            assert waiting(terminal) == 0
            terminal.signal(signal.SIGCONT)
        terminal.type(" more\r")
        terminal.wait_for("third")
        assert talk.asked[1:] == ["ahead", "half more"]


def waiting(terminal):
    """How many bytes another program would find in the terminal, which it may take out of canonical mode."""
    modes = termios.tcgetattr(terminal._slave)
    modes[3] &= ~termios.ICANON
    termios.tcsetattr(terminal._slave, termios.TCSANOW, modes)
    return int.from_bytes(fcntl.ioctl(terminal._slave, termios.FIONREAD, bytes(4)), sys.byteorder)
