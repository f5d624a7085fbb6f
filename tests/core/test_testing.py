"""The fakes themselves: a scripted provider, a recorder, a home of one's own."""

import os
import subprocess
import sys
import threading

import pytest
from mino_core import Finished, Notice, ReasoningDelta, Request, TextDelta, TurnEnded, testing
from mino_core.testing import Recorder, Scripted, Terminal, home, mino, oracle, run, session

pytestmark = pytest.mark.damages
REQUEST = Request("m", "", ())
STOP = Finished("stop")


def test_a_scripted_provider_plays_one_round_a_request():
    provider = Scripted([TextDelta("a"), STOP], [TextDelta("b"), STOP])
    assert list(provider.stream(REQUEST)) == [TextDelta("a"), STOP]
    assert list(provider.stream(REQUEST)) == [TextDelta("b"), STOP]
    assert provider.requests == [REQUEST, REQUEST]
    assert provider.closed_early == 0


def test_a_script_at_its_end_says_so():
    provider = Scripted([STOP])
    list(provider.stream(REQUEST))
    with pytest.raises(AssertionError, match=r"request 2 came, but the script has 1 round"):
        provider.stream(REQUEST)


def test_exceptions_are_raised_in_their_place():
    for error in (OSError("gone"), OSError):
        deltas = Scripted([TextDelta("a"), error, STOP]).stream(REQUEST)
        assert next(deltas) == TextDelta("a")
        with pytest.raises(OSError):
            next(deltas)


def test_functions_are_called_in_their_place():
    gate = threading.Event()
    deltas = Scripted([TextDelta("a"), gate.set, TextDelta("b")]).stream(REQUEST)
    next(deltas)
    assert not gate.is_set()
    assert next(deltas) == TextDelta("b")
    assert gate.is_set()


@pytest.mark.parametrize(
    ("items", "taken", "early"),
    [
        ([TextDelta("a"), TextDelta("b"), STOP], 1, 1),
        ([TextDelta("a"), STOP], 2, 0),
        ([TextDelta("a")], 2, 0),
        ([TextDelta("a"), OSError("gone"), STOP], 2, 0),
    ],
)
def test_a_stream_that_is_left_early_is_counted(items, taken, early):
    provider = Scripted(items)
    deltas = provider.stream(REQUEST)
    for _ in range(taken):
        try:
            next(deltas, None)
        except OSError:
            pass
    deltas.close()
    assert provider.closed_early == early


def test_a_scripted_provider_has_models_and_can_be_closed():
    provider = Scripted(models=["one"])
    assert list(provider.models()) == ["one"]
    provider.close()
    assert provider.closed


def test_a_recorder_keeps_everything_in_order():
    seen = []
    recorder = Recorder(seen.append)
    events = [
        TextDelta("a"),
        ReasoningDelta("hm"),
        TextDelta("b"),
        Notice("info", "n"),
        TurnEnded(1, "completed"),
    ]
    for event in events:
        recorder.show(event)
    recorder.close()
    assert recorder.events == seen == events
    assert (recorder.text, recorder.reasoning, recorder.refusal) == ("ab", "hm", "")
    assert recorder.notices == ["n"]
    assert [end.outcome for end in recorder.ended] == ["completed"]
    assert recorder.closed


def test_a_home_holds_nothing_of_ours(tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTPS_PROXY", "no_proxy", "COLUMNS", "NO_COLOR", "MINO_MODEL"):
        monkeypatch.setenv(name, "ours")
    environ = home(tmp_path, "[session]\n", DEEPSEEK_API_KEY="k", LANG=None)
    assert "ours" not in environ.values()
    assert environ["DEEPSEEK_API_KEY"] == "k"
    assert "LANG" not in environ
    for name in ("HOME", "MINO_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"):
        assert environ[name].startswith(str(tmp_path))
    with open(os.path.join(environ["MINO_HOME"], "config.toml")) as file:
        assert file.read() == "[session]\n"
    assert oct(os.stat(environ["MINO_HOME"]).st_mode & 0o777) == "0o700"


@pytest.mark.parametrize(
    ("place", "words", "broken"),
    [
        (".mino/history/x/a.jsonl", "{}\nhalf", "a.jsonl:2 is no record"),
        (".mino/history/x/a.jsonl", "[]\n", "a.jsonl:1 is no record"),
        (".mino/log/a.log", "sk-secret", "the secret stands in"),
        (".mino/log/a.log", "Traceback (most recent call last)", "there is a traceback in"),
        (".bashrc", "", ".bashrc was written"),
    ],
)
def test_the_oracle_sees_what_a_run_left_behind(tmp_path, place, words, broken):
    environ = home(tmp_path, 'api_key = "sk-secret"')
    oracle(environ, "an answer", b"more", secrets=["sk-secret"])
    path = tmp_path / "home" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)
    with pytest.raises(AssertionError, match=broken):
        oracle(environ, secrets=["sk-secret"])


def test_the_oracle_sees_outputs_and_terminals(tmp_path):
    environ = home(tmp_path)
    with pytest.raises(AssertionError, match="the secret stands in output 1"):
        oracle(environ, "fine", "sk-secret", secrets=["sk-secret"])
    with (
        Terminal(["printf", "\\033[?25l"], environ) as terminal,
        pytest.raises(AssertionError, match=r"private modes differ from the start: \[25\]"),
    ):
        oracle(environ, terminal=terminal)


def test_a_session_is_as_in_mino_but_for_what_answers_and_draws(tmp_path):
    provider, recorder = Scripted([TextDelta("yes"), STOP], [TextDelta("again"), STOP]), Recorder()
    with session(tmp_path, provider, recorder) as opened:
        assert opened.ask("really?").outcome == "completed"
        assert opened.ask("and now?").outcome == "completed"
        assert opened.turn == 2
    assert recorder.text == "yesagain"
    assert [message.text for message in provider.requests[1].messages] == ["really?", "yes", "and now?"]
    oracle(home(tmp_path))


def test_mino_is_run_to_its_end(tmp_path):
    done = run(["--version"], home(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("mino ")
    assert os.access(mino()[0], os.X_OK)


def test_the_fakes_work_without_the_test_extra(tmp_path):
    code = (
        "import sys; sys.modules['pyte'] = sys.modules['pytest'] = None\n"
        "import mino_core.testing as testing\n"
        "testing.Scripted(); testing.Recorder()\n"
        "with testing.Server(): pass\n"
        "testing.Terminal(['true'], {})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=home(tmp_path), capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: mino_core.testing.Terminal needs pyte: pip install 'mino-shell[test]'"


def test_nothing_in_the_core_imports_testing():
    code = (
        "import pkgutil, importlib, sys, mino_core\n"
        "for found in pkgutil.iter_modules(mino_core.__path__, 'mino_core.'):\n"
        "    if found.name != 'mino_core.testing':\n"
        "        importlib.import_module(found.name)\n"
        "print([name for name in sys.modules if name.startswith('mino_core.testing')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_of_testing_is_there_and_documented():
    assert sorted(testing.__all__) == sorted(set(testing.__all__))
    for name in testing.__all__:
        value = getattr(testing, name)
        if (callable(value) and isinstance(value, type)) or hasattr(value, "__code__"):
            assert value.__doc__, f"{name} has no docstring"
