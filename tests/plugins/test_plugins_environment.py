"""The one right command, for each way in which mino may have been installed."""

import sys
from pathlib import Path

import pytest
from mino_core import UsageError

from mino_plugins.environment import Environment, here, normal

RECEIPT = """
[tool]
requirements = [
    { name = "mino-shell", extras = ["local"], specifier = ">=0.1" },
    { name = "mino-parrot" },
    { name = "mino_owl", specifier = "==2.0" },
    { name = "mino-local", directory = "/some/mino-local" },
    { name = "mino-edit", editable = "/some/mino-edit" },
    { name = "mino-web", url = "https://example.com/mino_web-1-py3-none-any.whl" },
    { name = "mino-git", git = "https://example.com/mino-git?rev=main" },
]
"""


def at(tmp_path, file="", *, base="/usr", has_pip=True, stdlib=""):
    if file:
        (tmp_path / file).write_text(RECEIPT)
    return here(str(tmp_path), base, stdlib, has_pip=has_pip)


def test_a_virtual_environment_is_given_to_its_own_pip(tmp_path):
    place = at(tmp_path)
    assert place.kind == "pip"
    assert place.installing(["mino-x>=1", "mino-y"]) == [
        sys.executable, "-m", "pip", "install", "mino-x>=1", "mino-y",
    ]  # fmt: skip
    assert place.removing(["mino-x"]) == [sys.executable, "-m", "pip", "uninstall", "--yes", "mino-x"]


def test_one_without_pip_is_given_to_uv(tmp_path):
    place = at(tmp_path, has_pip=False)
    assert place.installing(["mino-x"]) == ["uv", "pip", "install", "--python", sys.executable, "mino-x"]
    assert place.removing(["mino-x"]) == ["uv", "pip", "uninstall", "--python", sys.executable, "mino-x"]


def test_what_pipx_made_is_given_to_pipx(tmp_path):
    place = at(tmp_path, "pipx_metadata.json")
    assert place.installing(["mino-x"]) == ["pipx", "inject", tmp_path.name, "mino-x"]
    assert place.removing(["mino-x"]) == ["pipx", "uninject", tmp_path.name, "mino-x"]


def test_uv_tool_is_told_all_that_it_shall_keep(tmp_path):
    place = at(tmp_path, "uv-receipt.toml")
    before = ["uv", "tool", "install", "mino-shell[local]>=0.1"]
    parrot = ["--with", "mino-parrot"]
    others = [
        "--with", "mino_owl==2.0", "--with", "/some/mino-local", "--with-editable", "/some/mino-edit",
        "--with", "mino-web @ https://example.com/mino_web-1-py3-none-any.whl",
        "--with", "mino-git @ git+https://example.com/mino-git?rev=main",
    ]  # fmt: skip
    assert place.installing(["mino-x"]) == [*before, *parrot, *others, "--with", "mino-x"]
    assert place.installing(["mino-parrot"]) == [*before, *parrot, *others]
    assert place.removing(["Mino_Parrot"]) == [*before, *others]


@pytest.mark.parametrize("receipt", ["", "[tool", "[tool]\nrequirements = 1", "[tool]\nrequirements = [{}]"])
def test_a_receipt_that_cannot_be_read_is_told_with_the_way_by_hand(tmp_path, receipt):
    (tmp_path / "uv-receipt.toml").write_text(receipt)
    with pytest.raises(UsageError, match="uv tool install mino-shell --with PLUGIN"):
        here(str(tmp_path), "/usr", has_pip=True).installing(["mino-x"])


def test_a_python_of_the_system_is_left_alone_and_the_two_ways_are_told(tmp_path):
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    place = at(tmp_path, base=str(tmp_path), stdlib=str(tmp_path))
    with pytest.raises(UsageError) as told:
        place.installing(["mino-x", "mino-y"])
    assert str(told.value).splitlines()[1:] == [
        "  pipx install mino-shell && pipx inject mino-shell mino-x mino-y",
        "  uv tool install mino-shell --with mino-x --with mino-y",
    ]
    with pytest.raises(UsageError, match="its own package manager removes what it holds"):
        place.removing(["mino-x"])


def test_a_virtual_environment_of_such_a_python_is_not_managed(tmp_path):
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert at(tmp_path, base="/usr", stdlib=str(tmp_path)).kind == "pip"


def test_a_python_that_nobody_manages_has_pip(tmp_path):
    assert at(tmp_path, base=str(tmp_path), stdlib=str(tmp_path)).kind == "pip"


def test_this_environment_is_one():
    assert here() == Environment("pip", Path(sys.prefix), sys.executable)


@pytest.mark.parametrize("name", ["Mino.Parrot", "mino_parrot", "mino-_.parrot"])
def test_names_are_compared_as_installers_do(name):
    assert normal(name) == "mino-parrot"
