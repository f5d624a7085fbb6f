"""The wheel alone, in an environment with what it declares: the commonest broken release."""

import subprocess
import zipfile

import pytest
from mino_core import __version__
from mino_core.testing import Server, chat, home

pytestmark = pytest.mark.real


def run(python, *arguments, **more):
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, check=False, **more)


def test_the_wheel_holds_the_packages_and_nothing_beside_them(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert "mino_core" in tops
    assert {top for top in tops if not top.startswith("mino_")} == set()
    packages = {
        name.rpartition("/")[0] for name in names if name.endswith("/__init__.py") and name.count("/") == 1
    }
    assert {f"{package}/py.typed" for package in packages} <= set(names)


def test_the_command_says_its_version(clean, tmp_path):
    done = run(clean.with_name("mino"), "--version", env=home(tmp_path))
    assert (done.stdout, done.stderr, done.returncode) == (f"mino {__version__}\n", "", 0)


@pytest.mark.parametrize("package", ["plugins", "tests"])
def test_the_source_tree_is_not_in_the_way(clean, package, tmp_path):
    done = run(clean, "-c", f"import {package}", cwd=tmp_path)
    assert "ModuleNotFoundError" in done.stderr


def test_everything_imports_with_what_the_wheel_declares(clean, tmp_path):
    program = (
        "import importlib, pkgutil, sys\n"
        "from importlib.metadata import entry_points\n"
        "import mino_core\n"
        "roots = ['mino_core', *(point.value for point in entry_points(group='mino'))]\n"
        "for root in roots:\n"
        "    package = importlib.import_module(root)\n"
        "    for module in pkgutil.walk_packages(package.__path__, root + '.'):\n"
        "        is_run = module.name.endswith('.__main__')\n"
        "        if not (is_run or module.name.startswith('mino_core.testing.')):\n"  # these need more
        "            importlib.import_module(module.name)\n"
        "print(len(roots))\n"
    )
    done = run(clean, "-W", "error", "-c", program, cwd=tmp_path)
    assert done.stderr == ""
    assert int(done.stdout) > 5


def test_it_chats(clean, tmp_path):
    with Server() as server:
        server.reply(*chat("A whole answer."))
        toml = f'[providers.demo]\nkind = "openai-chat"\nbase_url = "{server.url}/v1"\nmodel = "demo-1"\n'
        done = run(
            clean.with_name("mino"), "--provider", "demo", "-p", "hello", env=home(tmp_path, toml), input=""
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "A whole answer."


def test_without_its_engine_the_embedded_model_says_what_to_install(clean, tmp_path):
    done = run(clean.with_name("mino"), "local", "install", env=home(tmp_path))
    assert "pip install 'mino-shell[local]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 3
