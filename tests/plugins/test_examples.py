"""Each example is loaded by the real program and does what its first line says."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from mino_core import Settings, ToolCall, Verdict
from mino_core.testing import (
    HANG,
    RendererConformance,
    Server,
    Terminal,
    ToolConformance,
    call,
    chat,
    home,
    mino,
    run,
)
from pointed import pointed

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FAKE = Path(__file__).parent / "fake_sdk"


def loaded(name):
    """An example as a module."""
    spec = spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def example(name):
    return "-e", str(ROOT / "examples" / f"{name}.py")


@pytest.fixture
def server():
    with Server() as server:
        yield server


def test_there_is_one_for_each_of_these_hooks():
    hooks = {re.search(r"`(mino_\w+)`", path.read_text())[1] for path in EXAMPLES}
    assert hooks == {
        "mino_providers", "mino_tools", "mino_event", "mino_request", "mino_approve", "mino_renderers",
    }  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_loads_offers_and_is_in_order(path, tmp_path):
    (hook,) = set(re.findall(r"^def (mino_\w+)\(", path.read_text(), re.MULTILINE))
    assert f"`{hook}`" in path.read_text().partition("\n\n")[0]
    done = run(["-e", str(path), "plugins", "check", path.stem], home(tmp_path))
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_readme_of_the_examples_names_it(path):
    assert f"[{path.name}]({path.name})" in (ROOT / "examples/README.md").read_text()


# -- a vendor's SDK ----------------------------------------------------------------------------


def through_the_sdk(tmp_path, server):
    environ = pointed(tmp_path, server, more='api_key = "sk-1"', PYTHONPATH=str(FAKE))
    config = Path(environ["MINO_HOME"]) / "config.toml"
    config.write_text(config.read_text().replace("openai-chat", "vendor-sdk"))
    return environ


def test_mino_answers_through_it_and_lists_its_models(tmp_path, server):
    environ = through_the_sdk(tmp_path, server)
    server.reply(*chat("Hello."))
    done = run([*example("vendor_sdk"), "-p", "hi"], environ)
    assert (done.code, done.out) == (0, "Hello.")
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"
    server.fail(401, "wrong key", "chat")
    done = run([*example("vendor_sdk"), "-p", "hi"], environ)
    assert (done.code, "wrong key" in done.err) == (3, True)
    assert run([*example("vendor_sdk"), "models"], environ).out == "demo-1\n"


def test_ctrl_c_closes_the_connection_of_the_sdk(tmp_path, server):
    environ = through_the_sdk(tmp_path, server)
    server.reply(*chat("Hel", finish=None), HANG)
    with Terminal(mino(*example("vendor_sdk")), environ) as terminal:
        terminal.wait_for("You>")
        terminal.type("hi\r")
        terminal.wait_for("Hel")
        terminal.press("ctrl-c")
        server.wait_for_close()
        terminal.wait_for("You>", count=2)


# -- the others --------------------------------------------------------------------------------


class TestDice(ToolConformance):
    arguments = ({}, {"dice": 100, "sides": 20})

    def tool(self):
        return loaded("dice").roll


def test_dice_that_do_not_exist_are_told_to_the_model(tmp_path, server):
    assert "roll between 1 and 100 dice" in call(loaded("dice").roll, dice=0).content
    server.reply(*chat(ToolCall("call_1", "roll", '{"dice": 3}')))
    server.reply(*chat("You have it."))
    done = run([*example("dice"), "--yes", "-p", "roll three dice"], pointed(tmp_path, server))
    assert done.code == 0
    result = server.requests[1].json["messages"][-1]
    assert re.fullmatch(r'\{"rolls": \[\d, \d, \d\], "sum": \d+\}', result["content"])


def test_a_long_answer_is_notified_of(tmp_path, server):
    told = tmp_path / "told"
    told.mkdir()
    toml = f'[plugins.settings.notifier]\nafter = 0\ncommand = "mkdir -p -- {told}/x"\n'
    server.reply(*chat("Hello."))
    environ = pointed(tmp_path, server, toml=toml)
    with Terminal(mino(*example("notifier")), environ, cwd=tmp_path) as terminal:
        terminal.wait_for("You>")
        terminal.type("hi\r")
        terminal.wait_until((tmp_path / "completed after 0 s").is_dir)
        terminal.wait_for("Hello.")
        assert "Warning" not in terminal.text


def test_a_short_answer_is_not(monkeypatch):
    from mino_core import TurnEnded

    notifier = loaded("notifier")
    monkeypatch.setattr(notifier.subprocess, "Popen", lambda *args, **rest: pytest.fail("it was started"))
    notifier.mino_event(TurnEnded(1, "completed", seconds=29.9), Settings({}))


def test_words_that_are_redacted_never_leave(tmp_path, server):
    toml = '[plugins.settings.redactor]\nwords = "Nightjar, c++"\n'
    server.reply(*chat("I see."))
    environ = pointed(tmp_path, server, toml=toml)
    done = run(
        [*example("redactor"), "-s", "About Nightjar.", "-p", "Nightjar in c++, to me@example.com"], environ
    )
    assert (done.code, done.out) == (0, "I see.")
    sent = server.requests[0].body.decode()
    assert "Nightjar" not in sent and "example.com" not in sent and "c++" not in sent
    assert "[redacted] in [redacted], to [redacted]" in sent
    assert "About [redacted]." in sent
    (kept,) = Path(environ["MINO_HOME"]).glob("history/*/*.jsonl")
    assert "Nightjar in c++" in kept.read_text()


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("ls -la", True),
        ("git log --oneline", True),
        ("git push", None),
        ("cat 'a file'", True),
        ("cat a; rm b", False),
        ("sudo ls", False),
        ("ls > out", None),
        ("ls $(evil)", None),
        ("echo 'open", False),
        ("", None),
    ],
)
def test_a_policy_allows_what_only_looks(command, allowed):
    import json

    asked = ToolCall("1", "shell", json.dumps({"command": command}))
    verdict = loaded("shell_policy").mino_approve(asked, Settings({}))
    assert (verdict and verdict.allowed) is allowed


def test_a_policy_has_no_opinion_on_other_tools():
    assert loaded("shell_policy").mino_approve(ToolCall("1", "roll", "{}"), Settings({})) is None
    assert isinstance(
        loaded("shell_policy").mino_approve(ToolCall("1", "shell", "not json"), Settings({})), Verdict | None
    )


class TestHtmlPage(RendererConformance):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def renderer(self, settings, screen):
        return loaded("html_page").HtmlPage(settings, screen)


def test_a_conversation_becomes_a_page(tmp_path, server):
    server.reply(*chat("1 < 2 & ", "so on"))
    done = run(
        [*example("html_page"), "--renderer", "html-page", "-p", "<b>why</b>"],
        pointed(tmp_path, server),
        cwd=tmp_path,
    )
    assert (done.code, done.out) == (0, "1 < 2 & so on\n")
    page = (tmp_path / "conversation.html").read_text()
    assert '<pre class="question">&lt;b&gt;why&lt;/b&gt;</pre>' in page
    assert "<pre>1 &lt; 2 &amp; so on</pre>" in page
