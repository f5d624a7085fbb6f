"""`mino config`, `mino models` and `mino doctor`, on a real host."""

import json
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mino_core import ConfigError, ProviderError, UsageError, interrupts, secret
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.testing import Server, home, run

from mino_commands import doctor, mino_subcommands

_PLUGIN = """
from mino_core import hookimpl

class Anything:
    def show(self, event): pass
    def read(self, prompt): raise EOFError
    def ask(self, question, choices): return None
    def stream(self, request): return iter(())

@hookimpl
def mino_providers(settings):
    settings.number("depth", 1)
    def make(settings):
        settings.text("base_url", "")
        settings.secret("api_key")
        settings.table("extra_headers")
        return Anything()
    return {"deaf": make}

@hookimpl
def mino_renderers():
    return {"quiet": lambda settings, screen: Anything()}

@hookimpl
def mino_inputs():
    return {"mute": lambda settings, screen: Anything()}
"""


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests(monkeypatch):
    monkeypatch.setattr(secret, "_known", [])


@contextmanager
def host(tmp_path, toml="", flags=None, **environ):
    """A host with the built-ins and one plugin, whose pieces stand in for those of a terminal."""
    base = home(tmp_path, toml, **{"MINO_RENDERER": "quiet", "MINO_INPUT": "mute"} | environ)
    config = tmp_path / "home/.mino/config.toml"
    if config.exists():
        config.chmod(0o600)
    plugin = tmp_path / "odd.py"
    plugin.write_text(_PLUGIN)
    with interrupts.installed():
        made = Host(load(base, flags), extensions=[plugin])
        made.load()
        yield made


def mino(there, *argv):
    """Run a subcommand; the exit code."""
    name, *rest = argv
    return mino_subcommands()[name](rest, there)


# -- show --------------------------------------------------------------------------------------

TOML = """\
[session]
model = "m"
[providers.mine]
kind = "deaf"
base_url = "https://user:CANARY@llm.example/v1?key=CANARY"
api_key = "CANARY"
extra_headers = { Authorization = "Bearer CANARY", X-Plain = "CANARY" }
proxy = "http://CANARY@proxy.example"
[plugins.settings.odd]
token = "CANARY"
note = "my key is CANARY"
args = ["--key", "sk-CANARY-0123"]
"""


def test_show_says_each_value_and_where_it_came_from(tmp_path, capsys):
    with host(tmp_path, TOML, Flags(options={"temperature": 0.2}), MINO_PROVIDER="mine") as there:
        assert mino(there, "config", "show") == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["session.provider", '"mine"', "MINO_PROVIDER"] in lines
        assert ["session.model", '"m"', "config.toml:2"] in lines
        assert ["history.backend", '"jsonl"', "default"] in lines
        assert ["providers.mine.api_key", '"***"', "config.toml:6"] in lines
        assert ["providers.mine.kind", '"deaf"', "config.toml:4"] in lines
        assert ["options.temperature", "0.2", "-o"] in lines


def test_show_as_json_holds_the_same(tmp_path, capsys):
    with host(tmp_path, '[session]\nprovider = "groq"\n') as there:
        assert mino(there, "config", "show", "--json") == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["session.provider"] == {"value": "groq", "origin": "config.toml:2"}
        assert shown["plugins.disabled"] == {"value": [], "origin": "default"}


def test_show_holds_every_key_that_something_asks_for_and_where_its_value_is_from(tmp_path, capsys):
    toml = "[renderer]\nusage = false\n[providers.deepseek]\nread_timeout = 9\n"
    with host(
        tmp_path, toml, Flags(provider="deepseek"), MINO_RENDERER="", MINO_INPUT="", DEEPSEEK_API_KEY="CANARY"
    ) as there:
        assert mino(there, "config", "show", "--json") == 0
    shown = {key: tuple(row.values()) for key, row in json.loads(capsys.readouterr().out).items()}
    assert shown["renderer.usage"] == (False, "config.toml:2")
    assert shown["renderer.reasoning"] == ("show", "default")
    assert shown["input.mode"] == ("emacs", "default")
    assert shown["history.path"] == ("history", "default")
    assert shown["providers.deepseek.read_timeout"] == (9, "config.toml:4")
    assert shown["providers.deepseek.include_usage"] == (True, "default")
    assert shown["providers.deepseek.max_tokens"] == (None, "default")
    assert shown["providers.deepseek.base_url"] == ("https://api.deepseek.com", "the preset deepseek")
    assert shown["providers.deepseek.api_key"] == ("env:DEEPSEEK_API_KEY", "the preset deepseek")


def test_show_says_what_a_variable_puts_in_place_of_a_preset(tmp_path, capsys):
    url = "http://127.0.0.1:1/v1"
    with host(tmp_path, "", MINO_PROVIDER="deepseek", MINO_BASE_URL=url, DEEPSEEK_API_KEY="CANARY") as there:
        mino(there, "config", "show", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["providers.deepseek.base_url"] == {"value": url, "origin": "MINO_BASE_URL"}
    assert shown["providers.deepseek.api_key"]["value"] in (None, "")
    with host(tmp_path, "", MINO_PROVIDER="deepseek", MINO_API_KEY="CANARY") as there:
        mino(there, "config", "show", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["providers.deepseek.api_key"] == {"value": "env:MINO_API_KEY", "origin": "MINO_API_KEY"}


def test_with_nothing_chosen_show_says_what_answers_and_why(tmp_path, capsys):
    with host(tmp_path, "", MISTRAL_API_KEY="CANARY") as there:
        mino(there, "config", "show", "--json")
        shown = json.loads(capsys.readouterr().out)
        assert shown["session.provider"] == {"value": "mistral", "origin": "MISTRAL_API_KEY is set"}


@pytest.mark.parametrize(
    "argv", [("config", "show"), ("config", "show", "--json"), ("doctor",), ("doctor", "--json")]
)
def test_no_secret_is_shown_wherever_it_stands(tmp_path, capsys, argv):
    with host(tmp_path, TOML, MINO_PROVIDER="mine", OPENAI_API_KEY="CANARY", MINO_API_KEY="CANARY") as there:
        mino(there, *argv)
        seen = capsys.readouterr()
        assert "CANARY" not in seen.out + seen.err
        assert seen.out


PLACES = (
    "api_key",
    "token",
    "password",
    "extra_headers.X",
    "extra_headers.Authorization",
    "secret",
    "x_api_key",
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    value=st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=4, max_size=40),
    place=st.sampled_from(PLACES),
    table=st.sampled_from(["providers.mine", "plugins.settings.odd", "history"]),
)
def test_whatever_a_secret_looks_like_it_is_never_shown(tmp_path_factory, capsys, value, place, table):
    import tomli_w

    value = tree = f"§{value}"  # so that it is not by chance a word of the output
    for key in reversed(f"{table}.{place}".split(".")):
        tree = {key: tree}
    folder = tmp_path_factory.mktemp("x")
    with host(folder, tomli_w.dumps(tree)) as there:
        for argv in (("config", "show"), ("config", "show", "--json")):
            mino(there, *argv)
            assert value not in capsys.readouterr().out
        for check in doctor.checks(there):
            assert value not in check.text


# -- check and path ----------------------------------------------------------------------------


def test_check_finds_nothing_wrong_with_a_right_file(tmp_path, capsys):
    with host(
        tmp_path, '[providers.a]\nkind = "deaf"\napi_key = "x"\n[plugins.settings.odd]\ndepth = 2\n'
    ) as there:
        assert mino(there, "config", "check") == 0
        assert "nothing is wrong" in capsys.readouterr().out


def test_check_makes_everything_and_reports_every_mistake(tmp_path, capsys):
    toml = """\
[providers.a]
kind = "deaf"
base_ulr = "x"
[providers.b]
kind = "gone"
[providers.c]
kind = "deaf"
api_key = "env:NOT_SET"
[history]
depht = 1
[renderer]
name = "missing"
[plugins.settings.odd]
depth = 2
other = 3
[plugins.settings.nobody]
x = 1
"""
    with host(tmp_path, toml, MINO_RENDERER="") as there:
        assert mino(there, "config", "check", "--json") == 2
        found = json.loads(capsys.readouterr().out)["problems"]
    told = "\n".join(found)
    for place in (
        "config.toml:3",
        "config.toml:5",
        "config.toml:8",
        "config.toml:10",
        "config.toml:15",
        "config.toml:16",
    ):
        assert place in told
    for word in ("base_ulr", "'gone'", "NOT_SET", "depht", "'missing'", "other", "'nobody'"):
        assert word in told
    assert len(found) == 7


def test_path_says_which_file_it_is(tmp_path, capsys):
    with host(tmp_path) as there:
        mino(there, "config", "path")
        assert capsys.readouterr().out == f"{there.config.home / 'config.toml'}\n"
        mino(there, "config", "path", "--json")
        assert json.loads(capsys.readouterr().out)["exists"] is False


@pytest.mark.parametrize("name", ["config", "doctor", "history", "init", "local", "models", "plugins"])
def test_a_wrong_argument_is_usage_and_ends_with_2(tmp_path, name):
    env = home(tmp_path)
    wrong = run([name, "--nonsense"], env)
    assert (wrong.code, wrong.out) == (2, "")
    assert f"usage: mino {name}" in wrong.err
    told = run([name, "--help"], env)
    assert (told.code, told.err) == (0, "")
    assert f"usage: mino {name}" in told.out


# -- models and plugins ------------------------------------------------------------------------


def test_models_are_listed(tmp_path, capsys):
    with Server(models=("m1", "m2\x1b[2J")) as server:
        toml = f'[providers.mine]\nkind = "openai-chat"\nbase_url = "{server.url}"\n'
        with host(tmp_path, toml) as there:
            assert mino(there, "models", "mine") == 0
            assert capsys.readouterr().out == "m1\nm2␛[2J\n"


def test_models_of_a_kind_that_has_no_list_are_an_error(tmp_path):
    with host(tmp_path, "", Flags(provider="deaf")) as there, pytest.raises(UsageError, match="cannot list"):
        mino(there, "models")


def test_models_of_an_unknown_provider_are_an_error(tmp_path):
    with host(tmp_path) as there, pytest.raises(ConfigError, match="there is no provider 'gone'"):
        mino(there, "models", "gone")


# -- doctor ------------------------------------------------------------------------------------


def examined(there, capsys, *flags):
    code = mino(there, "doctor", "--json", *flags)
    return code, {
        (check["what"], check["state"]): check["text"] for check in json.loads(capsys.readouterr().out)
    }


def test_doctor_is_content_where_everything_works(tmp_path, capsys):
    with Server() as server:
        toml = f'[providers.mine]\nkind = "openai-chat"\nbase_url = "{server.url}"\n'
        toml += 'model = "demo-1"\napi_key = "env:MY_KEY"\n[session]\nprovider = "mine"\n'
        with host(tmp_path, toml, MY_KEY="CANARY", GROQ_API_KEY="CANARY") as there:
            code, found = examined(there, capsys, "--online")
            assert code == 0
            assert found["key", "ok"] == "found in the environment variable MY_KEY"
            assert "groq (GROQ_API_KEY)" in found["others", "ok"]
            assert found["model", "ok"] == "demo-1"
            assert "standard output is not a terminal" in found["terminal", "note"]
            assert found["server", "ok"].startswith("lists 1 model")
            assert found["history", "ok"] == "jsonl: conversations can be kept"
            assert list(there.history.conversations()) == []


def test_doctor_ends_with_3_where_the_server_does_not_answer(tmp_path, capsys):
    with Server() as server:
        url = server.url
    toml = f'[providers.mine]\nkind = "openai-chat"\nmodel = "m"\nbase_url = "{url}"\n'
    with host(tmp_path, toml, Flags(provider="mine")) as there:
        code, found = examined(there, capsys, "--online")
        assert code == ProviderError.exit_code
        assert ("server", "failed") in found


def test_doctor_asks_no_server_unless_it_is_told_to(tmp_path, capsys):
    with Server() as server:
        toml = f'[providers.mine]\nkind = "openai-chat"\nmodel = "other"\nbase_url = "{server.url}"\n'
        with host(tmp_path, toml, Flags(provider="mine")) as there:
            code, found = examined(there, capsys)
            assert code == 0
            assert "`mino doctor --online`" in found["server", "note"]
            assert (server.connections, server.requests) == (0, [])
            assert "other is not among them" in examined(there, capsys, "--online")[1]["server", "note"]


def test_doctor_says_that_the_model_of_this_computer_is_not_installed(tmp_path, capsys):
    with host(tmp_path) as there:
        code, found = examined(there, capsys)
        assert code == 3
        assert found["model", "ok"] == "SmolLM2-135M-Instruct"
        assert "not installed" in found["server", "failed"]


def test_doctor_tells_each_thing_that_is_wrong_once(tmp_path, capsys):
    toml = '[providers.mine]\nkind = "openai-chat"\nmodel = "m"\napi_key = "env:NOT_SET"\nread_timeuot = 1\n'
    with host(tmp_path, toml, Flags(provider="mine")) as there:
        assert mino(there, "doctor", "--json") == 3
        failed = [each["text"] for each in json.loads(capsys.readouterr().out) if each["state"] == "failed"]
    assert len(failed) == len(set(failed)) == 1


def test_doctor_names_a_missing_key_and_an_unknown_provider(tmp_path, capsys):
    with host(tmp_path, "", Flags(provider="mistral")) as there:
        code, found = examined(there, capsys)
        assert code == 3
        assert "MISTRAL_API_KEY is not set" in found["key", "failed"]
    with host(tmp_path, "", Flags(provider="gone")) as there:
        assert "there is no provider 'gone'" in examined(there, capsys)[1]["config", "failed"]


def test_doctor_tries_a_connection_where_there_is_no_list_of_models(tmp_path, capsys):
    with Server() as server:
        toml = f'[providers.mine]\nkind = "deaf"\nmodel = "m"\nbase_url = "{server.url}"\n'
        with host(tmp_path, toml, Flags(provider="mine")) as there:
            assert "takes connections" in examined(there, capsys, "--online")[1]["server", "ok"]
    with host(tmp_path, toml, Flags(provider="mine")) as there:
        assert "does not take connections" in examined(there, capsys, "--online")[1]["server", "failed"]


def test_doctor_says_where_history_cannot_be_written(tmp_path, capsys):
    with host(tmp_path) as there:
        (there.config.home / "history").write_text("a file in the way")
        code, found = examined(there, capsys)
        assert code == 3
        assert ("history", "failed") in found


def test_doctor_counts_broken_plugins(tmp_path, capsys):
    plugins = tmp_path / "home/.mino/plugins"
    plugins.mkdir(parents=True)
    (plugins / "bad.py").write_text("1/0\n")
    with host(tmp_path) as there:
        code, _ = examined(there, capsys)
        assert code == 3
