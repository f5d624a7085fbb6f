"""The embedded model itself: it answers, outlives a Ctrl-C, and ends with mino."""

import json
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from mino_core import Finished, Message, ProviderError, Request, Settings, Text, TextDelta, Usage
from mino_core.testing import Terminal, home, mino

from mino_local import mino_providers

pytestmark = pytest.mark.real

QUESTION = "Explain in one sentence what an HTTP request is."
#: The beginning of the programs of these tests: a provider `local`, and `ask`, which yields pieces.
PRELUDE = """
import os, signal, sys
from mino_core import Message, Request, Settings, Text, TextDelta
from mino_local import mino_providers
local = mino_providers()["local"](Settings())
def ask(question):
    for delta in local.stream(Request("", "Be brief.", (Message("user", (Text(question),)),))):
        if isinstance(delta, TextDelta):
            yield delta.text
"""


@pytest.fixture
def environ(tmp_path, model_cache):
    """An environment whose cache holds the model."""
    return {**home(tmp_path), "XDG_CACHE_HOME": str(model_cache)}


@pytest.fixture
def local(environ, tmp_path):
    """The provider, closed with the test."""
    provider = mino_providers()["local"](Settings(home=tmp_path, environ=environ))
    yield provider
    provider.close()


def request(*said, options=None):
    messages = [Message(role, (Text(text),)) for role, text in said]
    return Request("", "You are a helpful assistant.", tuple(messages), options=options or {})


def run(program, environ, **more):
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def test_the_model_answers_in_pieces_with_usage_and_a_clean_end(local):
    deltas = list(local.stream(request(("user", QUESTION))))
    pieces = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(pieces) > 5
    assert "HTTP" in "".join(pieces)
    (usage,) = [delta for delta in deltas if isinstance(delta, Usage)]
    assert usage.input_tokens > 10
    assert usage.output_tokens >= len(pieces) > 5
    assert deltas[-1] == Finished("stop", "stop")


def test_the_conversation_is_sent_and_counted(local):
    first = list(local.stream(request(("user", QUESTION))))
    answer = "".join(delta.text for delta in first if isinstance(delta, TextDelta))
    second = list(local.stream(request(("user", QUESTION), ("assistant", answer), ("user", "And in HTTPS?"))))
    usages = [delta for delta in first + second if isinstance(delta, Usage)]
    assert usages[1].input_tokens > usages[0].input_tokens + usages[0].output_tokens
    assert usages[1].cache_read_tokens > 0


def test_an_answer_that_is_cut_short_says_so(local):
    deltas = list(local.stream(request(("user", QUESTION), options={"max_tokens": 3})))
    assert deltas[-1].reason == "length"


def test_ctrl_c_stops_the_answer_and_leaves_the_model_loaded(environ):
    program = """
try:
    for n, piece in enumerate(ask("Write a long story.")):
        if n == 5:
            first = local._engine.pid
            os.killpg(0, signal.SIGINT)  # as a terminal does: to all of the foreground
    print("not interrupted")
except KeyboardInterrupt:
    answer = "".join(ask("Say hello."))
    print(bool(answer), first == local._engine.pid, local._engine.alive())
local.close()
"""
    with run(program, environ) as process:
        assert process.communicate()[0] == "True True True\n"


def test_ctrl_c_while_the_model_loads_leaves_it_loading(environ):
    program = """
local.warm()
first = local._engine.pid
wait = local._engine.url
def interrupted(patience):
    os.kill(os.getpid(), signal.SIGINT)
    return wait(patience)
local._engine.url = interrupted
try:
    list(ask("Say hello."))
except KeyboardInterrupt:
    local._engine.url = wait
    print(bool("".join(ask("Say hello."))), first == local._engine.pid)
local.close()
"""
    with run(program, environ) as process:
        assert process.communicate()[0] == "True True\n"


def test_nothing_of_the_model_is_left_after_kill_9(environ):
    program = "list(ask('Say hello.')); print(local._engine.url(1), flush=True); sys.stdin.read()"
    with run(program, environ) as process:
        url = urlsplit(process.stdout.readline().strip())
        with socket.create_connection((url.hostname, url.port)) as connection:
            process.kill()
            assert connection.recv(1) == b""  # the server has gone


def test_a_file_that_is_no_model_is_one_sentence(local, tmp_path):
    file = tmp_path / "no.gguf"
    file.write_text("This is no model.")
    with pytest.raises(ProviderError, match=r"cannot load .*no\.gguf: is it a whole GGUF file"):
        list(local.stream(Request(str(file), "", (Message("user", (Text("hi"),)),))))


def test_nobody_without_the_key_gets_an_answer(local):
    import httpx

    list(local.stream(request(("user", "hi"), options={"max_tokens": 1})))
    url = local._engine.url(1)
    for path in ("/v1/models", "/v1/chat/completions", "/slots", "/props", "/metrics"):
        assert httpx.get(url + path).status_code in (401, 404)
    assert httpx.get(url).status_code == 404


def test_a_chat_with_nothing_configured(environ):
    """The terminal, the shell and the model together: ask, stop an answer, ask again, leave."""
    with Terminal(mino(), env=environ, columns=140, rows=40) as terminal:
        terminal.wait_for("You>")
        assert "tiny demonstration model" in terminal.text
        terminal.type(QUESTION + "\r")
        terminal.wait_for("tokens")
        terminal.type("Write a very long story about a ship.\r")
        terminal.wait_for("ship")
        terminal.type("\x03")
        terminal.wait_until(
            lambda: terminal.text.endswith("You>")
        )  # what is typed before would wait for a yes
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0


def test_one_question_on_the_command_line(environ):
    done = subprocess.run(mino("-p", QUESTION), env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "HTTP" in done.stdout


def test_install_and_status_from_an_empty_cache(engine, tmp_path, model_cache):
    from mino_local import weights

    def local(*arguments):
        return subprocess.run(
            mino("local", *arguments),
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    environ = {**home(tmp_path), "HOME": os.environ["HOME"], "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert local("status").returncode == 2
    first = local("install")
    assert first.returncode == 0, first.stderr
    assert "fetching SmolLM2-135M-Instruct, 93 MB" in first.stderr
    assert "there already" in local("install").stdout
    facts = json.loads(local("status", "--json").stdout)
    assert facts["ready"]
    assert facts["state"] == "whole"
    weights.location(environ).write_bytes(b"damaged")
    assert json.loads(local("status", "--json").stdout)["state"] == "damaged"
