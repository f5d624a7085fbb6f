"""The input `lines` in the real mino: on a terminal that knows no sequences, and from a pipe."""

import pytest
from mino_core.testing import Server, chat, home, run
from talk import CONFIG, Talk

ASKING = """
from mino_core import hookimpl

def ask(session, text):
    "Ask something."
    session.notify(f"said {session.question('Really?', text.split(','))}")

@hookimpl
def mino_commands():
    return {"ask": ask}
"""


@pytest.fixture
def talk(tmp_path):
    with Talk(tmp_path, TERM="dumb", plugin=ASKING) as talk:
        yield talk


def test_a_dumb_terminal_gets_no_escape_byte(talk):
    talk.answers("# A *title*\n\nand `code`")
    talk.server.fail(500)
    terminal = talk.at_prompt()
    terminal.type("one\r")
    talk.at_prompt().type("two\r")
    talk.at_prompt().type("/exit\r")
    assert terminal.wait_exit() == 0
    assert b"\x1b" not in terminal.raw
    assert b"\r" not in terminal.raw.replace(b"\r\n", b"")
    assert terminal.text.count("title") == 1
    assert talk.asked == ["one", "two"]
    assert terminal.modes == terminal.modes_at_start


def test_ctrl_c_drops_half_a_line_and_leaves_from_an_empty_one(talk):
    terminal = talk.at_prompt()
    terminal.type("half a li")
    terminal.wait_for("half a li")
    terminal.press("ctrl-c")
    talk.at_prompt().press("ctrl-c")
    assert terminal.wait_exit() == 0
    assert talk.asked == []
    assert terminal.modes == terminal.modes_at_start
    assert "You> ^C" in terminal.lines


def test_ctrl_d_ends_an_empty_line_only(talk):
    talk.answers("granted")
    terminal = talk.at_prompt()
    terminal.type("abc")
    terminal.wait_for("abc")
    terminal.type("\x04d\r")
    talk.at_prompt().type("\x04")
    assert terminal.wait_exit() == 0
    assert terminal.lines.count("You>") == 1  # nothing stands behind the last prompt
    assert talk.asked == ["abcd"]


def test_what_is_typed_during_an_answer_is_not_in_it_and_is_sent_after_it(talk, gate):
    talk.server.reply(*chat("first words", gate, " and the last"))
    talk.answers("second", "third")
    talk.at_prompt().type("q1\r")
    talk.terminal.wait_for("first words")
    talk.terminal.type("q2\rhal")
    gate.set()
    talk.terminal.wait_for("You> hal")
    talk.terminal.type("f\r")
    talk.terminal.wait_for("third")
    assert "first words and the last" in talk.terminal.text
    assert "You> q2" in talk.terminal.lines
    assert talk.asked == ["q1", "q2", "half"]


@pytest.mark.parametrize(
    ("choices", "keys", "said"),
    [("yes,no", "y\r", "yes"), ("yes,no", "\r", "no"), ("a,b", "\r", "None"), ("yes,no", "\x04", "None")],
)
def test_a_question_is_answered_by_a_line(talk, choices, keys, said):
    talk.at_prompt().type(f"/ask {choices}\r")
    talk.terminal.wait_for("]")
    talk.terminal.type(keys)
    talk.terminal.wait_for(f"said {said}")


def test_an_answer_that_is_no_choice_is_asked_for_again(talk):
    talk.at_prompt().type("/ask yes,no\r")
    talk.terminal.wait_for("[yes/no]")
    talk.terminal.type("maybe\r")
    talk.terminal.wait_for("[yes/no]", count=2)
    talk.terminal.type("yes\r")
    talk.terminal.wait_for("said yes")


def test_what_was_typed_before_a_question_does_not_answer_it(talk, gate):
    talk.server.reply(*chat("first words", gate))
    talk.at_prompt().type("q1\r")
    talk.terminal.wait_for("first words")
    talk.terminal.type("/ask yes,no\ryes\r")
    gate.set()
    talk.terminal.wait_for("Really?")
    talk.answers("granted")
    talk.terminal.press("enter")
    talk.terminal.wait_for("said no")
    talk.terminal.wait_for("granted")
    assert talk.asked == ["q1", "yes"]


def test_lines_that_came_at_once_are_sent_in_turn_and_none_is_a_command(talk):
    talk.answers("r1", "r2", "r3", "r4", "r5")
    talk.at_prompt().type("l1\r/clear\r/exit\rl4\r")
    talk.terminal.wait_for("r4")
    talk.prompts = 4
    talk.at_prompt().type("l5\r")
    talk.terminal.wait_for("r5")
    talk.at_prompt().type("/exit\r")
    assert talk.terminal.wait_exit() == 0
    assert talk.asked == ["l1", "/clear", "/exit", "l4", "l5"]


def test_lines_take_over_from_an_editor_that_fails(tmp_path):
    broken = """
from mino_core import hookimpl

class Broken:
    def read(self, prompt):
        raise OSError("no keyboard")
    ask = read

@hookimpl
def mino_inputs():
    return {"broken": lambda settings, screen: Broken()}
"""
    with Talk(tmp_path, plugin=broken, args=("--input", "broken")) as talk:
        talk.answers("granted")
        talk.terminal.wait_for("no keyboard")
        talk.at_prompt().type("one\r")
        talk.terminal.wait_for("You> one")
        talk.terminal.wait_for("granted")
        talk.at_prompt().type("\x04")
        assert talk.terminal.wait_exit() == 0
        assert talk.terminal.modes == talk.terminal.modes_at_start


# -- from a pipe -------------------------------------------------------------------------------------


def piped(tmp_path, server, data, *args):
    return run(["-i", *args], home(tmp_path, CONFIG.format(url=server.url)), input=data)


def asked(server):
    return [request.json["messages"][-1]["content"] for request in server.requests]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"only", ["only"]),
        (b"", []),
        ("漢字\n".encode(), ["漢字"]),
        (b"bad \xff byte\n", ["bad \ufffd byte"]),
    ],
)
def test_a_pipe_is_read_line_by_line(tmp_path, data, lines):
    with Server() as server:
        server.answer(lambda request: chat("ok"))
        done = piped(tmp_path, server, data)
        assert done.code == 0
        assert asked(server) == lines
        assert "You>" not in done.out + done.err


def test_nobody_in_a_pipe_answers_a_question(tmp_path):
    with Server() as server:
        server.answer(lambda request: chat("ok"))
        environ = home(tmp_path, CONFIG.format(url=server.url))
        plugin = tmp_path / "asking.py"
        plugin.write_text(ASKING)
        done = run(["-i", "-e", str(plugin)], environ, input="/ask yes,no\nyes\n")
        assert "said None" in done.err
        assert asked(server) == ["yes"]
