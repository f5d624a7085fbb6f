"""What surrounds the input line in the real mino: editors of every kind, its file, letters, its ends."""

import os
import shlex
import signal

import pytest
from mino_core.testing import HANG, Server, Terminal, chat, home, mino
from mino_core.testing.strict import problems
from talk import CONFIG, Talk, is_stopped


@pytest.mark.parametrize(
    ("script", "told", "line"),
    [
        ("exit 3", "ended with code 3; the line is as it was", "text"),
        ("kill -9 $$", "ended with code -9; the line is as it was", "text"),
        ('rm "$1"', "No such file or directory", "text"),
        ('rm "$1"; mkdir "$1"', "Is a directory", "text"),
        (r'printf "a\377b\000c\033[7mx\r\ny\r\n" > "$1"', "[7mx", "a\ufffdb\0c\x1b[7mx\ny"),
        ('stty raw -echo; printf "from outside" > "$1"', "You> from outside", "from outside"),
        ('yes "a long line" | head -n 5000 > "$1"', "     a long line", "\n".join(["a long line"] * 5000)),
        ('head -c 100000 /dev/zero | tr "\\0" a > "$1"', "aaaa", "a" * 100_000),
    ],
)
def test_whatever_an_editor_does_the_line_is_what_it_left_or_what_it_was(tmp_path, script, told, line):
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    with Talk(tmp_path, VISUAL=str(editor)) as talk:
        talk.answers("granted")
        terminal = talk.at_prompt()
        terminal.type("text")
        terminal.press("ctrl-x", "ctrl-e")
        words = told.replace(" ", "")  # wherever a long path lets the rows end
        terminal.wait_until(lambda: words in terminal.text.replace("\n", "").replace(" ", ""))
        terminal.press("enter")
        terminal.wait_for("granted")
        assert talk.asked == [line]


def test_a_line_that_an_editor_has_emptied_comes_back_with_up(tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\n: > "$1"\n')
    editor.chmod(0o755)
    with Talk(tmp_path, EDITOR=str(editor)) as talk:
        terminal = talk.at_prompt()
        terminal.type("a long thought")
        terminal.wait_for("thought")
        terminal.press("ctrl-x", "ctrl-e")
        terminal.wait_until(lambda: terminal.text.endswith("\nYou>"))
        terminal.type("other")
        terminal.wait_until(lambda: terminal.text.endswith("\nYou> other"))
        terminal.press("ctrl-u", "up")
        terminal.wait_for("You> a long thought")


def test_ctrl_z_in_the_editor_stops_both_and_both_go_on(tmp_path):
    mark = tmp_path / "mark"
    os.mkfifo(mark)
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho it runs\ncat {mark} > "$1"\n')
    editor.chmod(0o755)
    with Talk(tmp_path, EDITOR=str(editor)) as talk:
        terminal = talk.at_prompt()
        terminal.type("text")
        terminal.press("ctrl-x", "ctrl-e")
        terminal.wait_for("it runs")
        terminal.press("ctrl-z")
        terminal.wait_until(lambda: is_stopped(terminal.pid))
        os.killpg(terminal.pid, signal.SIGCONT)
        mark.write_text("from outside")
        terminal.wait_for("You> from outside")
        terminal.type("!")
        terminal.wait_for("You> from outside!")


def test_a_file_of_the_past_that_is_lost_is_told_once_and_up_goes_on(tmp_path):
    with Talk(tmp_path) as talk:
        talk.answers("r1", "r2")
        terminal = talk.at_prompt()
        terminal.press("up")  # it has been looked for by now
        terminal.type("x")
        terminal.wait_for("You> x")
        terminal.press("ctrl-u")
        (talk.home / "input-history.jsonl").mkdir()
        for text in ("one", "two"):
            terminal.type(f"{text}\r")
            talk.at_prompt()
        terminal.wait_for("You>", count=3)
        assert terminal.text.replace("\n", "").replace(" ", "").count("whatistypedisnotkeptthere") == 1
        terminal.press("up", "up")
        terminal.wait_for("You> one", count=2)


def test_keys_move_and_delete_by_what_a_reader_takes_for_a_letter(tmp_path):
    with Talk(tmp_path) as talk:
        talk.answers("r1", "r2")
        family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
        terminal = talk.at_prompt()
        terminal.type(f"ae\u0301{family}🇩🇪🇫🇷👍🏽漢")
        terminal.press("left", "left", "left", "backspace", "home", "right", "delete", "end", "backspace")
        terminal.press("enter")
        talk.at_prompt()
        terminal.type(f"x{family}y")
        terminal.press("ctrl-b", "ctrl-b", "ctrl-d", "ctrl-f", "ctrl-h")
        terminal.press("enter")
        talk.at_prompt()
        assert talk.asked == [f"a{family}🇫🇷👍🏽", "x"]


def test_stopping_before_and_within_an_answer_leaves_a_conversation_that_goes_on(tmp_path):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat(HANG))
        talk.server.reply(*chat("par", HANG))
        talk.answers("granted")
        terminal = talk.at_prompt()
        terminal.type("q1\r")
        talk.server.wait_for_request()
        terminal.press("ctrl-c")
        terminal.wait_for("[cancelled]")
        talk.at_prompt().type("q2\r")
        terminal.wait_for("par")
        terminal.press("ctrl-c")
        terminal.wait_for("[cancelled]", count=2)
        talk.at_prompt().type("q3\r")
        terminal.wait_for("granted")
        assert [problems("chat", request.body) for request in talk.server.requests] == [[], [], []]
        assert "par" in str(talk.server.requests[2].json)


def shell(tmp_path, command):
    """A terminal in which a shell runs mino as `$MINO`, and the server that it asks."""
    server = Server()
    server.answer(lambda request: chat("granted"))
    environ = home(tmp_path, CONFIG.format(url=server.url), MINO=shlex.join(mino()))
    return server, Terminal(["/bin/sh", "-c", command], environ, cwd=tmp_path)


def test_a_terminal_with_nothing_on_standard_input_ends_at_once(tmp_path):
    server, terminal = shell(tmp_path, "eval $MINO </dev/null")
    with server, terminal:
        assert terminal.wait_exit() == 2
        assert "nothing was asked" in terminal.text
        assert "You>" not in terminal.text
        assert not server.requests


def test_a_chat_whose_answers_go_to_a_file_asks_on_standard_error(tmp_path):
    server, terminal = shell(tmp_path, "eval $MINO >answers")
    with server, terminal:
        for count in (1, 2):
            terminal.wait_for("You>", count=count)
            terminal.type("one\n")
        terminal.wait_for("You>", count=3)
        terminal.press("ctrl-d")
        assert terminal.wait_exit() == 0
        assert terminal.text.count("mino: m (fake") == 1
        assert terminal.modes == terminal.modes_at_start
        assert (tmp_path / "answers").read_text().replace("\n", "") == "grantedgranted"
        assert len(server.requests) == 2
