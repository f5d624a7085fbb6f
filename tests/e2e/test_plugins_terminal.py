"""Plugins of strangers on a terminal: a fault is a line, the answer stays whole, Ctrl-C is obeyed."""

from textwrap import dedent

import pytest
from mino_core.testing import Terminal, home, mino

CONFIG = """
[session]
provider = "parrot"
model = "grey"
[history]
backend = "memory"
"""
PARROT = """
from mino_core import Finished, TextDelta, hookimpl

class Parrot:
    def __init__(self, settings):
        pass
    def stream(self, request):
        for n in range(20):
            yield TextDelta(f"w{n} ")
        yield TextDelta("END-OF-" + request.messages[-1].text)
        yield Finished("stop")

@hookimpl
def mino_providers():
    return {"parrot": Parrot}
"""
HEAD = "from mino_core import TextDelta, TurnEnded, hookimpl\n"
WHOLE = " ".join(f"w{n}" for n in range(20))


@pytest.fixture
def chat(tmp_path):
    """Opens a chat among single-file plugins, given as code by their names."""
    opened = []

    def open_chat(columns=100, **plugins):
        environ = home(tmp_path, CONFIG)
        folder = tmp_path / "home" / ".mino" / "plugins"
        folder.mkdir()
        (folder / "parrot.py").write_text(PARROT)
        for name, code in plugins.items():
            (folder / f"{name}.py").write_text(HEAD + dedent(code))
        terminal = Terminal(mino("--plain"), environ, columns=columns, rows=40)
        terminal.__enter__()
        opened.append(terminal)
        terminal.wait_for("You>")
        return terminal

    yield open_chat
    for terminal in opened:
        terminal.__exit__(None, None, None)


def unbroken(terminal):
    """All that was drawn, as if lines had no ends."""
    return " ".join(terminal.text.split())


def test_one_broken_plugin_is_a_line_and_the_chat_goes_on(chat):  # PL-01
    terminal = chat(columns=300, broken="import nowhere_at_all", typo="@hookimpl\ndef mino_evnet(): pass")
    terminal.type("hello\r")
    terminal.wait_for("END-OF-hello")
    shown = terminal.text
    assert shown.count("No module named 'nowhere_at_all'") == 1
    assert "mino plugins disable broken" in shown
    assert "there is no hook mino_evnet; did you mean mino_event?" in shown  # PL-05
    assert "Traceback" not in shown


def test_two_plugins_with_one_command(chat):  # PL-06, SL-10
    hello = (
        "@hookimpl\ndef mino_commands():\n    return {{'hello': lambda session, rest: '{0}', 'exit': print}}"
    )
    terminal = chat(columns=300, aaa=hello.format("from-aaa"), bbb=hello.format("from-bbb"))
    terminal.type("/bbb:hello\r")
    terminal.wait_for("END-OF-from-bbb")
    assert "the command 'hello' is offered by both 'aaa' and 'bbb'" in terminal.text
    terminal.type("/hello\r")
    terminal.wait_for("there is no command /hello")
    terminal.type("/exit\r")
    assert terminal.wait_exit() == 0


def test_what_a_plugin_prints_does_not_break_up_an_answer(chat):  # PL-09
    terminal = chat(
        noisy="""
        print("PRINTED-AT-IMPORT")
        @hookimpl
        def mino_event(event):
            if isinstance(event, TurnEnded):
                print("PRINTED-AT-THE-END")
        """
    )
    terminal.type("hello\r")
    terminal.wait_for("PRINTED-AT-THE-END")
    assert f"{WHOLE} END-OF-hello" in unbroken(terminal)


def test_a_stuck_observer_is_named_and_the_answer_is_whole(chat):  # PL-10
    terminal = chat(
        columns=300,
        slow="""
        import time
        @hookimpl
        def mino_event(event):
            if isinstance(event, TextDelta):
                time.sleep(0.02)
        """,
        stuck="""
        import threading
        @hookimpl
        def mino_event(event):
            if isinstance(event, TextDelta):
                threading.Event().wait()
        """,
    )
    terminal.type("hello\r")
    terminal.wait_for("END-OF-hello")
    terminal.wait_for("plugin 'stuck'")
    shown = terminal.text
    assert "took longer than 0.1 s" in shown
    assert "plugin 'slow'" not in shown
    terminal.type("again\r")
    terminal.wait_for("END-OF-again")


def test_ctrl_c_gets_out_of_a_stuck_observer(chat):  # PL-10
    terminal = chat(
        stuck="""
        import threading
        @hookimpl
        def mino_event(event):
            if isinstance(event, TurnEnded):
                print("NOW-STUCK")
                threading.Event().wait()
        """
    )
    terminal.type("hello\r")
    terminal.wait_for("END-OF-hello")
    terminal.type("\x03")
    terminal.wait_for("You>", count=2)
    terminal.type("again\r")
    terminal.wait_for("END-OF-again")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("return 5", "int"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_a_command_that_fails_is_one_line(chat, code, words):  # SL-07
    terminal = chat(
        columns=300,
        bad=f"def run(session, rest):\n    {code}\n@hookimpl\ndef mino_commands(): return {{'bad': run}}",
    )
    terminal.type("/bad\r")
    terminal.wait_for("plugin 'bad'")
    assert words in terminal.text
    assert "Traceback" not in terminal.text
    terminal.type("hello\r")
    terminal.wait_for("END-OF-hello")
