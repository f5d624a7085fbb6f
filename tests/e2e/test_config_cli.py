"""A wrong or missing configuration, as a person sees it from the command line."""

import os
from pathlib import Path

import pytest
from mino_core.testing import Server, chat, home, run


def said_once(done):
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    return done.err


def test_every_mistake_is_shown_and_nothing_starts(tmp_path):
    toml = '[session]\nprovder = "x"\nmax_rounds = 0\n[renderer]\nname = 3\n'
    env = home(tmp_path, toml)
    err = said_once(run(["-p", "hi"], env))
    for line in (
        "config.toml:2: session.provder",
        "config.toml:3: session.max_rounds",
        "config.toml:5: renderer.name",
    ):
        assert line in err
    assert Path(env["MINO_HOME"], "config.toml").read_text() == toml


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('\n\n\n\n\n\nmodel = "x\n', ":7:"),
        ('[session]\nmodel = "C:\\Users"\n', "single quotes"),
        ("[shell]\n[shell]\n", "second time"),
    ],
)
def test_a_syntax_error_has_path_and_line_and_no_traceback(tmp_path, toml, words):
    env = home(tmp_path, toml)
    err = said_once(run(["-p", "hi"], env))
    assert str(Path(env["MINO_HOME"], "config.toml")) in err
    assert words in err


def test_a_directory_in_the_place_of_the_file_is_one_sentence(tmp_path):
    env = home(tmp_path)
    Path(env["MINO_HOME"], "config.toml").mkdir()
    assert len(said_once(run(["-p", "hi"], env)).splitlines()) == 1


@pytest.mark.parametrize(
    ("table", "key"),
    [("session", "provider"), ("history", "backend"), ("renderer", "name"), ("input", "name")],
)
def test_a_name_that_is_gone_leaves_help_and_the_list_of_plugins(tmp_path, table, key):
    env = home(tmp_path, f'[{table}]\n{key} = "gone"\n')
    assert run(["--help"], env).code == 0
    listed = run(["plugins", "list"], env)
    assert listed.code == 0
    assert "commands" in listed.out
    check = run(["config", "check"], env)
    assert check.code == 2
    assert f"config.toml:2: {table}.{key}: there is no " in check.out


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("history", "history.backend: there is no history backend 'jsonl'"),
        ("render", "renderer.name: there is no renderer 'rich'"),
        ("openai", "MINO_PROVIDER: vllm needs the kind 'openai-chat', which no plugin offers"),
    ],
)
def test_what_a_disabled_plugin_leaves_missing_is_said_with_the_reason(tmp_path, plugin, words):
    env = home(tmp_path, f'[plugins]\ndisabled = ["{plugin}"]\n', MINO_PROVIDER="vllm", MINO_MODEL="m")
    err = said_once(run(["-p", "hi"], env))
    assert words in err
    assert f"([plugins] disabled leaves out: {plugin})" in err


def test_a_plugin_that_is_disabled_and_not_there_is_found_by_check(tmp_path):
    done = run(["config", "check"], home(tmp_path, '[plugins]\ndisabled = ["hisory"]\n'))
    assert done.code == 2
    assert "config.toml:2: plugins.disabled: there is no plugin 'hisory'; did you mean history?" in done.out


def test_an_unknown_provider_names_the_setting_and_what_there_is(tmp_path):
    err = said_once(run(["-p", "hi"], home(tmp_path, '[session]\nprovider = "gone"\n')))
    assert "config.toml:2: session.provider" in err
    assert "openai-chat" in err


def test_files_of_the_working_directory_change_nothing(tmp_path):
    env = home(tmp_path)
    project = tmp_path / "project"
    (project / ".mino").mkdir(parents=True)
    for name in ("config.toml", "mino.toml", ".mino/config.toml"):
        (project / name).write_text('[session]\nprovider = "evil"\n')
    shown = run(["config", "show"], env, cwd=project)
    assert shown.code == 0
    assert "evil" not in shown.out
    named = run(["--config", "config.toml", "config", "show"], env, cwd=project)
    assert '"evil"' in named.out


def test_a_key_that_others_may_read_is_one_warning_on_standard_error(tmp_path):
    with Server() as server:
        server.reply(*chat("hello"))
        toml = f'[providers.mine]\nkind = "openai-chat"\nbase_url = "{server.url}"\napi_key = "sk-CANARY"\n'
        env = home(tmp_path, toml, MINO_PROVIDER="mine", MINO_MODEL="m")
        path = Path(env["MINO_HOME"], "config.toml")
        path.chmod(0o644)
        done = run(["-p", "hi"], env)
        assert done.code == 0, done.err
        assert done.err.count(f"chmod 600 {path}") == 1
        assert "CANARY" not in done.out + done.err
        assert server.requests[0].headers["authorization"] == "Bearer sk-CANARY"


def test_provider_and_key_from_the_environment_need_no_file(tmp_path):
    with Server() as server:
        server.reply(*chat("hello"))
        variables = {"MINO_PROVIDER": "deepseek", "MINO_API_KEY": "sk-CANARY", "MINO_BASE_URL": server.url}
        done = run(["-p", "hi"], home(tmp_path, **variables))
        assert (done.code, done.out.strip()) == (0, "hello")
        assert server.requests[0].headers["authorization"] == "Bearer sk-CANARY"
        assert server.requests[0].json["model"] == "deepseek-flash"


def test_show_and_doctor_on_a_fresh_home_write_no_configuration(tmp_path):
    env = home(tmp_path)
    assert run(["config", "show"], env).code == 0
    assert run(["doctor"], env).code in (0, 3)
    assert "config.toml" not in os.listdir(env["MINO_HOME"])
