"""A line is a command, a prompt or a way out."""

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import Finished, Pasted, ProviderError, TextDelta
from mino_core.shell import Command, Errand, Leave, Prompt, Shell, read_line, worst
from stage import Stage

STOP = Finished("stop", "stop")


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("hello", Prompt("hello")),
        ("  indented stays", Prompt("  indented stays")),
        ("", None),
        ("   ", None),
        ("\t", None),
        ("\u3000", None),
        ("\u00a0", None),
        ("\u200b", None),
        ("exit", Leave()),
        (" quit ", Leave()),
        ("exit code 137 means what?", Prompt("exit code 137 means what?")),
        ("quit smoking tips", Prompt("quit smoking tips")),
        ("/exit", Command("exit", "")),
        (" /exit", Command("exit", "")),
        ("/exit   ", Command("exit", "")),
        ("/exit now", Command("exit", "now")),
        ('/note "a b"  c', Command("note", '"a b"  c')),
        ("/dir:x arg", Command("dir:x", "arg")),
        ("/a-b_c 1\n2", Command("a-b_c", "1\n2")),
        ("/home/user/x.py explain", Prompt("/home/user/x.py explain")),
        ("/etc/hosts looks wrong", Prompt("/etc/hosts looks wrong")),
        ("/api/v1/接口 的实现", Prompt("/api/v1/接口 的实现")),
        ("/regex/g", Prompt("/regex/g")),
        ("!ls -l", Errand("ls -l")),
        (" ! ls", Errand("ls")),
        ("!", Errand("")),
        ("!!important", Prompt("!important")),
        ("！重要", Prompt("！重要")),
        (Pasted("!rm -r x"), Prompt("!rm -r x")),
        (Pasted(" /exit now", [(1, 6)]), Prompt(" /exit now")),
        (Pasted("/note pasted", [(6, 12)]), Command("note", "pasted")),
        ("//comment", Prompt("/comment")),
        ("//help", Prompt("/help")),
        ("  //help", Prompt("  /help")),
        ("/tmp", Command("tmp", "")),
        ("/", Command("", "")),
        ("/ ", Command("", "")),
        ("/?", Command("?", "")),
        ("/\0", Command("\0", "")),
        ("/" + "a" * 10_000, Command("a" * 10_000, "")),
    ],
)
def test_what_a_line_means(line, meaning):
    assert read_line(line) == meaning


@given(st.text())
def test_every_line_means_something_and_no_text_is_lost(line):
    match read_line(line):
        case Prompt(text):
            assert text in (line, line.replace("/", "", 1))
        case Command(name, rest):
            assert name in line
            assert rest in line
        case Errand(command):
            assert command in line


def test_the_worst_exit_code_wins():
    assert worst([]) == 0
    assert worst([0, 130, 4]) == 4
    assert worst([0, 4, 5]) == 5
    assert worst([5, 3, 0]) == 3


class Lines:
    """An input with lines given beforehand; a callable is called in place of a line."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.answers = []
        self.closed = False

    def read(self, prompt):
        while self.lines:
            line = self.lines.pop(0)
            if isinstance(line, BaseException):
                raise line
            if callable(line):
                line()
                continue
            return line
        raise EOFError

    def ask(self, question, choices):
        return self.answers.pop(0) if self.answers else None

    def close(self):
        self.closed = True


def questions(stage):
    return [request.messages[-1].text for request in stage.provider.requests]


def run(stage, *lines, script=False, arguments=()):
    with stage.opened(*arguments) as session:
        shell = Shell(session, Lines(*lines))
        return shell.run_script() if script else shell.run()


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def answers(n):
    return [[TextDelta("a"), STOP]] * n


def test_blank_lines_ask_again_and_send_nothing(tmp_path):
    stage = Stage(tmp_path, *answers(1))
    assert run(stage, "", "   ", "\t", "\u3000", "\u200b", "hi") == 0
    assert questions(stage) == ["hi"]


def test_an_unknown_command_is_not_sent_and_the_nearest_is_named(tmp_path):
    stage = Stage(tmp_path)
    run(stage, "/exti", "/claer")
    assert not stage.provider.requests
    assert "did you mean /exit?" in stage.renderer.notices[0]
    assert "//exti sends it as text" in stage.renderer.notices[0]


def test_two_slashes_send_one(tmp_path):
    stage = Stage(tmp_path, *answers(1))
    run(stage, "//help")
    assert questions(stage) == ["/help"]


def test_exit_and_the_bare_words_leave(tmp_path):
    for word in ("/exit", "exit", "quit", " /exit  "):
        stage = Stage(tmp_path)
        assert run(stage, word, "never read") == 0
        assert not stage.provider.requests


def test_a_command_gets_the_raw_rest_and_its_text_is_asked(tmp_path):
    def note(session, rest):
        """Note something."""
        return f"noted: {rest}"

    stage = Stage(tmp_path, *answers(1))
    stage.commands = {"note": note}
    run(stage, '/note "a b"  c')
    assert questions(stage) == ['noted: "a b"  c']


def test_a_failing_command_is_one_line_with_its_plugin_and_the_shell_goes_on(tmp_path):
    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError

    def bad(session, rest):
        raise {"1": ValueError("oops"), "2": Unspeakable(), "3": SystemExit(2)}[rest]

    stage = Stage(tmp_path, *answers(1))
    stage.commands = {"bad": bad, "number": lambda session, rest: 5}
    run(stage, "/bad 1", "/bad 2", "/bad 3", "/number", "hi")
    assert questions(stage) == ["hi"]
    assert len(stage.renderer.notices) == 4
    assert all("staged" in notice for notice in stage.renderer.notices)


def test_ctrl_c_stops_a_command_and_gives_the_prompt_back(tmp_path):
    def slow(session, rest):
        ctrl_c()
        raise AssertionError("it went on")

    stage = Stage(tmp_path, *answers(1))
    stage.commands = {"slow": slow}
    assert run(stage, "/slow", "hi") == 0
    assert questions(stage) == ["hi"]
    assert stage.renderer.notices == ["/slow was stopped"]


def test_a_command_that_asks_is_a_turn_like_any_other(tmp_path):
    def twice(session, rest):
        session.ask(rest)
        session.ask(rest)

    stage = Stage(tmp_path, [TextDelta("par"), ctrl_c, STOP], *answers(1))
    stage.commands = {"twice": twice}
    run(stage, "/twice x")
    assert questions(stage) == ["x", "x"]
    assert [ended.outcome for ended in stage.renderer.ended] == ["cancelled", "completed"]


def test_ctrl_c_during_an_answer_leaves_where_the_user_wants_it(tmp_path):
    stage = Stage(tmp_path, [TextDelta("par"), ctrl_c, STOP], toml='[shell]\ninterrupt = "exit"\n')
    assert run(stage, "hi", "never read") == 130
    assert questions(stage) == ["hi"]


def test_ctrl_c_and_the_end_of_input_leave(tmp_path):
    for end in (KeyboardInterrupt(), EOFError()):
        stage = Stage(tmp_path, *answers(1))
        assert run(stage, "hi", end, "never read") == 0
        assert questions(stage) == ["hi"]


def test_lines_of_a_script_end_with_the_worst_code(tmp_path):
    stage = Stage(tmp_path, *answers(1), [TextDelta("x")], [ProviderError("http", "500")], *answers(1))
    assert run(stage, "1", "2", "3", "4", script=True) == 3
    assert questions(stage) == ["1", "2", "3", "4"]


def test_an_input_that_fails_is_replaced_by_plain_lines(tmp_path):
    stage = Stage(tmp_path)
    with stage.opened() as session:
        broken = Lines(RuntimeError("no keys"))
        shell = Shell(session, broken)
        session.leaving = False
        shell.run()
    assert broken.closed
    assert any("no keys" in notice for notice in stage.renderer.notices)


@pytest.mark.parametrize("line", ["/exit", "exit", "//x", "/clear\nnow"])
def test_what_was_pasted_is_for_the_model(line):
    assert read_line(Pasted(line)) == Prompt(line)
    assert read_line(Pasted(" \n")) is None


def test_a_notice_goes_above_the_line_that_is_edited(tmp_path):
    class Editing(Lines):
        def __init__(self, *lines):
            super().__init__(*lines)
            self.above_line = []

        def above(self, draw):
            self.above_line.append(draw)
            draw()

    stage = Stage(tmp_path)
    with stage.opened() as session:
        reader = Editing(lambda: session.notify("hello"))
        Shell(session, reader).run()
    assert stage.renderer.notices == ["hello"]
    assert len(reader.above_line) == 1
