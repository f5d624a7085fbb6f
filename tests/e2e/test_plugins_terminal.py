"""Plugins of strangers on a terminal: a fault is a line, the answer stays whole, Ctrl-C is obeyed."""

import re
from textwrap import dedent

import pytest
from mino_core.testing import Terminal, home, mino, run

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


def command(name, said):
    return f"@hookimpl\ndef mino_commands(): return {{{name!r}: lambda session, rest: {said!r}}}\n"


def test_hooks_written_for_another_signature(chat):  # PL-04
    good_and_bad = """
        class Both:
            @hookimpl
            def mino_commands(self):
                return {"never": print}
            @hookimpl
            def mino_event(self, event, weather):
                pass
        """
    terminal = chat(
        columns=300,
        more=command("never", "x") + "@hookimpl\ndef mino_event(event, weather): pass",
        fewer="@hookimpl\ndef mino_event():\n    pass\n" + command("fewer", "said-by-fewer"),
        filled="@hookimpl\ndef mino_request(request, colour='red', **rest): pass\n"
        + command("filled", "said-by-filled"),
        whole=dedent(good_and_bad)
        + "hook = Both()\nmino_event = hook.mino_event\nmino_commands = hook.mino_commands",
    )
    assert "'weather'" in terminal.text
    assert "mino plugins disable more" in unbroken(terminal)
    assert "mino plugins disable whole" in unbroken(terminal)
    terminal.type("/never\r")
    terminal.wait_for("there is no command /never")
    for name in ("fewer", "filled"):
        terminal.type(f"/{name}\r")
        terminal.wait_for(f"END-OF-said-by-{name}")
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize("stated", [0, 2])
def test_a_plugin_for_another_mino(chat, stated):  # PL-13
    terminal = chat(columns=300, other=f"MINO_API = {stated}\n" + command("other", "x"))
    assert f"it is written for mino's API {stated}, and this mino has API 1" in terminal.text
    terminal.type("/other\r")
    terminal.wait_for("there is no command /other")


def test_a_plugin_that_was_removed(chat, tmp_path):  # PL-14
    terminal = chat()
    for n in (1, 2):
        terminal.type(f"question-{n}\r")
        terminal.wait_for(f"END-OF-question-{n}")
    terminal.type("/exit\r")
    assert terminal.wait_exit() == 0
    folder = tmp_path / "home" / ".mino"
    config = folder / "config.toml"
    config.write_text(config.read_text().replace('"memory"', '"jsonl"'))
    environ = home(tmp_path)
    with Terminal(mino("--plain"), environ, columns=300, rows=40) as again:
        again.wait_for("You>")
        again.type("question-3\r")
        again.wait_for("END-OF-question-3")
        again.type("/exit\r")
        again.wait_exit()
        resume = next(line for line in again.text.splitlines() if "--resume" in line).split()[-1]
    (folder / "plugins" / "parrot.py").rename(folder / "plugins" / "lory.py")
    (folder / "plugins" / "lory.py").write_text(PARROT.replace('"parrot"', '"lory"'))
    gone = run(["-p", "hi"], environ)
    assert gone.code == 2
    assert "'parrot'" in gone.err
    assert len(gone.err.splitlines()) == 1
    assert "question-3" in run(["history", "show", resume], environ).out
    flags = ("--plain", "--provider", "lory", "--model", "grey", "--resume", resume)
    with Terminal(mino(*flags), environ, columns=300, rows=40) as other:
        other.wait_for("You>")
        other.type("question-4\r")
        other.wait_for("END-OF-question-4")


def test_a_renderer_that_fails_is_replaced_and_no_word_is_lost(chat, tmp_path):  # SG-04
    broken = """
        class Broken:
            def __init__(self, settings, screen):
                self.screen, self.deltas = screen, 0
                screen.write("\x1b[?25l")
            def show(self, event):
                if isinstance(event, TextDelta):
                    self.deltas += 1
                    if self.deltas == 5:
                        raise RuntimeError("out of ink")
                    self.screen.write(event.text)
                self.screen.flush()
            def close(self):
                self.screen.write("\x1b[?25h")
        @hookimpl
        def mino_renderers():
            return {"broken": Broken}
        """
    chat(broken=broken)  # writes the files
    with Terminal(mino("--renderer", "broken"), home(tmp_path), columns=100, rows=40) as terminal:
        terminal.wait_for("You>")
        terminal.type("hello\r")
        terminal.wait_for("END-OF-hello")
        assert "out of ink" in terminal.text
        assert re.findall(r"\bw\d+\b", terminal.text) == WHOLE.split()
        terminal.type("again\r")
        terminal.wait_for("END-OF-again")
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0
        assert 25 in terminal.private_modes


def test_ctrl_c_while_plugins_load_ends_at_once(tmp_path):  # CC-08
    environ = home(tmp_path, CONFIG)
    folder = tmp_path / "home" / ".mino" / "plugins"
    folder.mkdir()
    (folder / "slow.py").write_text("open('begun', 'w').close()\nimport threading\nthreading.Event().wait()")
    with Terminal(mino("--plain"), environ, cwd=tmp_path) as terminal:
        terminal.wait_until((tmp_path / "begun").exists)
        terminal.press("ctrl-c")
        assert terminal.wait_exit() == 130
        assert "Traceback" not in terminal.text


def test_ctrl_c_ends_a_command_and_nothing_else(chat):  # CC-09
    slow = """
        import threading
        def slow(session, rest):
            session.notify("IT-WAITS")
            threading.Event().wait()
        @hookimpl
        def mino_commands():
            return {"slow": slow}
        """
    terminal = chat(slow=slow)
    terminal.type("/slow\r")
    terminal.wait_for("IT-WAITS")
    terminal.type("\x03")
    terminal.wait_for("/slow was stopped")
    terminal.wait_for("You>", count=2)  # what is typed before it waits for an Enter of its own
    terminal.type("hello\r")
    terminal.wait_for("END-OF-hello")


#: Waits for ever where it is told to, and says when a first Ctrl-C has come.
_STUCK = """
import os
from mino_core import Notice, hookimpl, interrupts, wait

def hang():
    open("stuck", "w").close()
    while True:
        if interrupts._pending:
            open("asked", "w").close()

class Draws:
    def __init__(self, settings, screen):
        self.screen = screen
    def show(self, event):
        if isinstance(event, Notice) and not os.path.exists("stuck"):
            hang()
    def close(self):
        pass

class Reads:
    edits = False
    def __init__(self, settings, screen):
        self.screen = screen
    def read(self, prompt):
        self.screen.aside(prompt)
        if not (wait(0) and (line := os.read(0, 1000))):
            raise EOFError
        return line.decode()
    def ask(self, question, choices):
        pass
    def close(self):
        hang()

class Keeps:
    def __init__(self, settings):
        self.kept = []
    def conversations(self):
        return iter(())
    def open(self, id, head=None, write=True):
        return self
    def remove(self, id):
        pass
    def append(self, record, durable=True):
        self.kept.append(record)
    def records(self, reverse=False):
        return iter(self.kept[:: -1 if reverse else 1])
    def close(self):
        hang()

@hookimpl
def mino_renderers():
    return {"stuck": Draws}

@hookimpl
def mino_inputs():
    return {"stuck": Reads}

@hookimpl
def mino_histories():
    return {"stuck": Keeps}
"""


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        (("--renderer", "stuck"), "/help\r"),
        (("--input", "stuck"), "\x04"),
        (("--history", "stuck"), "hi\r\x04"),
    ],
    ids=["show", "close of an input", "close of a log"],
)
def test_two_ctrl_c_get_out_of_what_has_no_time_limit(tmp_path, flags, keys):
    environ = home(tmp_path, CONFIG)
    folder = tmp_path / "home" / ".mino" / "plugins"
    folder.mkdir()
    (folder / "parrot.py").write_text(PARROT)
    (folder / "stuck.py").write_text(_STUCK)
    with Terminal(mino(*flags), environ, cwd=tmp_path) as terminal:
        terminal.wait_for("You>")
        terminal.type(keys)
        terminal.wait_until((tmp_path / "stuck").exists)
        terminal.press("ctrl-c")
        terminal.wait_until((tmp_path / "asked").exists)
        terminal.press("ctrl-c")
        if "--renderer" in flags:  # back to the prompt
            terminal.wait_for("You>", count=2)
            terminal.press("ctrl-d")
        assert terminal.wait_exit() == (0 if "--renderer" in flags else 130)
        assert terminal.modes == terminal.modes_at_start
        assert "Traceback" not in terminal.text
