"""A project's `.mino`: what counts, that trust is for exactly that, and that it ends with any change."""

import os
from pathlib import Path

import pytest
from mino_core import ConfigError, UsageError, interrupts
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.plugins import trust as trusting
from mino_core.testing import home
from shelf import lines, row

COMMAND = "from mino_core import hookimpl\n@hookimpl\ndef mino_commands():\n    return {'%s': print}\n"


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with a `.mino` that has one command and one plugin."""
    place = tmp_path / "work" / "project"
    for folder in ("commands/deep", "plugins"):
        (place / ".mino" / folder).mkdir(parents=True)
    (place / ".mino/commands/deep/fix.md").write_text("Fix it.")
    (place / ".mino/plugins/tool.py").write_text(COMMAND % "from-the-project")
    monkeypatch.chdir(place)
    return place


def opened(tmp_path, **how):
    """A host as a new process would have it."""
    host = Host(load(home(tmp_path), Flags()), **how)
    host.load()
    return host


def trust(host, answer=True):
    host.trust.decide(host.trust.project(), answer)


def test_what_is_there_is_listed_and_nothing_is_loaded(place, tmp_path):
    host = opened(tmp_path)
    found = host.trust.project()
    assert found.folder == place / ".mino"
    assert set(found.commands) == {"deep/fix.md"}
    assert [path.name for path in found.plugins] == ["tool.py"]
    assert host.trust.decision(found) is None
    assert "from-the-project" not in host.commands()


def test_a_yes_holds_at_once_and_from_then_on(place, tmp_path):
    host = opened(tmp_path)
    trust(host)
    assert host.commands()["from-the-project"].plugin == "tool"
    assert row(host, "tool").source == "project"
    again = opened(tmp_path)
    assert "from-the-project" in again.commands()
    assert lines(again) == []


def test_a_no_is_kept_as_well(place, tmp_path):
    trust(opened(tmp_path), answer=False)
    host = opened(tmp_path)
    assert host.trust.decision(host.trust.project()) is False
    assert "from-the-project" not in host.commands()


def more(folder):
    (folder / "commands/new.md").write_text("x")


def other(folder):
    (folder / "plugins/tool.py").write_text(COMMAND % "another")


def renamed(folder):
    (folder / "plugins/tool.py").rename(folder / "plugins/other.py")


def data(folder):
    (folder / "plugins/data.json").write_text("{}")


def linked(folder):
    (folder / "commands/link.md").symlink_to("/etc/hostname")


def moved(folder):
    """The same bytes, cut at another place between name and content."""
    (folder / "commands/deep/fix.md").rename(folder / "commands/deep/fi.md")


@pytest.mark.parametrize("change", [more, other, renamed, data, linked, moved])
def test_any_change_of_names_or_contents_ends_the_trust(place, tmp_path, change):
    trust(opened(tmp_path))
    change(place / ".mino")
    host = opened(tmp_path)
    found = host.trust.project()
    assert host.trust.decision(found) is None
    assert host.trust.was_given(found)
    assert not {"from-the-project", "another"} & set(host.commands())


def test_another_place_with_the_same_content_is_not_trusted(place, tmp_path, monkeypatch):
    trust(opened(tmp_path))
    copy = tmp_path / "copy"
    (place / ".mino").rename(tmp_path / "kept")
    copy.mkdir()
    (tmp_path / "kept").rename(copy / ".mino")
    monkeypatch.chdir(copy)
    host = opened(tmp_path)
    assert host.trust.decision(host.trust.project()) is None


def test_a_link_to_the_folder_is_the_folder(place, tmp_path, monkeypatch):
    trust(opened(tmp_path))
    (tmp_path / "link").symlink_to(place)
    monkeypatch.chdir(tmp_path / "link")
    host = opened(tmp_path)
    assert host.trust.decision(host.trust.project())


def test_links_in_it_are_never_followed(place, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text(COMMAND % "from-outside")
    (place / ".mino/plugins/link.py").symlink_to(outside)
    (place / ".mino/commands/all").symlink_to("/etc")
    host = opened(tmp_path)
    trust(host)
    assert "from-outside" not in host.commands()
    assert set(host.trust.project().commands) == {"deep/fix.md"}


def test_a_project_is_found_from_a_folder_within_it(place, tmp_path, monkeypatch):
    below = place / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert opened(tmp_path).trust.project().folder == place / ".mino"


def test_the_home_of_mino_is_no_project(tmp_path, monkeypatch):
    environ = home(tmp_path)
    house = Path(environ["HOME"])
    (house / ".mino/commands").mkdir()
    (house / ".mino/commands/mine.md").write_text("x")
    below = house / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert opened(tmp_path).trust.project() is None
    assert trusting.nearest(str(house), house / ".mino", "") is None


@pytest.mark.parametrize("content", [{}, {"config.toml": "[session]"}, {"commands/notes.txt": "x"}])
def test_a_folder_without_commands_and_plugins_is_none(tmp_path, monkeypatch, content):
    place = tmp_path / "work"
    (place / ".mino" / "commands").mkdir(parents=True)
    for name, text in content.items():
        (place / ".mino" / name).write_text(text)
    monkeypatch.chdir(place)
    assert opened(tmp_path).trust.project() is None


def test_the_configuration_of_a_project_is_never_read(place, tmp_path):
    (place / ".mino/config.toml").write_text('[session]\nprovider = "nowhere"\n')
    host = opened(tmp_path)
    trust(host)
    assert opened(tmp_path).config.session.provider is None


def test_safe_knows_no_project(place, tmp_path):
    trust(opened(tmp_path))
    assert opened(tmp_path, safe=True).trust.project() is None


def test_a_project_takes_no_name_from_the_user(place, tmp_path):
    environ = home(tmp_path)
    own = Path(environ["MINO_HOME"]) / "plugins"
    own.mkdir()
    (own / "tool.py").write_text(COMMAND % "from-the-user")
    host = opened(tmp_path)
    trust(host)
    assert "from-the-user" in host.commands()
    assert "from-the-project" not in host.commands()
    (line,) = lines(host)
    assert f"{own / 'tool.py'} has that name" in line


def test_what_was_trusted_is_what_runs(place, tmp_path):
    """The bytes that were looked at are loaded, not what stands in the file a moment later."""
    host = opened(tmp_path)
    found = host.trust.project()
    (place / ".mino/plugins/tool.py").write_text(COMMAND % "too-late")
    host.trust.decide(found, True)
    assert "from-the-project" in host.commands()
    assert "too-late" not in host.commands()


def test_a_plugin_that_is_loaded_stays_when_its_project_is_trusted_anew(place, tmp_path):
    host = opened(tmp_path)
    trust(host)
    other(place / ".mino")
    (place / ".mino/plugins/second.py").write_text(COMMAND % "second")
    trust(host)
    assert {"from-the-project", "second"} <= set(host.commands())
    assert lines(host) == []
    assert "another" in opened(tmp_path).commands()


def test_a_plugin_of_a_project_may_be_broken(place, tmp_path):
    (place / ".mino/plugins/tool.py").write_text("import nowhere_at_all")
    host = opened(tmp_path)
    trust(host)
    (line,) = lines(host)
    assert "No module named 'nowhere_at_all'" in line
    assert str(place / ".mino/plugins/tool.py") in line


@pytest.mark.parametrize(("files", "size"), [(501, 0), (1, 6 << 20)])
def test_what_nobody_can_look_at_is_not_trusted(place, tmp_path, files, size):
    for n in range(files):
        (place / f".mino/commands/{n}.md").write_bytes(b"x" * size)
    host = opened(tmp_path)
    with pytest.raises(UsageError, match="cannot be trusted: it has more than 500 files or 5 MB"):
        trust(host)


def test_a_decision_that_cannot_be_kept_is_an_error(place, tmp_path):
    host = opened(tmp_path)
    (tmp_path / "home/.mino").rmdir()
    (tmp_path / "home/.mino").write_text("no folder")
    with pytest.raises(ConfigError, match=r"state\.toml cannot be written"):
        trust(host)


def test_a_folder_whose_name_is_no_text_cannot_be_remembered(tmp_path, monkeypatch):
    place = os.fsencode(tmp_path / "w") + b"\xff"
    try:
        os.makedirs(place + b"/.mino/commands")
    except OSError:
        pytest.skip("this file system takes no such name")
    with open(place + b"/.mino/commands/x.md", "w") as file:
        file.write("x")
    monkeypatch.chdir(os.fsdecode(place))
    with pytest.raises(ConfigError, match="can hold only text"):
        trust(opened(tmp_path))


def test_a_working_directory_that_is_gone_has_no_project(place, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert opened(tmp_path).trust.project() is None
