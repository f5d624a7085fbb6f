"""The line editor in the real mino on a real terminal: what is typed and pasted there is what is asked."""

import json
import os
import re
import signal
import stat

import pytest
from mino_core.testing import chat
from talk import Talk, press_ctrl_z

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
    with Talk(tmp_path) as talk:
        yield talk


def test_a_coloured_prompt_does_not_break_the_wrapping_of_a_long_line(tmp_path):
    with Talk(tmp_path, columns=40, rows=12) as talk:
        terminal = talk.at_prompt()
        terminal.type("a" * 100)
        terminal.wait_until(lambda: terminal.text.count("a" * 5) and terminal.cursor[1] == 105 % 40)
        row = next(n for n, line in enumerate(terminal.lines) if line.startswith("You>"))
        assert "".join(terminal.lines[row : row + 3]) == "You> " + "a" * 100
        assert terminal.cursor == (row + 2, 105 % 40)


def test_blank_lines_send_nothing(talk):
    talk.answers("well")
    for blank in ("", "   ", "\t", "\u3000", "\u00a0", "\u200b"):
        talk.at_prompt().type(blank + "\r")
    talk.at_prompt().type("hi\r")
    talk.terminal.wait_for("well")
    assert talk.asked == ["hi"]


def test_backspace_removes_one_wide_letter(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type("漢字")
    terminal.press("backspace")
    terminal.type("x")
    terminal.wait_for("You> 漢x")
    assert [line for line in terminal.lines if "You>" in line] == ["You> 漢x"]
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == ["漢x"]


def test_combining_marks_and_joined_emoji_are_sent_as_pasted(talk):
    talk.answers("ok")
    text = "e\u0301" * 5 + "\U0001f469\u200d\U0001f4bbx"
    terminal = talk.at_prompt()
    terminal.paste(text)
    terminal.press("home", "end", "backspace", "enter")
    talk.at_prompt()
    assert talk.asked == [text[:-1]]


@pytest.mark.parametrize(
    ("pasted", "asked"),
    [
        ("one\ntwo\nthree", "one\ntwo\nthree"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("all:\n\tcc -o x x.c", "all:\n\tcc -o x x.c"),
        ("/exit", "/exit"),
        ("exit", "exit"),
        (" /exit\nnow", " /exit\nnow"),
        ("//x", "//x"),
    ],
)
def test_a_paste_is_one_message_as_it_is(talk, pasted, asked):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type(f"\x1b[200~{pasted}\x1b[201~\r")
    talk.at_prompt()
    assert talk.asked == [asked]


def test_a_newline_at_the_end_of_a_paste_does_not_send_it(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.paste("draft\n")
    terminal.wait_for("draft")
    terminal.type("!")
    terminal.wait_for("!")
    assert talk.asked == []
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == ["draft\n!"]


def test_a_typed_slash_before_a_paste_makes_it_a_command(talk):
    terminal = talk.at_prompt()
    terminal.paste("exit")
    terminal.press("home")
    terminal.type("/\r")
    assert terminal.wait_exit() == 0
    assert talk.asked == []


def test_a_paste_that_was_dropped_leaves_no_mark_on_what_is_typed(talk):
    terminal = talk.at_prompt()
    terminal.paste("/exit")
    terminal.press("ctrl-u")
    terminal.type("/exit\r")
    assert terminal.wait_exit() == 0


def test_lines_of_a_paste_without_brackets_are_sent_in_turn_and_none_is_a_command(talk):
    talk.answers("r1", "r2", "r3", "r4")
    talk.at_prompt().type("l1\r/clear\r/exit\rl4\r")
    talk.terminal.wait_for("r4")
    assert talk.asked == ["l1", "/clear", "/exit", "l4"]
    assert len(talk.server.requests[-1].json["messages"]) == 8  # with the instructions; nothing was cleared
    assert talk.server.most_at_once == 1


def test_hidden_characters_of_a_paste_are_kept_marked_and_told(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    text = "a\u202eb\U000e0041c \U0001f3f4\U000e0067\U000e0062\U000e007f می‌خواهم"
    terminal.paste(text)
    terminal.wait_for("2 hidden characters (U+202E, U+E0041)")
    terminal.wait_for("You> a\ufffdb\ufffdc")
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == [text]
    assert b"\xe2\x80\xae" not in terminal.raw


def test_enter_sends_and_alt_enter_and_ctrl_j_go_to_a_new_line(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type("one")
    terminal.press("alt-enter")
    terminal.type("two")
    terminal.press("ctrl-j")
    terminal.type("three")
    terminal.wait_for("three")
    assert terminal.lines[terminal.cursor[0]] == "     three"
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == ["one\ntwo\nthree"]


def test_a_paste_that_is_taller_than_the_screen_is_in_the_scrollback_whole(tmp_path):
    with Talk(tmp_path, columns=40, rows=10) as talk:
        talk.answers("granted")
        lines = [f"line {n} of the paste" for n in range(40)]
        terminal = talk.at_prompt()
        terminal.paste("\n".join(lines))
        terminal.wait_for(lines[-1])
        terminal.press("enter")
        terminal.wait_for("granted")
        shown = [line for line in terminal.text.split("\n") if "of the paste" in line]
        assert shown == ["You> " + lines[0], *("     " + line for line in lines[1:])]
        assert talk.asked == ["\n".join(lines)]


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (3, 2), (10, 3)])
def test_a_tiny_window_does_not_stop_it(tmp_path, columns, rows):
    with Talk(tmp_path, columns=columns, rows=rows) as talk:
        talk.answers("k")
        talk.terminal.wait_until(lambda: 2004 in talk.terminal.private_modes)
        talk.terminal.type("/he")
        talk.terminal.press("tab", "ctrl-u")
        talk.terminal.type("abc 漢字 def\r")
        talk.server.wait_for_request()
        talk.terminal.type("\x04")
        assert talk.terminal.wait_exit() == 0
        assert talk.asked == ["abc 漢字 def"]


LATER = """
import threading
from mino_core import hookimpl

def later(session, text):
    "Say something from a thread."
    def speak():
        open(text).read()  # a pipe: until the test writes to it
        session.input.above(lambda: session.notify("said from a thread"))
    threading.Thread(target=speak, daemon=True).start()

@hookimpl
def mino_commands():
    return {"later": later}
"""


def test_what_a_thread_has_to_say_stands_above_the_line_that_is_being_typed(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Talk(tmp_path, plugin=LATER) as talk:
        talk.answers("granted")
        talk.at_prompt().type(f"/later {pipe}\r")
        terminal = talk.at_prompt()
        terminal.type("half a")
        terminal.wait_for("You> half a")
        pipe.write_text("now")
        terminal.wait_for("said from a thread")
        terminal.type(" line")
        terminal.wait_for("You> half a line")
        above, line = terminal.lines[terminal.cursor[0] - 1 : terminal.cursor[0] + 1]
        assert (above, line) == ("said from a thread", "You> half a line")
        terminal.press("enter")
        talk.at_prompt()
        assert talk.asked == ["half a line"]


PREPARED = """
from pathlib import Path
from mino_core import hookimpl

class Slow:
    def __init__(self, settings):
        self.mark = Path(settings.text("mark"))
    def warm(self):
        self.mark.touch()
    def stream(self, request):
        return iter(())

@hookimpl
def mino_providers():
    return {"slow": Slow}
"""


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_what_the_first_question_would_wait_for_is_done_while_it_is_typed(tmp_path, term):
    mark = tmp_path / "mark"
    toml = f'[providers.slow]\nkind = "slow"\nmodel = "m"\nmark = "{mark}"\n'
    with Talk(tmp_path, toml, plugin=PREPARED, args=("--provider", "slow"), TERM=term) as talk:
        terminal = talk.at_prompt()
        terminal.wait_until(mark.exists)
        terminal.type("x")
        terminal.wait_for("You> x")


# -- Ctrl-C and Ctrl-D ------------------------------------------------------------------------------


def test_ctrl_c_clears_a_line_and_leaves_from_an_empty_one(talk):
    terminal = talk.at_prompt()
    terminal.type("abc")
    terminal.wait_for("You> abc")
    terminal.press("ctrl-c")
    terminal.wait_until(lambda: "abc" not in terminal.text)
    talk.ends_by("ctrl-c")
    assert talk.asked == []


def test_ctrl_c_twice_on_an_empty_line_is_as_good_as_once(talk):
    talk.at_prompt()
    talk.ends_by("ctrl-c", "ctrl-c")
    assert "Traceback" not in talk.terminal.text


def test_a_line_that_ctrl_c_cleared_comes_back_with_up(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type("a long thought")
    terminal.press("ctrl-c", "up", "enter")
    talk.at_prompt()
    assert talk.asked == ["a long thought"]


def test_ctrl_d_on_an_empty_line_leaves_on_a_row_of_its_own(talk):
    talk.at_prompt()
    talk.ends_by("ctrl-d")
    assert talk.terminal.cursor[1] == 0


def test_ctrl_d_within_a_line_deletes_forward(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type("abc")
    terminal.press("ctrl-d")
    terminal.type("dx")
    terminal.press("left", "ctrl-d", "enter")
    talk.at_prompt()
    assert talk.asked == ["abcd"]


def test_sigterm_at_the_prompt_leaves_the_terminal_as_it_was(talk):
    terminal = talk.at_prompt()
    terminal.type("half a li")
    terminal.wait_for("half a li")
    terminal.signal(15)
    assert terminal.wait_exit() == -15
    assert terminal.modes == terminal.modes_at_start
    assert terminal.private_modes == {7, 25}
    assert "Traceback" not in terminal.text


# -- typing ahead ------------------------------------------------------------------------------------


def streaming(talk, gate, first="first words"):
    """A reply that has begun, and goes on when the gate is opened."""
    talk.server.reply(*chat(first, gate, " and the last"))
    talk.at_prompt().type("q1\r")
    talk.terminal.wait_for(first)


def test_a_line_typed_during_an_answer_is_sent_after_it_and_never_shown_in_it(talk, gate):
    streaming(talk, gate)
    talk.answers("second")
    talk.terminal.type("q2\r")
    gate.set()
    talk.terminal.wait_for("second")
    assert talk.asked == ["q1", "q2"]
    assert talk.server.most_at_once == 1
    assert "first words and the last" in talk.terminal.text


def test_half_a_line_typed_during_an_answer_is_at_the_next_prompt(talk, gate):
    streaming(talk, gate)
    talk.terminal.type("half a ")
    gate.set()
    talk.terminal.wait_for("You> half a")
    talk.answers("granted")
    talk.terminal.type("line\r")
    talk.terminal.wait_for("granted")
    assert talk.asked == ["q1", "half a line"]


def test_what_was_typed_ahead_survives_a_ctrl_c_during_the_answer(talk, gate):
    streaming(talk, gate)
    talk.terminal.type("kept")
    talk.terminal.press("ctrl-c")
    talk.terminal.wait_for("You> kept")
    talk.server.wait_for_close()
    talk.answers("granted")
    talk.terminal.press("enter")
    talk.terminal.wait_for("granted")
    assert talk.asked == ["q1", "kept"]


def test_commands_typed_ahead_are_commands(talk, gate):
    streaming(talk, gate)
    talk.answers("second")
    talk.terminal.type("q2\r/exit\r")
    gate.set()
    assert talk.terminal.wait_exit() == 0
    assert talk.asked == ["q1", "q2"]


# -- questions ---------------------------------------------------------------------------------------


@pytest.fixture
def asking(tmp_path):
    with Talk(tmp_path, plugin=ASKING) as talk:
        yield talk


@pytest.mark.parametrize(
    ("choices", "keys", "said"),
    [
        ("yes,no", "yes\r", "yes"),
        ("yes,no", "Y\r", "yes"),
        ("yes,no", "\r", "no"),
        ("a,b", "b", "b"),
        ("yes,no", "maybe\ryes\r", "yes"),
        ("once,always", "\r", "None"),
        ("yes,no", "\x04", "None"),
        ("yes,no", "\x1b", "None"),
    ],
)
def test_a_question_is_answered_by_what_is_typed_after_it(asking, choices, keys, said):
    asking.at_prompt().type(f"/ask {choices}\r")
    asking.terminal.wait_for("]")
    asking.terminal.type(keys)
    asking.terminal.wait_for(f"said {said}")
    asking.at_prompt()
    asking.ends_by("ctrl-d")


def test_keys_typed_before_a_question_do_not_answer_it(asking, gate):
    streaming(asking, gate)
    asking.terminal.type("/ask yes,no\ryes\r")
    gate.set()
    asking.terminal.wait_for("Really?")
    asking.answers("so be it")
    asking.terminal.press("enter")
    asking.terminal.wait_for("said no")
    asking.terminal.wait_for("so be it")
    assert asking.asked == ["q1", "yes"]


def test_ctrl_c_at_a_question_stops_what_asks(asking):
    asking.at_prompt().type("/ask yes,no\r")
    asking.terminal.wait_for("[yes/no]")
    asking.terminal.press("ctrl-c")
    asking.terminal.wait_for("/ask was stopped")
    asking.at_prompt()
    asking.ends_by("ctrl-d")


# -- what was typed before ---------------------------------------------------------------------------


def test_what_was_typed_comes_back_in_the_next_run_whole(tmp_path):
    with Talk(tmp_path) as talk:
        talk.answers("ok")
        talk.at_prompt().type("first\x0asecond\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        file = talk.home / "input-history.jsonl"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [json.loads(line) for line in file.read_text().splitlines()] == ["first\nsecond"]
    with Talk(tmp_path) as talk:
        talk.answers("ok")
        talk.at_prompt()
        talk.terminal.press("up", "enter")
        talk.at_prompt()
        assert talk.asked == ["first\nsecond"]


def test_a_refused_command_comes_back_with_up(talk):
    talk.at_prompt().type("/exti\r")
    talk.terminal.wait_for("did you mean /exit?")
    terminal = talk.at_prompt()
    terminal.press("up")
    terminal.wait_for("You> /exti", count=2)


def test_ctrl_r_finds_what_was_typed_before(talk):
    talk.answers("r1", "r2", "r3")
    for text in ("the needle", "hay"):
        talk.at_prompt().type(text + "\r")
    terminal = talk.at_prompt()
    terminal.press("ctrl-r")
    terminal.type("needs")
    terminal.wait_for("search back, not found: needs")
    terminal.press("backspace")
    terminal.wait_for("search back: need")
    terminal.wait_for("You> the needle", count=2)
    terminal.press("enter", "enter")
    terminal.wait_for("r3")
    assert talk.asked[-1] == "the needle"


def test_a_secret_that_was_typed_is_not_kept(tmp_path):
    with Talk(tmp_path, toml='api_key = "sk-CANARY-1234"\n') as talk:
        talk.answers("ok")
        talk.at_prompt().type("my key is sk-CANARY-1234\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        kept = [path for path in talk.home.rglob("*") if path.is_file() and path.name != "config.toml"]
        assert not any(b"CANARY" in path.read_bytes() for path in kept)


def test_where_the_conversation_is_not_kept_neither_is_what_was_typed(tmp_path):
    with Talk(tmp_path, args=("--no-history",)) as talk:
        talk.answers("ok")
        talk.at_prompt().type("between us\r")
        talk.at_prompt().press("up")
        talk.terminal.wait_for("You> between us", count=2)
        talk.terminal.press("ctrl-u")
        talk.ends_by("ctrl-d")
        assert not [
            path for path in talk.home.rglob("*") if path.is_file() and b"between" in path.read_bytes()
        ]


def test_a_damaged_file_is_put_aside_and_told_once(tmp_path):
    with Talk(tmp_path) as talk:
        junk = bytes(range(256)) * 256
        file = talk.home / "input-history.jsonl"
        file.write_bytes(junk)
        # mino reads it once its prompt is there
        told = "input-history.jsonlwasdamaged"  # wherever the long path lets the rows end
        talk.terminal.wait_until(lambda: told in "".join(talk.terminal.text.split()))
        assert (talk.home / "input-history.jsonl.damaged-1").read_bytes() == junk


# -- completion, editors, terminals ------------------------------------------------------------------


def test_a_slash_shows_the_commands_with_their_help_and_tab_completes(talk):
    terminal = talk.at_prompt()
    terminal.type("/sta")
    terminal.wait_for("Show what answers")
    terminal.press("tab", "enter")
    terminal.wait_for("conversation")
    terminal = talk.at_prompt()
    terminal.type("/model ")
    terminal.press("tab")
    terminal.wait_for("You> /model m")


def test_ctrl_x_ctrl_e_edits_the_line_in_another_program(tmp_path):
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf " and more\\n" >> "$1"\n')
    script.chmod(0o755)
    with Talk(tmp_path, VISUAL=str(script)) as talk:
        talk.answers("ok")
        terminal = talk.at_prompt()
        terminal.type("text")
        terminal.press("ctrl-x", "ctrl-e")
        terminal.wait_for("text and more")
        terminal.press("enter")
        talk.at_prompt()
        assert talk.asked == ["text and more"]


def test_an_editor_that_is_not_there_is_told_and_the_line_stays(tmp_path):
    with Talk(tmp_path, VISUAL="/no/such/editor") as talk:
        talk.answers("ok")
        terminal = talk.at_prompt()
        terminal.type("text")
        terminal.press("ctrl-x", "ctrl-e")
        terminal.wait_for("/no/such/editor cannot be started")
        terminal.press("enter")
        talk.at_prompt()
        assert talk.asked == ["text"]


def test_vi_keys(tmp_path):
    with Talk(tmp_path, toml='[input]\nmode = "vi"\n') as talk:
        talk.answers("ok")
        terminal = talk.at_prompt()
        terminal.type("abc")
        terminal.press("escape")
        terminal.type("0x")
        terminal.wait_for("You> bc")
        terminal.press("enter")
        talk.at_prompt()
        assert talk.asked == ["bc"]


@pytest.mark.parametrize("name", [None, "foo-bar", ""])
def test_an_unknown_terminal_works(tmp_path, name):
    with Talk(tmp_path, TERM=name) as talk:
        talk.answers("ok", "fine")
        talk.at_prompt().type("one\r")
        talk.at_prompt().type("two\r")
        talk.at_prompt()
        assert talk.asked == ["one", "two"]
        talk.ends_by("ctrl-d")


def test_no_color_leaves_no_colour_in_the_line(tmp_path):
    with Talk(tmp_path, NO_COLOR="1") as talk:
        terminal = talk.at_prompt()
        terminal.type("/he")
        terminal.wait_for("List the commands")
        terminal.press("tab")
        terminal.wait_for("You> /help")
        colours = [
            code for codes in re.findall(rb"\x1b\[([\d;]*)m", terminal.raw) for code in codes.split(b";")
        ]
        assert not [code for code in colours if code and 30 <= int(code) % 60 < 49]


def test_a_resize_leaves_one_line_as_it_was(talk):
    terminal = talk.at_prompt()
    terminal.type("some words that stay")
    terminal.wait_for("stay")
    terminal.resize(60, 20)
    talk.answers("granted")
    terminal.type("!\r")
    terminal.wait_for("granted")
    assert talk.asked == ["some words that stay!"]


def test_where_rows_are_wrapped_anew_all_that_became_of_the_line_is_taken_back(tmp_path):
    with Talk(tmp_path, columns=40, TMUX="any") as talk:
        terminal = talk.at_prompt()
        terminal.type("a" * 60)
        terminal.wait_for("a" * 25)
        drawn = len(terminal.raw)
        terminal.resize(20, 24)
        terminal.wait_until(lambda: b"\x1b[3A\x1b[J" in terminal.raw[drawn:])
        terminal.press("ctrl-c")
        talk.ends_by("ctrl-d")


def test_ctrl_z_gives_the_terminal_back_until_somebody_goes_on(talk, gate):
    streaming(talk, gate)
    terminal = talk.terminal
    press_ctrl_z(terminal)
    terminal.signal(signal.SIGCONT)
    terminal.wait_until(lambda: 2004 in terminal.private_modes)
    assert terminal.modes != terminal.modes_at_start
    gate.set()
    talk.at_prompt()
    talk.ends_by("ctrl-d")


def test_ctrl_z_at_the_prompt_keeps_the_line(talk):
    talk.answers("granted")
    terminal = talk.at_prompt()
    terminal.type("half a")
    terminal.wait_for("You> half a")
    press_ctrl_z(terminal)
    terminal.signal(signal.SIGCONT)
    terminal.wait_until(lambda: 2004 in terminal.private_modes)
    terminal.type(" line")
    terminal.wait_for("You> half a line")
    assert terminal.text.count("You>") == 1
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == ["half a line"]


@pytest.mark.parametrize("text", ["", "half a line"])
def test_a_ctrl_c_while_mino_is_stopped_is_one_at_the_prompt(talk, text):
    terminal = talk.at_prompt()
    terminal.type(text)
    terminal.wait_for(f"You> {text}".rstrip())
    press_ctrl_z(terminal)
    terminal.signal(signal.SIGINT)
    terminal.signal(signal.SIGCONT)
    if text:
        terminal.wait_until(lambda: 2004 in terminal.private_modes)
        terminal.press("ctrl-d")
    assert terminal.wait_exit() == 0
    assert "Traceback" not in terminal.text
    assert terminal.modes == terminal.modes_at_start


def test_ctrl_z_at_a_question_keeps_what_was_answered_so_far(asking):
    asking.at_prompt().type("/ask yes,no,always\r")
    terminal = asking.terminal
    terminal.wait_for("[yes/no/always]")
    terminal.type("alw")
    terminal.wait_for("] alw")
    press_ctrl_z(terminal)
    terminal.signal(signal.SIGCONT)
    terminal.wait_until(lambda: 2004 in terminal.private_modes)
    terminal.press("enter")
    terminal.wait_for("said always")
    asking.at_prompt()
    asking.ends_by("ctrl-d")


def test_a_kill_by_quit_leaves_the_terminal_as_it_was(talk, gate):
    streaming(talk, gate)
    talk.terminal.press("ctrl-\\")
    assert talk.terminal.wait_exit() == -signal.SIGQUIT
    assert talk.terminal.modes == talk.terminal.modes_at_start
    assert talk.terminal.private_modes == {7, 25}
