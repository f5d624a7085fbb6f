"""`mino init` writes a first config.toml, and only a first one."""

import stat
import tomllib
from pathlib import Path

import pytest
from mino_core.config.loading import load
from mino_core.testing import Terminal, home, mino, run


def written(env):
    path = Path(env["MINO_HOME"], "config.toml")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return tomllib.loads(path.read_text())


def test_flags_are_enough(tmp_path):
    env = home(tmp_path)
    done = run(["init", "--provider", "deepseek", "--model", "m", "--api-key", "env:MY_KEY"], env)
    assert (done.code, done.err) == (0, "")
    assert written(env) == {
        "session": {"provider": "deepseek"},
        "providers": {"deepseek": {"model": "m", "api_key": "env:MY_KEY"}},
    }
    choice = load(env | {"MY_KEY": "k"}).provider()
    assert (choice.model, choice.kind) == ("m", "openai-chat")


def test_a_preset_alone_is_one_line(tmp_path):
    env = home(tmp_path)
    assert "`mino models groq`" in run(["init", "--provider", "groq"], env).out
    assert written(env) == {"session": {"provider": "groq"}}


def test_a_file_that_is_there_is_never_touched(tmp_path):
    env = home(tmp_path, "# mine\n")
    done = run(["init", "--provider", "groq"], env)
    assert done.code == 2
    assert "is there already, and mino never changes it" in done.err
    assert (tmp_path / "home/.mino/config.toml").read_text() == "# mine\n"


def test_a_key_on_the_command_line_is_refused(tmp_path):
    env = home(tmp_path)
    done = run(["init", "--provider", "groq", "--api-key", "sk-CANARY"], env)
    assert done.code == 2
    assert "CANARY" not in done.out + done.err
    assert not (tmp_path / "home/.mino/config.toml").exists()


def test_without_a_terminal_and_without_flags_it_says_what_to_do(tmp_path):
    done = run(["init"], home(tmp_path))
    assert done.code == 2
    assert "--provider NAME" in done.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--provider", "mine"), "there is no provider 'mine'"),
        (("--provider", "mine"), "a server of your own needs --base-url"),
        (("--provider", "deepsek"), "did you mean deepseek?"),
        (("--provider", "mine", "--kind", "nope"), "no plugin offers the kind 'nope'; there are: anthropic-"),
        (("--provider", "mine", "--kind", "openai-chat"), "needs an address"),
        (("--provider", "mine", "--kind", "openai-chat", "--base-url", " "), "needs an address"),
        (("--provider", "mine", "--base-url", "llm.example"), "must begin with https:// or http://"),
        (("--provider", "groq", "--api-key", "env: "), "names no place"),
        (("--provider", " "), "--provider NAME"),
        (("--kind", "openai-chat"), "--provider NAME"),
        (("--model", "m"), "--provider NAME"),
    ],
)
def test_what_could_not_answer_is_not_written(tmp_path, flags, words):
    done = run(["init", *flags], home(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not any((tmp_path / "home/.mino").iterdir())


def test_what_init_wrote_is_right_and_what_it_lacks_is_said(tmp_path):
    env = home(tmp_path)
    done = run(["init", "--provider", "mine", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"], env)
    assert (done.code, done.err) == (0, "")
    assert "names no model" not in done.out
    assert "key" not in done.out
    assert run(["config", "check"], env).code == 0
    other = home(tmp_path / "other")
    said = run(["init", "--provider", "mistral"], other).out
    assert "names no model" not in said
    assert "Its key is not there yet: set MISTRAL_API_KEY." in said
    third = home(tmp_path / "third")
    advice = run(["init", "--provider", "vllm"], third).out.partition("lists them;\n")[2]
    assert advice == 'write one of them below [session], as model = "NAME".\n'
    with Path(third["MINO_HOME"], "config.toml").open("a") as file:
        file.write('model = "NAME"\n')
    assert (
        "config.toml" in run(["config", "show"], third).out.partition("session.model")[2].partition("\n")[0]
    )


def says(terminal, words):
    """Wait for words that may stand on two lines."""
    terminal.wait_until(lambda: words in " ".join(terminal.text.split()))


def test_a_wrong_answer_is_asked_again_and_no_word_is_cut(tmp_path):
    env = home(tmp_path)
    with Terminal(mino("init"), env, columns=50, rows=24) as terminal:
        terminal.wait_for("Provider [local]:")
        words = {"anthropic,", "dashscope,", "siliconflow,", "llamacpp,", "computer."}
        assert words <= set(terminal.text.split())
        terminal.type("mine\r")
        terminal.wait_for("Kind [openai-chat]:")
        terminal.type("openai-caht\r")
        says(terminal, "did you mean openai-chat?")
        terminal.type("\r")
        terminal.wait_for("Address")
        terminal.type("\r")
        says(terminal, "needs an address")
        terminal.type("ftp://x\r")
        says(terminal, "must begin with https://")
        terminal.type("http://127.0.0.1:1/v1\r")
        terminal.wait_for("Model")
        terminal.type("m\r")
        terminal.wait_for("Key, not shown [none]:")
        terminal.type("\r")
        assert terminal.wait_exit() == 0
    table = {"kind": "openai-chat", "base_url": "http://127.0.0.1:1/v1", "model": "m"}
    assert written(env) == {"session": {"provider": "mine"}, "providers": {"mine": table}}


def test_a_person_is_asked_and_the_key_is_kept_apart_and_unseen(tmp_path):
    env = home(tmp_path)
    with Terminal(mino("init"), env) as terminal:
        terminal.wait_for("Provider [local]:")
        terminal.type("mine\r")
        terminal.wait_for("Kind [openai-chat]:")
        terminal.type("\r")
        terminal.wait_for("Address")
        terminal.type("http://127.0.0.1:1/v1\r")
        terminal.wait_for("Model")
        terminal.type("m\r")
        terminal.wait_for("Key, not shown")
        terminal.type("CANARY\r")
        assert terminal.wait_exit() == 0
        assert b"CANARY" not in terminal.raw
    assert written(env) == {
        "session": {"provider": "mine"},
        "providers": {
            "mine": {
                "kind": "openai-chat",
                "base_url": "http://127.0.0.1:1/v1",
                "model": "m",
                "api_key": "file:keys/mine",
            }
        },
    }
    key = tmp_path / "home/.mino/keys/mine"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    secret = load(env).provider().settings.secret("api_key")
    assert secret is not None
    assert secret.reveal() == "CANARY"


@pytest.mark.parametrize(("keys", "code"), [("\x04", 2), ("\x03", 130)])
def test_whoever_leaves_half_way_has_written_nothing(tmp_path, keys, code):
    env = home(tmp_path)
    with Terminal(mino("init"), env) as terminal:
        terminal.wait_for("Provider [local]:")
        terminal.type(keys)
        assert terminal.wait_exit() == code
    assert not (tmp_path / "home/.mino/config.toml").exists()
