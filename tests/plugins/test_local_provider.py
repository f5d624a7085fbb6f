"""The provider of kind `local`: which child runs, what it is asked, what is said when it cannot."""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from mino_core import Finished, Message, ProviderError, Request, Settings, Text, TextDelta, Usage
from mino_core.testing import Scripted, Server, chat

import mino_local
from mino_local import mino_providers, weights
from mino_local.provider import Local

CHILD = Path(__file__).with_name("local_child.py")
URL = "http://127.0.0.1:1"
READY = {"say": json.dumps({"url": URL}) + "\n"}
ANSWER = (TextDelta("hi"), Finished("stop"))
HELLO = Request("", "Be kind.", (Message("user", (Text("hello"),)),))


class Chat:
    """The kind `openai-chat` of these tests: remembers its settings, answers from a script."""

    def __init__(self, *rounds):
        self.settings = []
        self.script = Scripted(*rounds)

    def __call__(self, settings):
        self.settings.append(settings)
        return self.script


@pytest.fixture
def local(tmp_path):
    """Make a provider with this table and these rounds; it is closed with the test."""
    made = []

    def local(table=None, *rounds):
        chat = Chat(*rounds or (ANSWER, ANSWER, ANSWER))
        environ = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        settings = Settings(table or {}, path="providers.local", home=tmp_path, environ=environ)
        provider = Local(settings, chat, CHILD)
        assert settings.unread() == []
        made.append(provider)
        return provider, chat

    yield local
    for provider in made:
        provider.close()


@pytest.fixture
def model(tmp_path):
    """Write a model file whose child takes these steps."""

    def model(*steps, name="model.gguf"):
        (tmp_path / name).write_text(json.dumps(steps))
        return str(tmp_path / name)

    return model


def embed(tmp_path, *steps):
    """Put a file of the right size, mostly a hole, where the embedded weights belong."""
    file = weights.location({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(steps) + "\n")
    os.truncate(file, weights.EMBEDDED.size)
    return file


def refused(provider, request=HELLO):
    with pytest.raises(ProviderError) as caught:
        list(provider.stream(request))
    return caught.value


def test_the_question_goes_to_the_child_in_the_chat_dialect_with_its_key(local, model):
    provider, chat = local({"model": model(READY)})
    assert list(provider.stream(HELLO)) == list(ANSWER)
    settings = chat.settings[-1]
    assert settings.text("base_url") == URL + "/v1"
    assert len(settings.secret("api_key").reveal()) == 32


def test_the_kind_openai_chat_speaks_to_the_child(tmp_path, model):
    with Server() as server:
        server.reply(*chat("An answer.", usage=Usage(input_tokens=3)))
        settings = Settings({"model": model({"say": json.dumps({"url": server.url}) + "\n"})}, home=tmp_path)
        provider = Local(settings, mino_local._chat, CHILD)
        deltas = list(provider.stream(HELLO))
        key = provider._engine.key
        provider.close()
    (asked,) = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {key}"
    assert asked.json["model"] == "local"
    assert asked.json["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hello"},
    ]
    assert deltas[0] == TextDelta("An answer.")
    assert deltas[-1].reason == "stop"


def test_one_child_answers_one_question_after_another(local, model):
    provider, _ = local({"model": model(READY)})
    list(provider.stream(HELLO))
    first = provider._engine
    list(provider.stream(HELLO))
    assert provider._engine is first


def test_a_child_that_died_between_two_questions_is_started_again(local, model):
    provider, _ = local({"model": model(READY)})
    list(provider.stream(HELLO))
    first = provider._engine
    os.kill(first.pid, signal.SIGKILL)
    first._process.wait()
    assert list(provider.stream(HELLO)) == list(ANSWER)
    assert provider._engine is not first


def test_another_model_takes_the_place_of_the_one_that_runs(local, model):
    provider, _ = local({"model": model(READY)})
    list(provider.stream(HELLO))
    first = provider._engine
    other = Request(model(READY, name="other.gguf"), "", HELLO.messages)
    list(provider.stream(other))
    assert not first.alive()
    assert provider._engine.model.name == "other.gguf"


def test_the_child_starts_before_the_first_question_where_the_shell_asks_for_it(local, model):
    provider, chat = local({"model": model(READY)})
    provider.warm()
    warmed = provider._engine
    assert len(chat.settings) == 1  # the dialect has been imported
    list(provider.stream(HELLO))
    assert provider._engine is warmed


def test_the_screen_is_drawn_before_the_wait_for_the_model(local, model, monkeypatch):
    provider, chat = local({"model": model(READY)})
    drawn = []
    monkeypatch.setattr("mino_core.transport.idle", lambda: drawn.append(len(chat.script.requests)))
    list(provider.stream(HELLO))
    assert drawn == [0]


def test_what_is_wrong_waits_for_the_first_question(local):
    provider, _ = local({"model": "nowhere.gguf"})
    provider.warm()
    assert refused(provider).kind == "config"


def test_instructions_always_go_along_since_the_model_makes_up_its_own(local, model):
    provider, chat = local({"model": model(READY)})
    list(provider.stream(HELLO))
    list(provider.stream(Request("", " \n", HELLO.messages)))
    assert [request.instructions for request in chat.script.requests] == [
        "Be kind.",
        "You are a helpful assistant.",
    ]


def test_the_embedded_model_is_held_to_short_answers_that_do_not_repeat_themselves(local, tmp_path):
    embed(tmp_path, READY)
    provider, chat = local()
    list(provider.stream(HELLO))
    options = chat.script.requests[0].options
    assert options["max_tokens"] <= 200
    assert options["repeat_penalty"] > 1
    assert options["temperature"] <= 0.3


def test_the_users_options_win_over_the_tables_and_those_over_ours(local, model):
    provider, chat = local({"model": model(READY), "max_tokens": 100})
    list(provider.stream(HELLO))
    list(provider.stream(Request("", "", HELLO.messages, options={"max_tokens": 7})))
    assert [dict(request.options) for request in chat.script.requests] == [
        {"max_tokens": 100},
        {"max_tokens": 7},
    ]


def test_missing_weights_name_the_command_that_fetches_them(local):
    provider, _ = local()
    error = refused(provider)
    assert error.kind == "config"
    assert "`mino local install` (93 MB, once)" in error.message


def test_weights_of_the_wrong_size_count_as_missing(local, tmp_path):
    os.truncate(embed(tmp_path), 1000)
    provider, _ = local()
    assert "mino local install" in refused(provider).message


def test_a_model_that_is_no_file_is_named(local):
    provider, _ = local()
    error = refused(provider, Request("nowhere.gguf", "", HELLO.messages))
    assert "nowhere.gguf" in error.message
    assert "SmolLM2-135M-Instruct" in error.message


def test_a_relative_model_lies_in_the_home_of_mino(local, model, tmp_path):
    model(READY, name="mine.gguf")
    provider, _ = local({"model": "mine.gguf"})
    list(provider.stream(HELLO))
    assert provider._engine.model == tmp_path / "mine.gguf"


def test_a_stream_that_broke_because_the_child_died_says_so(local, model):
    provider, chat = local({"model": model(READY)})

    def die():
        os.kill(provider._engine.pid, signal.SIGKILL)

    chat.script = Scripted([TextDelta("h"), die, ProviderError("stream", "the connection broke", 200)])
    error = refused(provider)
    assert (error.kind, error.status) == ("stream", 200)
    assert "ended by SIGKILL" in error.message


def test_a_conversation_that_has_grown_too_long_names_the_way_out(local, model):
    provider, _ = local(
        {"model": model(READY)}, [ProviderError("http", "HTTP 400: [exceed_context_size_error]", 400)]
    )
    error = refused(provider)
    assert (error.kind, error.status) == ("http", 400)
    assert "longer than the 8192 tokens" in error.message
    assert "/clear" in error.message


@pytest.mark.parametrize("kind", ["http", "stream"])
def test_other_errors_of_the_server_pass_as_they_are(local, model, kind):
    wrong = ProviderError(kind, "something else", 200, "request-1", 3.0)
    provider, _ = local({"model": model(READY)}, [wrong])
    assert refused(provider) is wrong


def test_closing_ends_the_child_and_the_connection(local, model):
    provider, chat = local({"model": model(READY)})
    list(provider.stream(HELLO))
    engine = provider._engine
    provider.close()
    assert not engine.alive()
    assert chat.script.closed


def test_the_banner_can_say_that_the_embedded_model_is_a_toy(local, model):
    assert local()[0].note.startswith("A tiny demonstration model")
    assert "`mino init`" in local()[0].note
    assert "demonstration" not in local({"model": model()})[0].note


def test_it_names_its_models(local, model, tmp_path):
    embed(tmp_path)
    mine = model()
    assert list(local({"model": mine})[0].models()) == [mine, "SmolLM2-135M-Instruct"]
    assert list(local()[0].models()) == ["SmolLM2-135M-Instruct"]


def test_models_that_are_not_there_are_not_named(local, model):
    mine = model()
    assert list(local({"model": mine})[0].models()) == [mine]
    with pytest.raises(ProviderError, match="is not installed: run `mino local install`"):
        local()[0].models()
    with pytest.raises(ProviderError, match="there is no model file"):
        local({"model": "gone.gguf"})[0].models()


@pytest.mark.parametrize("key", ["context_size", "threads", "max_tokens", "start_timeout"])
def test_a_wrong_setting_is_an_error_before_anything_starts(local, key):
    from mino_core import ConfigError

    with pytest.raises(ConfigError, match=f"providers.local.{key}"):
        local({key: "many"})


def test_to_make_the_provider_imports_nothing_heavy():
    program = (
        "import sys; from mino_core import Settings; import mino_local;"
        "mino_local.mino_providers()['local'](Settings());"
        "heavy = {'subprocess', 'socket', 'ssl', 'tempfile', 'shutil', 'secrets', 'httpx', 'httpcore',"
        " 'argparse', 'asyncio', 'importlib.metadata', 'hashlib', 'zipfile', 'xllamacpp'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_plugin_offers_the_kind_local():
    assert list(mino_providers()) == ["local"]


@pytest.mark.parametrize(
    ("engine", "words"), [("", "mino-shell[local]'`, then `mino local"), ("1", "run `mino")]
)
def test_what_has_to_be_installed_is_said_in_order(tmp_path, monkeypatch, engine, words):
    def version(name):
        if not engine:
            raise PackageNotFoundError(name)
        return engine

    monkeypatch.setattr("importlib.metadata.version", version)
    settings = Settings({}, environ={"XDG_CACHE_HOME": str(tmp_path)})
    provider = Local(settings, Chat())
    with pytest.raises(ProviderError) as caught:
        list(provider.stream(HELLO))
    assert words in str(caught.value)
    assert "`mino local install` (93 MB, once)" in str(caught.value)
