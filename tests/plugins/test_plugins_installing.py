"""Plugins come and go: what is run, what is remembered, and what is put back. The installer is a fake."""

import json
import sys
import tomllib
from pathlib import Path

import pytest
from mino_core import ConfigError, UsageError, interrupts
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.testing import home

from mino_plugins import installing
from mino_plugins.environment import Environment

#: Stands where pipx would: keeps what it was told, and puts metadata and a module where Python looks.
PIPX = r"""#!/bin/sh
echo "$@" >> "$SITE/told"
[ -n "$FAIL" ] && exit 3
verb=$1; shift 2
for name in "$@"; do
  name=$(basename "${name%%[<>=]*}" .whl)
  folder=$(echo "$name" | tr - _)
  if [ $verb = uninject ]; then rm -r "$SITE/$folder-1.0.dist-info"; continue; fi
  mkdir -p "$SITE/$folder-1.0.dist-info"
  printf 'Name: %s\nVersion: 1.0\n' "$name" > "$SITE/$folder-1.0.dist-info/METADATA"
  case $name in
    mino-*) plugin=${name#mino-}
      printf '[mino]\n%s = %s\n' "$plugin" "$folder" > "$SITE/$folder-1.0.dist-info/entry_points.txt"
      printf 'from mino_core import hookimpl\n@hookimpl\ndef mino_commands(): return {"%s": print}\n' \
        "$plugin" > "$SITE/$folder.py"
      printf '{"url": "file://%s"}' "$DIRECT" > "$SITE/$folder-1.0.dist-info/direct_url.json" ;;
  esac
done
echo "the installer speaks"
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Where the fake installs to, which is on the path of this process and of its children."""
    site, programs = tmp_path / "site", tmp_path / "bin"
    site.mkdir()
    programs.mkdir()
    (programs / "pipx").write_text(PIPX)
    (programs / "pipx").chmod(0o700)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("SITE", str(site))
    monkeypatch.setenv("DIRECT", "/nowhere")
    with interrupts.installed():
        yield site
    for name in ("mino_parrot", "mino_owl"):  # others have modules of these names too
        sys.modules.pop(name, None)


@pytest.fixture
def host(site, tmp_path):
    """Makes a host as a new process would have it."""
    environ = home(tmp_path, PYTHONPATH=str(site))

    def make():
        made = Host(load(environ, Flags()))
        made.load()
        return made

    return make


@pytest.fixture
def place(tmp_path):
    return Environment("pipx", tmp_path / "mino-shell", "python")


def told(site):
    file = site / "told"
    return file.read_text().splitlines() if file.exists() else []


def kept(host):
    file = host.config.home / "state.toml"
    return tomllib.loads(file.read_text()) if file.exists() else {}


def install(host, place, *names, dry=False, as_json=False):
    return installing.install(host, place, names, dry=dry, as_json=as_json)


def test_what_was_installed_is_told_with_what_it_offers_and_remembered(host, place, site, capfd):
    assert install(host(), place, "mino-parrot>=1") == 0
    assert told(site) == ["inject mino-shell mino-parrot>=1"]
    out, err = capfd.readouterr()
    assert out.endswith("mino-parrot: parrot is loaded; commands: parrot\n")
    assert err == "$ pipx inject mino-shell 'mino-parrot>=1'\n"
    assert kept(host())["installed"] == {
        "mino-parrot": {"requirement": "mino-parrot>=1", "plugins": ["parrot"]}
    }


def test_a_dry_run_runs_and_remembers_nothing(host, place, site, capsys):
    install(host(), place, "mino-parrot", dry=True)
    assert capsys.readouterr().out == "pipx inject mino-shell mino-parrot\n"
    assert told(site) == []
    assert "installed" not in kept(host())


def test_as_json_the_installers_words_stay_out_of_it(host, place, capfd):
    install(host(), place, "mino-parrot", as_json=True)
    out, err = capfd.readouterr()
    said = json.loads(out)
    assert said["command"] == ["pipx", "inject", "mino-shell", "mino-parrot"]
    assert said["installed"]["mino-parrot"][0]["offers"]["mino_commands"] == ["parrot"]
    assert "the installer speaks" in err


def test_a_package_without_plugins_is_installed_and_that_is_told(host, place, capsys):
    install(host(), place, "openai")
    assert "openai: installed, and offers nothing to mino" in capsys.readouterr().out
    assert kept(host())["installed"] == {"openai": {"requirement": "openai", "plugins": []}}


def test_a_file_is_remembered_by_its_whole_path(host, place, site, tmp_path, monkeypatch):
    wheel = tmp_path / "mino-owl.whl"
    wheel.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIRECT", str(wheel))
    install(host(), place, "./mino-owl.whl")
    assert told(site) == [f"inject mino-shell {wheel}"]
    assert kept(host())["installed"]["mino-owl"]["requirement"] == str(wheel)


def test_an_installer_that_fails_leaves_nothing_remembered(host, place, monkeypatch):
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(UsageError, match="ended with 3; mino remembers what it did before"):
        install(host(), place, "mino-parrot")
    assert "installed" not in kept(host())


def test_a_plugin_that_does_not_load_is_told_with_its_reason(host, place, site, capsys):
    (site / "mino_owl.py").write_text("raise RuntimeError('it is day')")
    with (site.parent / "bin" / "pipx").open("a") as file:
        file.write('\ncp "$SITE/broken" "$SITE/mino_owl.py"\n')
    (site / "broken").write_text("raise RuntimeError('it is day')")
    install(host(), place, "mino-owl")
    assert (
        "owl is failed; plugin 'owl' (mino-owl 1.0): import: RuntimeError: it is day"
        in capsys.readouterr().out
    )


def test_an_installer_that_is_not_there_is_told_with_what_to_run(host, place, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="pipx is not on the PATH; run this where it is:\n  pipx inject"):
        install(host(), place, "mino-parrot")


@pytest.mark.parametrize("name", ["--index-url=https://example.com", "-r", "-e"])
def test_flags_are_no_packages(host, place, name, site):
    with pytest.raises(UsageError, match="is no package"):
        install(host(), place, name)
    assert told(site) == []


# -- gone, and put back ------------------------------------------------------------------------


def upgrade(site):
    """What an upgrade of mino does to what was put beside it."""
    for metadata in site.glob("*.dist-info"):
        for file in metadata.iterdir():
            file.unlink()
        metadata.rmdir()


def test_what_an_upgrade_took_away_is_missed_and_put_back(host, place, site, capsys):
    install(host(), place, "mino-parrot>=1", "mino-owl")
    upgrade(site)
    missing = host()
    missing.remember_faults()
    two, one = map(str, missing.faults)
    assert "plugin 'owl'" in one
    assert "plugin 'parrot'" in two
    assert "mino-parrot, which you installed, is not there any more" in two
    assert two.endswith("to have it back: mino plugins sync")
    installing.sync(host(), place, dry=True, as_json=False)
    assert "pipx inject mino-shell 'mino-parrot>=1' mino-owl" in capsys.readouterr().out
    installing.sync(host(), place, dry=False, as_json=False)
    assert host().faults == []
    assert "faults" not in kept(host())
    assert {"parrot", "owl"} <= set(host().commands())
    installing.sync(host(), place, dry=False, as_json=False)
    assert capsys.readouterr().out.endswith("Nothing is missing.\n")


def test_the_list_names_what_is_missing(host, place, site, capsys):
    from mino_plugins import listing

    install(host(), place, "mino-parrot")
    upgrade(site)
    capsys.readouterr()
    listing.every(host(), as_json=True)
    assert json.loads(capsys.readouterr().out)["missing"] == ["mino-parrot"]
    listing.every(host(), as_json=False)
    assert "mino-parrot  missing" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["parrot", "mino-parrot", "Mino_Parrot"])
def test_uninstall_takes_a_plugin_or_its_distribution_and_forgets_both(host, place, site, capsys, name):
    install(host(), place, "mino-parrot")
    host().remember(lambda table: table.update(plugins={"disabled": ["parrot", "local"]}))
    assert installing.uninstall(host(), place, [name], dry=False, as_json=False) == 0
    assert told(site)[-1] == "uninject mino-shell mino-parrot"
    left = kept(host())
    assert left["installed"] == {}
    assert left["plugins"]["disabled"] == ["local"]
    assert host().faults == []


def test_the_answers_as_json_have_one_form_whether_there_was_anything_to_do_or_not(host, place, site, capfd):
    def said(act, *args, dry):
        act(host(), place, *args, dry=dry, as_json=True)
        return json.loads(capfd.readouterr().out)

    for dry in (True, False):
        assert said(installing.sync, dry=dry) == {"command": None, "ran": False, "installed": {}}
    install(host(), place, "mino-parrot")
    capfd.readouterr()
    command = ["pipx", "uninject", "mino-shell", "mino-parrot"]
    told = said(installing.uninstall, ["parrot"], dry=True)
    assert told == {"command": command, "ran": False, "removed": []}
    told = said(installing.uninstall, ["parrot"], dry=False)
    assert told == {"command": command, "ran": True, "removed": ["mino-parrot"]}


def test_where_nothing_can_be_remembered_what_was_done_is_told_all_the_same(host, place, site, capsys):
    (host().config.home / "state.toml").symlink_to("/nowhere/state.toml")
    with pytest.raises(ConfigError, match="cannot be written"):
        install(host(), place, "mino-parrot")
    assert "parrot is loaded" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="cannot be written"):
        installing.uninstall(host(), place, ["parrot"], dry=False, as_json=False)
    assert capsys.readouterr().out == "Removed: mino-parrot\n"


def test_a_dry_uninstall_only_says_what_would_be_run(host, place, site, capsys):
    install(host(), place, "mino-parrot")
    capsys.readouterr()
    installing.uninstall(host(), place, ["parrot"], dry=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["command"] == ["pipx", "uninject", "mino-shell", "mino-parrot"]
    assert "mino-parrot" in kept(host())["installed"]


def test_what_is_gone_already_is_only_forgotten(host, place, site, capsys):
    install(host(), place, "mino-parrot")
    upgrade(site)
    installing.uninstall(host(), place, ["mino-parrot"], dry=False, as_json=False)
    assert kept(host())["installed"] == {}
    assert [line.split()[0] for line in told(site)] == ["inject"]


def test_only_plugins_of_distributions_are_uninstalled(host, place, tmp_path):
    folder = Path(host().config.home) / "plugins"
    folder.mkdir()
    (folder / "own.py").touch()
    for name, words in (
        ("openai", "comes with mino"),
        ("own", f"no installer knows of 'own'; remove {folder / 'own.py'}"),
        ("rich", "there is no plugin 'rich' to remove; there are: none"),
    ):
        with pytest.raises(UsageError, match=words):
            installing.uninstall(host(), place, [name], dry=False, as_json=False)
