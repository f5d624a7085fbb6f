"""Lines that begin with a slash, typed on a terminal: commands, paths, mistakes, and what is sent."""

import pytest
from talk import Talk

PLUGIN = r'''
from mino_core import hookimpl

def note(session, rest):
    """Say what was typed behind it."""
    session.notify(f"<{rest}>")

class Unspeakable:
    def __str__(self):
        raise RuntimeError("it cannot be said")
    __repr__ = __str__

def bad(session, rest):
    """Fail in the way that is asked for."""
    match rest:
        case "raise":
            raise ValueError("not like this")
        case "object":
            return Unspeakable()
        case "error":
            raise ValueError(Unspeakable())
        case "large":
            return "x" * 10_000_000

@hookimpl
def mino_commands():
    return {"note": note, "bad": bad}
'''


@pytest.fixture
def talk(tmp_path):
    with Talk(tmp_path, columns=100, rows=50, args=("--plain",), plugin=PLUGIN) as talk:
        talk.at_prompt()
        yield talk


def enter(talk, line):
    """Type a line; wait for the prompt after what it did."""
    talk.terminal.type(line)
    talk.terminal.press("enter")
    talk.at_prompt()


@pytest.mark.parametrize(
    "line",
    ["/home/user/x.py explain", "/etc/hosts looks wrong", "/api/v1/接口 的实现", "/regex/g", "/tmp/"],
)
def test_a_path_is_sent_as_it_is(talk, line):  # SL-01
    talk.answers("ok")
    enter(talk, line)
    assert talk.asked == [line]


def test_a_path_of_one_word_is_not_lost(tmp_path):  # SL-01
    with Talk(tmp_path) as talk:
        talk.at_prompt()
        enter(talk, "/tmp")
        assert "there is no command /tmp" in talk.terminal.text
        assert "//tmp sends it as text" in talk.terminal.text
        talk.terminal.press("up")
        talk.terminal.wait_until(lambda: talk.terminal.lines[talk.terminal.cursor[0]].endswith("/tmp"))
        assert talk.asked == []


@pytest.mark.parametrize(("line", "meant"), [("/exti", "/exit"), ("/claer", "/clear"), ("/nte", "/note")])
def test_a_typing_error_names_the_nearest_and_sends_nothing(talk, line, meant):  # SL-02
    enter(talk, line)
    assert f"there is no command {line}; did you mean {meant}?" in " ".join(talk.terminal.text.split())
    assert talk.asked == []


@pytest.mark.parametrize(
    "rest", ['"a b" c', "'' x", "a\\ b", '"one" "two"', "  spaces   within", "$HOME `ls` {x}", "漢 é"]
)
def test_a_command_gets_the_rest_of_the_line_as_it_was_typed(talk, rest):  # SL-05
    enter(talk, f"/note {rest}")
    assert f"<{rest.strip()}>" in talk.terminal.text


def test_two_slashes_send_what_looks_like_a_command(talk):  # SL-06
    talk.answers("ok", "ok")
    enter(talk, "//help")
    enter(talk, "//comment")
    assert talk.asked == ["/help", "/comment"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", "ValueError: not like this"),
        ("object", "TypeError: a command returns text or None, not Unspeakable"),
        ("error", "its message cannot be shown"),
    ],
)
def test_a_command_that_fails_is_one_line_and_costs_nothing(talk, how, words):  # SL-07
    talk.answers("fine")
    enter(talk, f"/bad {how}")
    shown = " ".join(talk.terminal.text.split())
    assert words in shown
    assert "plugin 'tried'" in shown
    assert "/bad" in shown
    assert "Traceback" not in shown
    enter(talk, "still here")
    assert talk.asked == ["still here"]


def test_a_command_that_returns_very_much_is_asked_as_it_is(talk):  # SL-07
    talk.answers("fine")
    enter(talk, "/bad large")
    assert [len(text) for text in talk.asked] == [10_000_000]


@pytest.mark.parametrize(
    "line", ["/", "/ ", "/?", "/" + "a" * 10_000, "/exit now", "/help no-such-thing", "/clear it", "/É"]
)
def test_odd_forms_are_told_and_send_nothing(talk, line):  # SL-09
    enter(talk, line)
    shown = talk.terminal.text
    assert "Traceback" not in shown
    assert talk.asked == []
    assert "there is no command" in shown or "usage: /" in shown


@pytest.mark.parametrize("line", ["///", "/\\", "/a/b"])
def test_what_is_no_command_is_text(talk, line):  # SL-09
    talk.answers("ok")
    enter(talk, line)
    if talk.asked:
        assert talk.asked == [line.replace("//", "/", 1) if line.startswith("//") else line]
    else:
        assert "there is no command" in talk.terminal.text


@pytest.mark.parametrize("line", ["/exit   ", " /exit", "\t/exit"])
def test_blanks_around_a_command_do_not_matter(talk, line):  # SL-09
    talk.terminal.type(line.replace("\t", "  "))
    talk.terminal.press("enter")
    assert talk.terminal.wait_exit() == 0


def test_help_lists_each_command_there_is_with_where_it_comes_from(tmp_path):  # SL-10
    with Talk(tmp_path, columns=200, rows=60, args=("--plain",), plugin=PLUGIN) as talk:
        talk.at_prompt()
        enter(talk, "/help")
        origins, plugin = {}, ""
        for line in talk.terminal.text.splitlines():
            plugin = line.strip() if line.strip().endswith(":") else plugin
            if line.strip().startswith("/"):
                origins[line.split()[0]] = plugin
        assert origins["/note"] == "tried:"
        assert origins["/exit"] == "commands:"
        assert origins["/trust"] == "prompts:"
        for name in origins:
            enter(talk, f"/help {name}")
        assert "there is no command" not in talk.terminal.text
