"""What a stranger's factory made may raise anything, anywhere: it costs a line that names the plugin."""

import asyncio
import os
import subprocess

import pytest
from mino_core import Finished, ProviderError, TextDelta, interrupts
from mino_core.screen import ScreenGone
from mino_core.shell import Shell
from mino_core.testing import Recorder, home, mino
from stage import Stage

ERRORS = [
    RuntimeError("oh"),
    KeyboardInterrupt("oh"),
    SystemExit("oh"),
    GeneratorExit("oh"),
    asyncio.CancelledError("oh"),
    BaseExceptionGroup("oh", [KeyboardInterrupt()]),
    type("Own", (BaseException,), {})("oh"),
    # mino's own words for what a plugin cannot know
    interrupts.TimedOut("oh"),
    interrupts.Terminated(15),
    ScreenGone(OSError("oh")),
]
STOP = Finished("stop", "stop")


class Failing:
    """Does what another thing does, but raises the error where it is told to."""

    def __init__(self, thing, where, error):
        self.thing, self.where, self.error = thing, where, error

    def __getattr__(self, name):
        if name != self.where:
            return getattr(self.thing, name)
        return self.fail

    def fail(self, *args, **named):
        raise self.error


class Drawer:
    """A history of one conversation that is never kept; also its log, and the rest of an input."""

    def conversations(self):
        return iter(())

    def open(self, id, head=None, write=True):
        return self

    def remove(self, id):
        pass

    def append(self, record, durable=True):
        pass

    def records(self, reverse=False):
        return iter(())

    def ask(self, question, choices):
        """An input's."""

    def close(self):
        pass


def told(stage, *words):
    """The one line that says it, to all that was shown."""
    shown = [*stage.renderer.notices, *(end.error.message for end in stage.renderer.ended if end.error)]
    (line,) = [line for line in shown if "to go without it: mino plugins disable staged" in line]
    assert f"plugin 'staged' ({stage.plugin}): " in line
    assert all(word in line for word in words), line
    return line


@pytest.fixture(params=ERRORS, ids=lambda error: type(error).__name__)
def error(request):
    return request.param


@pytest.fixture
def oh(error):
    """What is said of the error."""
    return {interrupts.TimedOut: "took ", interrupts.Terminated: "SIGTERM"}.get(type(error), "oh")


def test_a_provider(tmp_path, error, oh):
    stage = Stage(tmp_path, [TextDelta("a"), STOP])

    def stream(request):
        yield TextDelta("a")
        raise error

    stage.provider.stream = stream
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.error.kind) == ("failed", "plugin")
    told(stage, "the provider kind 'scripted': ", oh)


def test_a_provider_that_does_not_close(tmp_path, error, oh):
    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    stage.provider = Failing(stage.provider, "close", error)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    told(stage, "the provider kind 'scripted': ", oh)


def test_a_stream_that_does_not_close(tmp_path, error, oh):
    stage = Stage(tmp_path)

    def stream(request):
        try:
            yield TextDelta("a")
            raise ProviderError("server", "no more")
        finally:
            raise error

    stage.provider.stream = stream
    with stage.opened() as session:
        assert session.ask("hi").outcome == "failed"
    told(stage, oh)


def test_a_renderer(tmp_path, error, oh):
    def fail(event):
        if isinstance(event, TextDelta):
            raise error

    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    stage.renderer, other = Recorder(fail), Recorder()
    with stage.opened() as session:
        session.display._plain = lambda: other
        assert session.ask("hi").outcome == "completed"
    assert other.text == "a"
    stage.renderer = other
    told(stage, "the renderer 'recorder': ", oh, "; from here on the text is plain")


def test_a_renderer_that_does_not_close(tmp_path, error):
    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    stage.renderer = Failing(stage.renderer, "close", error)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    assert "the renderer 'recorder': " in session.host.faults[0].text


@pytest.mark.parametrize("where", ["open", "append", "close"])
def test_a_history(tmp_path, error, where):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], toml='[history]\nbackend = "staged"\n')
    stage.history = Failing(Drawer(), where, error)
    if where != "open":
        stage.history.open = lambda *args, **named: stage.history
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
        assert session.messages[-1].text == "a"
    assert "this conversation is not kept: plugin 'staged'" in "".join(stage.renderer.notices)
    assert "the history backend 'staged': " in "".join(stage.renderer.notices)


def test_an_input(tmp_path, error, oh):
    if type(error) is KeyboardInterrupt:
        pytest.skip("that is how an input tells of Ctrl-C")
    stage = Stage(tmp_path)
    stage.inputs = {"failing": lambda settings, screen: Failing(Drawer(), "read", error)}
    with stage.opened() as session:
        made = session.host.make("mino_inputs", "failing", session.screen)
        assert Shell(session, made).run() == 0
    told(stage, "the input 'failing': ", oh, "; reading plain lines")


def test_a_tool(tmp_path, error, oh):
    from mino_core import ToolCall, ToolContext, tools
    from mino_core.tools.schema import as_tool

    def tool() -> str:
        raise error

    with interrupts.installed():
        said = tools.run(as_tool("t", tool), ToolCall("1", "t", "{}"), ToolContext())
    assert said.is_error
    assert oh in said.content


def test_an_answer_of_a_plugin_is_no_fault(tmp_path):
    stage = Stage(tmp_path)
    stage.provider = Failing(stage.provider, "stream", ProviderError("auth", "wrong key"))
    with stage.opened() as session:
        assert session.ask("hi").error.message == "wrong key"
        assert session.host.faults == []


def test_a_notice_that_is_no_text_is_the_fault_of_who_gave_it(tmp_path):
    stage = Stage(tmp_path)
    with stage.opened() as session:
        with pytest.raises(TypeError, match="a notice is text, not int"):
            session.notify(5)
        assert session.display.renderer.show is not None
    assert isinstance(stage.renderer, Recorder)


# -- what a plugin leaves behind ---------------------------------------------------------------

ANSWER = """
from mino_core import Finished, TextDelta, hookimpl
class Answer:
    def __init__(self, settings): pass
    def stream(self, request):
        yield TextDelta("the answer")
        yield Finished("stop")
@hookimpl
def mino_providers(): return {"answer": Answer}
"""


def answered(tmp_path, code, stderr=subprocess.PIPE):
    environ = home(tmp_path, '[session]\nprovider = "answer"\nmodel = "m"\n')
    folder = tmp_path / "home/.mino/plugins"
    folder.mkdir()
    (folder / "answer.py").write_text(ANSWER)
    (folder / "bad.py").write_text(code)
    done = subprocess.run(
        mino("-p", "hi"),
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"the answer")
    return done


@pytest.mark.parametrize("act", ["os.close({0})", "os.dup2(os.open(os.devnull, os.O_RDWR), {0})"])
@pytest.mark.parametrize(
    ("fd", "name"), [(0, "standard input"), (1, "standard output"), (2, "standard error")]
)
def test_a_standard_descriptor_that_is_closed_is_put_back_and_told(tmp_path, act, fd, name):
    if "dup2" in act and fd == 0:
        pytest.skip("it leads there already")
    said = answered(tmp_path, f"import os\n{act.format(fd)}").stderr.decode()
    assert f"import: closed {name}, or put something else there" in said
    assert "mino plugins disable bad" in said


def test_what_fails_where_nobody_can_catch_it_is_one_line_also_at_import_and_at_the_end(tmp_path):
    code = """
import atexit, threading
def fail(): raise ValueError("oh")
class Dying:
    def __del__(self): fail()
Dying()
thread = threading.Thread(target=fail, name="early")
thread.start()
thread.join()
atexit.register(fail)
"""
    said = answered(tmp_path, code).stderr.decode()
    for what in ("the thread early", "Dying.__del__", "fail"):
        assert f"Warning: {what} failed: ValueError: oh (bad.py:3)\n" in said
    assert "Traceback" not in said


def test_a_thread_that_fails_is_one_line(tmp_path):
    code = """
import threading
from mino_core import hookimpl
def fail(): raise ValueError("in a thread")
@hookimpl
def mino_request(request):
    thread = threading.Thread(target=fail, name="spinner")
    thread.start()
    thread.join()
"""
    said = answered(tmp_path, code).stderr.decode()
    assert "Warning: the thread spinner failed: ValueError: in a thread (bad.py:4)" in said
    assert "Traceback" not in said


def test_what_is_printed_at_import_is_made_safe_for_a_terminal(tmp_path):
    code = "import sys\nfor out in (sys.stdout, sys.stderr): print('\\x1b]52;c;aGk=\\x07MARK', file=out)"
    ours, theirs = os.openpty()
    try:
        answered(tmp_path, code, stderr=theirs)
        said = os.read(ours, 1 << 16)
    finally:
        os.close(ours)
        os.close(theirs)
    assert said.count(b"MARK") == 2
    assert b"\x1b]52" not in said
