"""`mino plugins list|info|check|enable|disable`, with the real program."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from mino_core.testing import home, run

HEAD = "from mino_core import hookimpl\n"
GOOD = "@hookimpl\ndef mino_commands():\n    return {'hello': lambda session, rest: None}\n"


@pytest.fixture
def environ(tmp_path):
    return home(tmp_path)


@pytest.fixture
def plugin(environ):
    """Puts a single-file plugin into MINO_HOME."""

    def put(name, code):
        folder = Path(environ["MINO_HOME"]) / "plugins"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(HEAD + dedent(code))

    return put


def plugins(environ, *argv, code=0):
    done = run(["plugins", *argv], environ)
    assert done.code == code, done
    return done


def rows(environ, *argv):
    listed = json.loads(plugins(environ, "list", "--json", *argv).out)
    return {row["name"]: row for row in listed["plugins"]}


def state(environ):
    file = Path(environ["MINO_HOME"]) / "state.toml"
    return tomllib.loads(file.read_text()) if file.exists() else {}


# -- list and info -----------------------------------------------------------------------------


def test_the_list_says_all_there_is_to_say_of_each(environ, plugin):
    plugin("greeter", GOOD)
    plugin("bad", "import does_not_exist_anywhere")
    listed = rows(environ)
    assert listed["greeter"]["state"] == "loaded"
    assert listed["greeter"]["source"] == "file"
    assert listed["greeter"]["offers"]["mino_commands"] == ["hello"]
    assert listed["greeter"]["import_ms"] > 0
    assert listed["greeter"]["fault"] is None
    assert listed["openai"]["source"] == "built-in"
    assert listed["openai"]["distribution"] == "mino-shell"
    assert listed["openai"]["version"]
    assert listed["bad"]["state"] == "failed"
    assert "does_not_exist_anywhere" in listed["bad"]["fault"]["text"]
    shown = plugins(environ).out
    assert "commands: hello" in shown
    assert "mino plugins disable bad" in shown


def test_a_plugin_that_takes_long_to_import_is_remarked_on(environ, plugin):
    plugin("slow", "import time\ntime.sleep(0.06)")
    assert "slow to import" in plugins(environ).out


def test_the_last_fault_is_remembered(environ, plugin):
    plugin(
        "moody",
        """
        from pathlib import Path
        if Path(__file__).with_name("bad-day").exists():
            raise RuntimeError("not today")
        """,
    )
    day = Path(environ["MINO_HOME"]) / "plugins/bad-day"
    day.touch()
    run(["plugins"], environ)
    day.unlink()
    kept = rows(environ)["moody"]
    assert kept["state"] == "loaded"
    assert "not today" in kept["fault"]["text"]
    assert kept["fault"]["time"] in plugins(environ).out
    told = plugins(environ, "info", "moody").out
    assert "not today" in told
    assert kept["fault"]["time"] in told


def test_a_fault_of_a_conversation_is_remembered(environ, plugin):
    plugin("loud", "@hookimpl\ndef mino_event(event):\n    raise RuntimeError('seen enough')")
    run(["--provider", "nowhere-yet", "-p", "hi"], environ)
    run(
        ["--provider", "ollama", "--model", "m", "-p", "hi"],
        {**environ, "MINO_BASE_URL": "http://127.0.0.1:9"},
    )
    assert "seen enough" in rows(environ)["loud"]["fault"]["text"]


def test_info_says_where_its_settings_go(environ, plugin):
    plugin("greeter", GOOD)
    told = plugins(environ, "info", "greeter").out
    assert "[plugins.settings.greeter]" in told
    assert "hello" in told
    (row,) = json.loads(plugins(environ, "info", "greeter", "--json").out)
    assert row["path"].endswith("plugins/greeter.py")


def test_info_takes_a_distribution(environ):
    names = [row["name"] for row in json.loads(plugins(environ, "info", "mino-shell", "--json").out)]
    assert {"openai", "plugins", "prompts"} <= set(names)


@pytest.mark.parametrize("act", ["info", "check", "disable", "enable", "uninstall"])
def test_what_fails_as_json_writes_no_json(environ, act):
    done = plugins(environ, act, "comands", "--json", code=2)
    assert done.out == ""
    assert done.err.startswith("Error: there is no plugin 'comands'")


@pytest.mark.parametrize("act", ["info", "check", "disable", "enable"])
def test_a_name_that_is_not_there_is_one_sentence(environ, act):
    done = plugins(environ, act, "comands", code=2)
    assert done.err.startswith("Error: there is no plugin 'comands'; there are: anthropic, commands, ")
    assert done.err.endswith("; did you mean commands?\n")


def test_nothing_that_a_plugin_is_called_reaches_the_terminal_raw(environ, plugin):
    plugin("loud", "raise RuntimeError('\\x1b[31mred\\x1b]0;title\\x07')")
    done = plugins(environ)
    assert "\x1b" not in done.out + done.err
    assert "red" in done.out


# -- check -------------------------------------------------------------------------------------


def test_a_plugin_in_order_passes(environ, plugin):
    plugin("greeter", GOOD)
    assert plugins(environ, "check", "greeter").out == "ok  greeter  greeter is loaded; commands: hello\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import does_not_exist_anywhere", "does_not_exist_anywhere"),
        ("@hookimpl\ndef mino_comands(): pass", "did you mean mino_commands?"),
        ("@hookimpl\ndef mino_commands():\n    return {'Loud': print}", "those are in lower case"),
        ("@hookimpl\ndef mino_commands():\n    return {'exit': print}", "'commands' keeps it"),
        ("@hookimpl\ndef mino_tools():\n    return {'t': lambda x: x}", "has no annotation"),
        ("@hookimpl\ndef mino_histories():\n    1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_plugin_that_breaks_a_promise_does_not(environ, plugin, code, words):
    plugin("wrong", code)
    done = plugins(environ, "check", "wrong", "--json", code=2)
    found = json.loads(done.out)
    assert any(words in one["text"] and one["state"] == "failed" for one in found), found


def test_a_file_can_be_checked_before_it_is_anywhere(environ, tmp_path):
    file = tmp_path / "draft.py"
    file.write_text(HEAD + GOOD)
    done = run(["-e", str(file), "plugins", "check", "draft"], environ)
    assert (done.code, done.err) == (0, "")


def test_the_built_ins_are_in_order(environ):
    assert all(one["state"] == "ok" for one in json.loads(plugins(environ, "check", "--json").out))


# -- enable and disable ------------------------------------------------------------------------


def test_disable_holds_from_the_next_start_on_and_enable_ends_it(environ, plugin):
    plugin("greeter", "raise AssertionError('imported')")
    assert plugins(environ, "disable", "greeter").out == "Disabled: greeter\n"
    assert state(environ)["plugins"] == {"disabled": ["greeter"]}
    done = plugins(environ, "list")
    assert done.err == ""
    assert rows(environ)["greeter"]["state"] == "disabled"
    assert json.loads(plugins(environ, "enable", "greeter", "--json").out) == {"disabled": []}
    assert "imported" in plugins(environ).out


def test_a_dry_run_changes_nothing(environ, plugin):
    plugin("greeter", GOOD)
    assert plugins(environ, "disable", "greeter", "--dry-run").out == "Disabled: greeter\n"
    assert "plugins" not in state(environ)


def test_a_built_in_can_be_disabled_but_not_the_way_back(environ):
    plugins(environ, "disable", "local")
    assert rows(environ)["local"]["state"] == "disabled"
    done = plugins(environ, "disable", "plugins", code=2)
    assert "'plugins' switches the others on again, so it stays" in done.err
    assert "'mino-shell' switches" in plugins(environ, "disable", "mino-shell", code=2).err


def test_everything_else_may_be_off_and_the_way_back_is_there(environ):
    others = [name for name in rows(environ) if name != "plugins"]
    plugins(environ, "disable", *others)
    plugins(environ, "enable", *others)
    assert {row["state"] for row in rows(environ).values()} == {"loaded"}


def test_what_the_user_wrote_stands_above_it(environ, plugin):
    plugin("greeter", GOOD)
    plugin("other", GOOD.replace("hello", "bye"))
    config = Path(environ["MINO_HOME"]) / "config.toml"
    config.write_text('[plugins]\ndisabled = ["greeter"]\n')
    done = plugins(environ, "disable", "other", code=2)
    assert "config.toml:2: plugins.disabled: is written there" in done.err
    assert 'write: disabled = ["greeter", "other"]' in done.err
    assert config.read_text() == '[plugins]\ndisabled = ["greeter"]\n'
    assert rows(environ)["other"]["state"] == "loaded"


def test_enabling_what_is_not_off_says_so(environ):
    assert "local is not disabled." in plugins(environ, "enable", "local").out


@pytest.mark.parametrize(
    "damaged",
    [
        '[plugins]\ndisabled = "local"\n',
        "[faults]\nlocal = 3\nbad = 4\n",
        "[installed]\nmino-parrot = 3\n[installed.mino-owl]\nplugins = 5\n",
        "[trust]\n'/' = 3\n",
        "installed = 3\nplugins = 'a'\nfaults = [1]\ntrust = 5\n",
        "this is [no TOML\n",
    ],
)
def test_a_state_that_is_damaged_stops_nothing(environ, plugin, damaged):
    plugin("bad", "import does_not_exist_anywhere")
    (Path(environ["MINO_HOME"]) / "state.toml").write_text(damaged)
    assert rows(environ)["local"]["state"] == "loaded"
    assert rows(environ)["bad"]["fault"]["time"] not in ("", "now")
    plugins(environ, "disable", "local")
    assert rows(environ)["local"]["state"] == "disabled"


def test_two_who_write_at_once_lose_nothing(environ):
    """Each reads, changes and writes the whole file; a lock keeps them apart."""
    code = """
import sys
from pathlib import Path
from mino_core.plugins.memory import change
one = {sys.argv[2]: {"requirement": "x"}}
change(Path(sys.argv[1]), lambda table: table.setdefault("installed", {}).update(one))
"""
    names = [f"mino-{n}" for n in range(6)]
    argv = [sys.executable, "-c", code, environ["MINO_HOME"]]
    begun = [subprocess.Popen([*argv, name]) for name in names]
    assert [child.wait() for child in begun] == [0] * len(begun)
    kept = tomllib.loads((Path(environ["MINO_HOME"]) / "state.toml").read_text())["installed"]
    assert sorted(kept) == names


# -- the command line --------------------------------------------------------------------------


def test_what_is_asked_for_wrongly_is_a_usage_line(environ):
    for argv in (["nothing"], ["info"], ["new", "x"], ["new", "x", "--kind", "y"]):
        done = plugins(environ, *argv, code=2)
        assert "usage: mino plugins" in done.err
        assert "Traceback" not in done.err


def test_its_help_names_every_act(environ):
    told = plugins(environ, "--help").out
    for act in ("list", "info", "install", "uninstall", "enable", "disable", "check", "sync", "new"):
        assert f"\n    {act} " in told
