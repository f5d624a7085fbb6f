"""Which value holds, and where it came from."""

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core.config import INSTRUCTIONS, Config, Flags
from mino_core.config.loading import load
from mino_core.errors import ConfigError
from mino_core.secret import mask


def configured(home: Path, toml: str | bytes = "", flags: Flags | None = None, **environ: str) -> Config:
    home.mkdir(exist_ok=True)
    path = home / "config.toml"
    path.touch(mode=0o600)
    path.write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    return load({"MINO_HOME": str(home), **environ}, flags)


def test_with_nothing_configured_the_defaults_hold_and_nothing_is_written(tmp_path):
    home = tmp_path / "home"
    assert load({"MINO_HOME": str(home)}) == Config(home=home)
    assert not home.exists()


def test_the_home_directory_is_where_mino_home_says_else_beneath_home(tmp_path):
    assert load({"HOME": str(tmp_path)}).home == tmp_path / ".mino"
    assert load({"HOME": str(tmp_path), "MINO_HOME": "~/m"}).home == tmp_path / "m"
    assert load({"HOME": str(tmp_path), "MINO_HOME": " "}).home == tmp_path / ".mino"


def test_without_home_the_user_database_says_where_home_is():
    import pwd

    assert load({"MINO_PROVIDER": "x"}).home == Path(pwd.getpwuid(os.getuid()).pw_dir, ".mino")


def test_a_user_without_any_home_is_told_what_to_set(monkeypatch):
    import pwd

    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(ConfigError, match="set HOME, or MINO_HOME"):
        load({})


def test_a_later_place_wins_and_each_value_says_where_it_came_from(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    state = home / "state.toml"
    state.write_text('[session]\nprovider = "a"\n')
    assert load({"MINO_HOME": str(home)}).session.provider == "a"
    config = configured(home, '[session]\nprovider = "b"\n')
    assert (config.session.provider, config.origins["session.provider"]) == ("b", "config.toml")
    config = configured(home, '[session]\nprovider = "b"\n', MINO_PROVIDER="c")
    assert (config.session.provider, config.origins["session.provider"]) == ("c", "MINO_PROVIDER")
    config = configured(home, "", Flags(provider="d"), MINO_PROVIDER="c")
    assert (config.session.provider, config.origins["session.provider"]) == ("d", "--provider")
    assert config.origins["renderer.name"] == "default"


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_a_blank_value_counts_as_not_set(tmp_path, blank):
    config = configured(tmp_path, '[session]\nmodel = "m"\n', Flags(model=blank), MINO_MODEL=blank)
    assert config.session.model == "m"
    config = configured(tmp_path, f'[session]\nmodel = "{blank}"\n')
    assert config.session.model is None


def test_a_model_goes_with_the_provider_it_was_named_beside(tmp_path):
    toml = '[session]\nprovider = "a"\nmodel = "of-a"\n'
    assert configured(tmp_path, toml).session.model == "of-a"
    assert configured(tmp_path, toml, MINO_PROVIDER="b").session.model is None
    assert configured(tmp_path, toml, MINO_PROVIDER="a").session.model == "of-a"
    assert configured(tmp_path, toml, MINO_PROVIDER="b", MINO_MODEL="of-b").session.model == "of-b"
    assert configured(tmp_path, "", Flags(provider="b"), MINO_MODEL="m").session.model == "m"


def test_flags_for_plain_and_for_no_history_are_choices(tmp_path):
    config = configured(tmp_path, '[renderer]\nname = "rich"\n', Flags(plain=True, no_history=True))
    assert (config.renderer.name, config.input.name, config.history.name) == ("plain", "lines", "memory")
    assert config.origins["renderer.name"] == "--plain"


def test_continue_means_resuming_the_last_conversation(tmp_path):
    assert configured(tmp_path, "", Flags(continue_=True)).session.resume == "last"


def test_a_choice_gets_its_table_without_the_keys_that_are_minos(tmp_path):
    config = configured(tmp_path, '[history]\nbackend = "sqlite"\nsend = "none"\npath = "x.db"\n')
    assert config.history.name == "sqlite"
    assert dict(config.history.settings) == {"path": "x.db"}
    assert config.send == "none"


def test_a_table_without_a_name_belongs_to_the_default(tmp_path):
    assert dict(configured(tmp_path, "[renderer]\nwidth = 3\n").renderer.settings) == {"width": 3}


def test_an_overriding_choice_does_not_get_the_table_of_another(tmp_path):
    toml = '[history]\nbackend = "sqlite"\npath = "x.db"\nsend = "none"\n'
    config = configured(tmp_path, toml, MINO_HISTORY="memory")
    assert (config.history.name, dict(config.history.settings), config.send) == ("memory", {}, "none")
    same = configured(tmp_path, toml, Flags(history="sqlite"))
    assert dict(same.history.settings) == {"path": "x.db"}


def test_a_plugin_has_its_table(tmp_path):
    config = configured(tmp_path, "[plugins.settings.git]\ndepth = 2\n[tools]\nenabled = []\n")
    assert dict(config.plugin("git")) == {"depth": 2}
    assert dict(config.plugin("none")) == {}
    assert str(config.plugin("git").error("depth", "is odd")) == (
        "config.toml:2: plugins.settings.git.depth: is odd"
    )


def test_nothing_is_read_from_the_working_directory(tmp_path, monkeypatch):
    here = tmp_path / "project"
    (here / ".mino").mkdir(parents=True)
    for name in ("mino.toml", "config.toml", ".mino/config.toml", ".mino/SOUL.md", "SOUL.md", "AGENTS.md"):
        (here / name).write_text('[session]\nprovider = "evil"\n')
    (here / "pyproject.toml").write_text('[tool.mino.session]\nprovider = "evil"\n')
    monkeypatch.chdir(here)
    assert load({"MINO_HOME": str(tmp_path / "home")}) == Config(home=tmp_path / "home")


def test_another_file_can_be_named(tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('[session]\nprovider = "x"\n')
    config = load({"MINO_HOME": str(tmp_path / "home")}, Flags(config=other))
    assert (config.session.provider, config.origins["session.provider"]) == ("x", "other.toml")


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbf[session]\nprovider = "p"\n',
        b'[session]\r\nprovider = "p"\r\n',
        b'# only\n\n[session]\nprovider = "p"',
    ],
)
def test_byte_order_marks_and_line_ends_do_not_matter(tmp_path, data):
    assert configured(tmp_path, data).session.provider == "p"


@pytest.mark.parametrize("data", [b"", b"\n", b"# nothing\n", b"\xef\xbb\xbf", b"\r\n\r\n"])
def test_a_file_without_values_loads(tmp_path, data):
    assert configured(tmp_path, data) == Config(home=tmp_path)


# -- instructions ------------------------------------------------------------------------------


def test_instructions_are_soul_md_of_the_home_directory(tmp_path):
    assert configured(tmp_path).instructions == INSTRUCTIONS
    (tmp_path / "SOUL.md").write_bytes(b"\xef\xbb\xbfBe brief.\n\n")
    assert configured(tmp_path).instructions == "Be brief."
    assert configured(tmp_path, "", Flags(system="Sing.")).instructions == "Sing."
    (tmp_path / "SOUL.md").write_text("")
    assert configured(tmp_path).instructions == ""


def test_instructions_may_stand_in_another_file(tmp_path):
    (tmp_path / "other.md").write_text("Other.")
    assert configured(tmp_path, '[session]\ninstructions = "other.md"\n').instructions == "Other."
    inside = configured(tmp_path, '[session]\ninstructions = "~/other.md"\n', HOME=str(tmp_path))
    assert inside.instructions == "Other."
    with pytest.raises(
        ConfigError, match=r"^config.toml:2: session.instructions: there is no file .*gone.md$"
    ):
        configured(tmp_path, '[session]\ninstructions = "gone.md"\n')


def test_instructions_that_cannot_be_read_are_a_warning(tmp_path):
    (tmp_path / "SOUL.md").mkdir()
    config = configured(tmp_path)
    assert config.instructions == INSTRUCTIONS
    assert "SOUL.md cannot be read (Is a directory)" in config.warnings[0]
    (tmp_path / "SOUL.md").rmdir()
    (tmp_path / "SOUL.md").write_bytes(b"\xff\xfeB")
    assert "not UTF-8" in configured(tmp_path).warnings[0]


# -- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_in_a_file_that_others_may_read_is_one_warning(tmp_path, mode):
    configured(tmp_path, '[providers.x]\napi_key = "sk-1"\n[providers.y]\napi_key = "sk-2"\n')
    (tmp_path / "config.toml").chmod(mode)
    (warning,) = load({"MINO_HOME": str(tmp_path)}).warnings
    assert f"chmod 600 {tmp_path / 'config.toml'}" in warning
    assert "sk-" not in warning


def test_a_private_file_or_a_place_of_a_key_is_no_warning(tmp_path):
    assert configured(tmp_path, '[providers.x]\napi_key = "sk-1"\n').warnings == ()
    for place in ("env:NAME", "file:key", "cmd:pass x", ""):
        configured(tmp_path, f'[providers.x]\napi_key = "{place}"\nmax_tokens = 5\n')
        (tmp_path / "config.toml").chmod(0o644)
        assert load({"MINO_HOME": str(tmp_path)}).warnings == ()
        assert stat.S_IMODE((tmp_path / "config.toml").stat().st_mode) == 0o644


def test_no_repr_of_a_configuration_holds_a_key(tmp_path):
    flags = Flags(options={"user": "CANARY"})
    config = configured(tmp_path, '[providers.x]\napi_key = "CANARY"\n', flags, X_API_KEY="CANARY")
    assert "CANARY" not in repr(config)
    assert "CANARY" not in repr(config.provider("x"))


# -- what it costs -----------------------------------------------------------------------------


def imported_by(code: str, home: Path, **environ: str) -> set[str]:
    names = ("tomllib", "tomli_w", "difflib", "mino_core.config.exposure", "tempfile", "httpx", "argparse")
    program = f"{code}\nimport sys\nprint(*(name for name in {names} if name in sys.modules))"
    environ = {"MINO_HOME": str(home), **environ}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_a_start_without_files_parses_no_toml(tmp_path):
    code = "import os, mino_core.config.loading as c; assert c.load(os.environ).provider().name == 'local'"
    assert imported_by(code, tmp_path) == set()


def test_a_start_with_files_imports_nothing_that_only_errors_need(tmp_path):
    configured(tmp_path, '[session]\nprovider = "x"\n')
    code = "import os, mino_core.config.loading as c; c.load(os.environ).provider()"
    assert imported_by(code, tmp_path, A_API_KEY="x") == {"tomllib"}


# -- whatever the files say --------------------------------------------------------------------


@given(text=st.text(max_size=60), data=st.binary(max_size=40))
def test_whatever_the_file_holds_it_loads_or_says_what_is_wrong(tmp_path_factory, text, data):
    home = tmp_path_factory.mktemp("home")
    for content in (text.encode("utf-8", "surrogatepass"), data):
        try:
            configured(home, content)
        except ConfigError as error:
            assert "config.toml" in str(error)


def test_options_that_json_cannot_hold_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^-o temperature: JSON has no such value"):
        configured(tmp_path, "", Flags(options={"temperature": float("nan")}))


def test_a_config_is_a_value(tmp_path):
    config = configured(tmp_path)
    with pytest.raises(AttributeError):
        config.send = "none"  # type: ignore[misc]
    assert replace(config, send="none").send == "none"


def test_a_key_in_a_variable_that_the_file_names_is_masked_whoever_answers(tmp_path):
    configured(tmp_path, '[providers.other]\napi_key = "env:SOME_WORD"\n', SOME_WORD="no+shape+CANARY")
    assert mask("it is no+shape+CANARY") == "it is ***"
