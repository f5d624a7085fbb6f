"""A project's `.mino`, and commands in Markdown, with a person at the terminal and with nobody there."""

from pathlib import Path

import pytest
from mino_core.testing import Server, Terminal, chat, mino, run
from pointed import pointed

PLUGIN = """
from mino_core import hookimpl
@hookimpl
def mino_commands():
    return {"from-the-plugin": lambda session, rest: "asked by the plugin"}
"""


@pytest.fixture
def server():
    with Server() as server:
        yield server


@pytest.fixture
def place(tmp_path):
    """A directory that comes with a folder of its own."""
    folder = tmp_path / "work" / ".mino"
    (folder / "commands/git").mkdir(parents=True)
    (folder / "plugins").mkdir()
    (folder / "commands/git/say.md").write_text("Say $ARGUMENTS.")
    (folder / "plugins/extra.py").write_text(PLUGIN)
    return folder.parent


@pytest.fixture(params=["editor", "lines"])
def opened(request, tmp_path, server, place):
    """Opens a chat in that directory."""
    environ = pointed(tmp_path, server)
    terminals = []

    def opened(*args):
        argv = mino("--input", request.param, *args)
        terminals.append(Terminal(argv, environ, columns=100, rows=40, cwd=place))
        return terminals[-1].__enter__()

    yield opened
    for terminal in terminals:
        terminal.close()


def enter(terminal, text):
    terminal.type(text)
    terminal.press("enter")


def leave(terminal):
    terminal.wait_for("You>")
    enter(terminal, "/exit")
    assert terminal.wait_exit() == 0


def test_what_is_there_is_listed_before_it_is_trusted_and_asked_once(opened, server, place):
    server.reply(*chat("first answer"))
    server.reply(*chat("second answer"))
    terminal = opened()
    terminal.wait_for("Trust it?")
    shown = terminal.text
    assert str(place / ".mino") in "".join(shown.split("\n"))
    assert "commands/git/say.md" in shown
    assert "plugins/extra.py, code that runs as you" in shown
    enter(terminal, "yes")
    terminal.wait_for("You>")
    enter(terminal, "/git:say hello")
    terminal.wait_for("first answer")
    enter(terminal, "/from-the-plugin")
    terminal.wait_for("second answer")
    asked = [request.json["messages"][-1]["content"] for request in server.requests]
    assert asked == ["Say hello.", "asked by the plugin"]
    leave(terminal)

    again = opened()
    again.wait_for("You>")
    assert "Trust it?" not in again.text
    leave(again)


def test_enter_alone_is_no_and_is_not_asked_again(opened, server):
    terminal = opened()
    terminal.wait_for("Trust it?")
    terminal.press("enter")
    terminal.wait_for("You>")
    enter(terminal, "/git:say hello")
    terminal.wait_for("there is no command /git:say")
    leave(terminal)
    again = opened()
    again.wait_for("You>")
    assert "Trust it?" not in again.text


def test_ctrl_c_at_the_question_decides_nothing(opened, server):
    terminal = opened()
    terminal.wait_for("Trust it?")
    terminal.press("ctrl-c")
    leave(terminal)
    opened().wait_for("Trust it?")


def test_keys_typed_before_the_question_do_not_answer_it(tmp_path, server, place):
    """What was typed ahead is meant for the prompt, whatever it says."""
    server.reply(*chat("an answer"))
    with Terminal(mino(), pointed(tmp_path, server), columns=100, rows=40, cwd=place) as terminal:
        terminal.type("yes")
        terminal.wait_for("Trust it?")
        terminal.press("enter")
        terminal.wait_for("You> yes")
        terminal.press("enter")
        terminal.wait_for("an answer")
    assert [request.json["messages"][-1]["content"] for request in server.requests] == ["yes"]


@pytest.mark.parametrize("args", [("-p", "hi"), ("-p", "hi", "--yes"), ("-i",)])
def test_nobody_to_ask_means_ignored_with_a_notice(tmp_path, server, place, args):
    server.reply(*chat("an answer"))
    environ = pointed(tmp_path, server)
    done = run(args, environ, input="hi\n" if args == ("-i",) else None, cwd=place)
    assert (done.code, done.out) == (0, "an answer" if "-p" in args else done.out)
    assert done.err.count(f"{place / '.mino'} is ignored: it is not trusted") == 1
    done = run(["-i"], environ, input="/from-the-plugin\n", cwd=place)
    assert "there is no command /from-the-plugin" in done.err


def test_safe_does_not_even_ask(opened):
    terminal = opened("--safe")
    terminal.wait_for("You>")
    assert "Trust it?" not in terminal.text


# -- !{command} --------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path, server):
    """An environment with a command of the user's own that runs something."""
    environ = pointed(tmp_path, server)
    folder = Path(environ["MINO_HOME"]) / "commands"
    folder.mkdir()
    (folder / "look.md").write_text("In it: !{cat $1}")
    (Path(environ["HOME"]) / "a file").write_text("the content")
    return environ


def test_exactly_what_will_run_is_shown_and_runs_after_a_yes(own, server):
    server.reply(*chat("an answer"))
    with Terminal(mino(), own, columns=100, rows=40, cwd=own["HOME"]) as terminal:
        terminal.wait_for("You>")
        enter(terminal, "/look 'a file'")
        terminal.wait_for("cat 'a file'")
        terminal.wait_for("yes/no")
        enter(terminal, "yes")
        terminal.wait_for("an answer")
    assert server.requests[0].json["messages"][-1]["content"] == "In it: the content"


def test_after_a_no_nothing_is_sent_and_the_chat_goes_on(own, server):
    server.reply(*chat("an answer"))
    with Terminal(mino(), own, columns=100, rows=40, cwd=own["HOME"]) as terminal:
        terminal.wait_for("You>")
        enter(terminal, "/look 'a file'")
        terminal.wait_for("yes/no")
        enter(terminal, "no")
        terminal.wait_for("not run, and nothing was sent")
        enter(terminal, "still here")
        terminal.wait_for("an answer")
    assert [request.json["messages"][-1]["content"] for request in server.requests] == ["still here"]


def test_in_a_script_nobody_agrees_but_by_a_flag(own, server):
    done = run(["-i"], own, input="/look 'a file'\n")
    assert "nobody is there to agree to cat 'a file'" in done.err
    server.reply(*chat("an answer"))
    run(["-i", "--yes"], own, input="/look 'a file'\n")
    assert server.requests[0].json["messages"][-1]["content"] == "In it: the content"


def test_ctrl_c_ends_what_a_command_runs(own, server):
    (Path(own["MINO_HOME"]) / "commands/wait.md").write_text("!{touch begun; sleep 600}")
    with Terminal(mino("--yes"), own, columns=100, rows=40, cwd=own["HOME"]) as terminal:
        terminal.wait_for("You>")
        enter(terminal, "/wait")
        terminal.wait_until((Path(own["HOME"]) / "begun").exists)
        terminal.press("ctrl-c")
        terminal.wait_for("/wait was stopped")
        terminal.wait_for("You>", count=2)
        leave(terminal)
    assert server.requests == []
