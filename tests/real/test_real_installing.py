"""`mino plugins install`, `uninstall` and `sync` where real installers put mino: a venv, pipx, `uv tool`."""

import json
import os
import sys
from pathlib import Path

import pytest
from mino_core.testing import home
from places import Place, run, wheels

pytestmark = pytest.mark.real

THIRD_PARTY = Path(__file__).parents[1] / "third_party"
SYSTEM = Path("/usr/bin/python3")


@pytest.fixture(scope="module")
def parrot(tmp_path_factory):
    """A plugin of a stranger, as a wheel."""
    (made,) = wheels(tmp_path_factory.mktemp("wheel"), THIRD_PARTY / "mino-parrot")
    return made


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A folder with pipx and uv in it."""
    place = Place(tmp_path_factory.mktemp("tools") / "venv")
    place.pip("install", "pipx", "uv")
    return place.folder / "bin"


@pytest.fixture
def environ(tmp_path, tools):
    """Where pipx and uv keep all that is theirs below a folder of ours."""
    told = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    programs = tmp_path / "programs"
    made = home(
        tmp_path,
        PIPX_HOME=str(tmp_path / "pipx"),
        PIPX_BIN_DIR=str(programs),
        UV_TOOL_DIR=str(tmp_path / "uv"),
        UV_TOOL_BIN_DIR=str(programs),
        UV_PYTHON=sys.executable,
        UV_PYTHON_DOWNLOADS="never",
    )
    made["PATH"] = f"{programs}:{tools}:/usr/bin:/bin"
    return {**told, **made}


def parrots(environ, program):
    """What mino has of that plugin: its state, or nothing."""
    listed = json.loads(run([program, "plugins", "list", "--json"], environ).stdout)
    return [row["state"] for row in listed["plugins"] if row["name"] == "parrot"]


def came_and_went(environ, program, parrot, command):
    """Installed, used, uninstalled; the command that was run is the one that is right there."""
    dry = run([program, "plugins", "install", "--dry-run", parrot], environ).stdout
    assert dry.startswith(command)
    assert parrots(environ, program) == []
    done = run([program, "plugins", "install", parrot], environ)
    assert "mino-parrot: parrot is loaded; " in done.stdout
    assert "commands: squawk" in done.stdout
    said = run([program, "--provider", "parrot", "--model", "grey", "-p", "hello"], environ).stdout
    assert said.startswith("hello")
    run([program, "plugins", "uninstall", "parrot"], environ)
    assert parrots(environ, program) == []


def test_in_a_virtual_environment(wheel, parrot, environ, tmp_path):
    place = Place(tmp_path / "venv")
    place.pip("install", wheel)
    came_and_went(environ, place.folder / "bin" / "mino", parrot, f"{place.python} -m pip install")


def test_in_one_that_has_no_pip(wheel, parrot, environ, tmp_path):
    run(["uv", "venv", "--quiet", tmp_path / "venv"], environ)
    python = tmp_path / "venv" / "bin" / "python"
    run(["uv", "pip", "install", "--quiet", "--python", python, wheel], environ)
    came_and_went(environ, tmp_path / "venv" / "bin" / "mino", parrot, "uv pip install --python")


def test_where_pipx_put_it(wheel, parrot, environ):
    run(["pipx", "install", "--python", sys.executable, wheel], environ)
    came_and_went(environ, "mino", parrot, "pipx inject mino-shell")


def test_where_uv_tool_put_it_and_what_an_upgrade_takes_away_is_put_back(wheel, parrot, environ):
    run(["uv", "tool", "install", "--quiet", wheel], environ)
    came_and_went(environ, "mino", parrot, f"uv tool install {wheel} --with")
    run(["mino", "plugins", "install", parrot], environ)
    run(["uv", "tool", "install", "--quiet", "--reinstall", wheel], environ)  # somebody else's command
    done = run(["mino", "plugins", "list"], environ)
    assert "mino-parrot, which you installed, is not there any more" in done.stderr
    run(["mino", "plugins", "sync"], environ)
    assert parrots(environ, "mino") == ["loaded"]
    assert "Nothing is missing." in run(["mino", "plugins", "sync"], environ).stdout


@pytest.mark.skipif(
    not any(Path("/usr/lib").glob("python3.*/EXTERNALLY-MANAGED")), reason="no Python here is managed"
)
def test_a_python_of_the_system_is_left_alone(clean, environ, tmp_path):
    version = run([SYSTEM, "-c", "import sys; print(sys.version_info >= (3, 11))"]).stdout.strip()
    if version != "True":
        pytest.skip("the Python of this system is too old for mino")
    (site,) = clean.parents[1].glob("lib/python3*/site-packages")
    argv = [SYSTEM, "-m", "mino_core.cli", "plugins", "install", "mino-parrot"]
    done = run(argv, {**environ, "PYTHONPATH": str(site)}, code=2, cwd=tmp_path)
    assert "  pipx install mino-shell && pipx inject mino-shell mino-parrot" in done.stderr
    assert "  uv tool install mino-shell --with mino-parrot" in done.stderr
