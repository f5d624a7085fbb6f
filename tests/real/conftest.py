"""What the real tests share: the embedded model, fetched once, and programs in environments of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mino_core import ProviderError

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def engine():
    """Skip where the engine of the embedded model has no wheel."""
    return pytest.importorskip(
        "xllamacpp", reason="the embedded model's engine is not installed on this machine"
    )


@pytest.fixture(scope="session")
def model_cache(engine, tmp_path_factory):
    """A cache directory (as XDG_CACHE_HOME) with the embedded model in it."""
    from mino_local import weights

    cache = tmp_path_factory.mktemp("cache")
    file = weights.location({"XDG_CACHE_HOME": str(cache)})
    try:
        weights.install(file, lambda text: None, lambda done: None)
    except ProviderError as error:
        if error.kind == "connect":
            pytest.skip(str(error))
        raise
    return cache


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this source tree."""
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(REPOSITORY))
    (built,) = folder.glob("mino_shell-*.whl")
    return built


@pytest.fixture(scope="session")
def clean(wheel, tmp_path_factory):
    """A Python in an environment with that wheel, what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip("install", str(wheel), python=python)
    return python


def pip(*arguments, python=sys.executable):
    """Run pip; skip where there is no package index to ask."""
    done = subprocess.run(
        [str(python), "-m", "pip", "--disable-pip-version-check", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        check=False,
    )
    if done.returncode and "connection broken" in done.stdout:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout
