"""Where plugins are found, and that it is where `importlib.metadata` finds them."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mino_core.plugins import discovery
from shelf import Shelf


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    return Shelf(tmp_path, monkeypatch)


def found(path):
    return [(one.name, one.value, one.distribution, one.version) for one in discovery.installed([str(path)])]


def test_our_own_entry_points_are_found_as_importlib_finds_them():
    theirs = {(point.name, point.value) for point in importlib.metadata.entry_points(group="mino")}
    ours = {(one.name, one.value) for one in discovery.installed()}
    assert ours == theirs
    assert {one.source for one in discovery.installed() if one.distribution == "mino-shell"} == {"built-in"}


def test_name_and_version_are_what_the_distribution_says(shelf):
    shelf.distribution("mino-parrot", {"parrot": "mino_parrot"}, "2.1rc1")
    assert found(shelf.site) == [("parrot", "mino_parrot", "mino-parrot", "2.1rc1")]


def test_without_metadata_the_directory_says_it(shelf):
    folder = shelf.distribution("mino-parrot", {"parrot": "mino_parrot"}, "3")
    (folder / "METADATA").unlink()
    assert found(shelf.site) == [("parrot", "mino_parrot", "mino_parrot", "3")]


def test_the_first_distribution_of_a_name_on_the_path_counts(tmp_path):
    for place, value in (("first", "one"), ("second", "two")):
        folder = tmp_path / place / f"{'Mino.Twice' if value == 'one' else 'mino_twice'}-1.dist-info"
        folder.mkdir(parents=True)
        (folder / "entry_points.txt").write_text(f"[mino]\nx = {value}\n")
    path = [str(tmp_path / "first"), str(tmp_path / "second")]
    assert [one.value for one in discovery.installed(path)] == ["one"]
    first = next(iter(importlib.metadata.Distribution.discover(name="mino-twice", path=path)))
    assert [point.value for point in first.entry_points] == ["one"]


def test_an_earlier_distribution_without_plugins_hides_a_later_one(tmp_path):
    for place in ("first", "second"):
        (tmp_path / place / "mino_x-1.dist-info").mkdir(parents=True)
    (tmp_path / "second" / "mino_x-1.dist-info" / "entry_points.txt").write_text("[mino]\nx = y\n")
    assert not list(discovery.installed([str(tmp_path / "first"), str(tmp_path / "second")]))


def test_an_editable_install_is_found_once_though_its_sources_have_metadata_as_well(shelf, tmp_path):
    (tmp_path / "src" / "mino_here.egg-info").mkdir(parents=True)
    (tmp_path / "src" / "mino_here.egg-info" / "entry_points.txt").write_text("[mino]\nhere = mino_here\n")
    shelf.distribution("mino-here", {"here": "mino_here"}, "1.0")
    paths = [str(shelf.site), str(tmp_path / "src")]
    assert [len(list(discovery.installed(order))) for order in (paths, paths[::-1])] == [1, 1]


_ODD_HEADERS = {
    b"Name: mino-shell\nVersion: 9\n": ("mino_odd", "9"),  # nobody takes another's name
    b"Name: mino-\xf6dd\nVersion: 1\xe9\n": ("mino_odd", ""),
    b"Name: mino\x1b[31m-odd\nVersion: 1\x1b]0;owned\x07\n": ("mino_odd", ""),
    b"Name: mino-odd; rm -r /\nVersion: 1 && true\n": ("mino_odd", ""),
    b"Name: Mino.Odd\r\nVersion: 1!2+local\r\n\r\nName: mino_odd\nVersion: 3\n": ("Mino.Odd", "1!2+local"),
    b"Summary: \xe2\x80\xa8Version: 7\nName: mino-\n odd\n": ("mino_odd", "1.0"),
    b"": ("mino_odd", "1.0"),
}


@pytest.mark.parametrize("headers", _ODD_HEADERS, ids=range(len(_ODD_HEADERS)))
def test_odd_metadata_gives_neither_another_name_nor_anything_that_cannot_be_typed(shelf, headers):
    (shelf.distribution("mino-odd", {"odd": "mino_odd"}) / "METADATA").write_bytes(headers)
    assert found(shelf.site) == [("odd", "mino_odd", *_ODD_HEADERS[headers])]


def test_a_directory_whose_name_is_none_is_told_by_its_path(shelf):
    folder = shelf.distribution("mino-x", {"x": "y"})
    folder = folder.rename(os.fsdecode(os.fsencode(shelf.site) + b"/b\xffd-1.0.dist-info"))
    (one,) = discovery.installed([str(shelf.site)])
    assert (one.distribution, one.origin) == ("", str(folder))


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\r\n", b"# \xc3\xa9\r"])
def test_any_line_ends_and_a_byte_order_mark_are_understood(shelf, start):
    folder = shelf.distribution("mino-x", {})
    (folder / "entry_points.txt").write_bytes(start + b"[mino]\r\nx = y\r\n")
    assert found(shelf.site) == [("x", "y", "mino-x", "1.0")]


@pytest.mark.parametrize("layout", ["mino_old.egg-info", "mino_old-1.0-py3.11.egg-info"])
def test_egg_info_directories_count(tmp_path, layout):
    (tmp_path / layout).mkdir()
    (tmp_path / layout / "entry_points.txt").write_text("[mino]\nold = mino_old\n")
    (tmp_path / layout / "PKG-INFO").write_text("Name: mino-old\nVersion: 1.0\n")
    assert found(tmp_path) == [("old", "mino_old", "mino-old", "1.0")]


def test_an_unpacked_egg_counts(tmp_path):
    egg = tmp_path / "mino_egg-1.0-py3.11.egg" / "EGG-INFO"
    egg.mkdir(parents=True)
    (egg / "entry_points.txt").write_text("[mino]\negg = mino_egg\n")
    (egg / "PKG-INFO").write_text("Name: mino-egg\nVersion: 1.0\n")
    assert found(egg.parent) == [("egg", "mino_egg", "mino-egg", "1.0")]


@pytest.mark.parametrize(
    "content",
    [b"[mino]\nno equals sign\n", b"[mino]\nx = \xff\xfe\n", b"[mino]\nx = not a module\n", b"[mino]\n= y\n"],
)
def test_broken_metadata_costs_only_its_distribution(shelf, content):
    shelf.distribution("mino-good", {"good": "mino_good"})
    folder = shelf.distribution("mino-bad", {})
    (folder / "entry_points.txt").write_bytes(content)
    good, bad = sorted(discovery.installed([str(shelf.site)]), key=lambda one: bool(one.problem))
    assert (good.name, good.problem) == ("good", "")
    assert bad.distribution == "mino-bad"
    assert bad.problem


def test_odd_directories_on_the_path_are_passed_over(tmp_path, shelf):
    shelf.distribution("mino-x", {"x": "y"})
    (shelf.site / "mino_file-1.dist-info").write_text("a file where a directory should be")
    (shelf.site / "~ino_y-1.dist-info").mkdir()
    (shelf.site / "~ino_y-1.dist-info" / "entry_points.txt").write_text("[mino]\nghost = y\n")
    path = [str(tmp_path / "nowhere"), str(tmp_path / "some.zip"), str(shelf.site)]
    assert [one.name for one in discovery.installed(path)] == ["x"]


def test_comments_extras_and_other_groups_are_understood(shelf):
    folder = shelf.distribution("mino-x", {})
    (folder / "entry_points.txt").write_text(
        "[console_scripts]\nx = a:b\n\n[mino]\n# a comment\nx = a.b : C.d [extra]\n\n[other]\ny = z\n"
    )
    assert found(shelf.site) == [("x", "a.b : C.d [extra]", "mino-x", "1.0")]


def test_nothing_is_loaded_from_the_working_directory(shelf, tmp_path):
    shelf.distribution("mino-trap", {"trap": "mino_trap"})
    script = (
        "from mino_core.plugins import discovery; print(sorted(one.name for one in discovery.installed()))"
    )
    environ = {"PATH": os.defpath, "HOME": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", script],
        cwd=shelf.site,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "trap" not in said.stdout
    assert "openai" in said.stdout


def test_files_of_a_folder_are_plugins_by_their_stems(tmp_path):
    for name in ("b.py", "a.py", "_private.py", ".hidden.py", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [one.name for one in discovery.files(discovery.in_folder(tmp_path))] == ["a", "b"]
    assert discovery.in_folder(tmp_path / "nowhere") == []


def test_a_file_whose_name_cannot_be_a_plugins_says_so():
    (one,) = discovery.files([Path("my plugin.py")])
    assert "letters, digits" in one.problem
