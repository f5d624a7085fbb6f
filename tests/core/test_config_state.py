"""state.toml is read without fuss and written without loss."""

import multiprocessing
import os
import stat
import tomllib

import pytest
from mino_core.config import state
from mino_core.config.loading import load


def remember(home, **values):
    state.update(home, lambda table: table.setdefault("seen", {}).update(values))


def test_what_is_remembered_is_read_again(tmp_path):
    home = tmp_path / "a" / "home"
    remember(home, one=1)
    remember(home, two="2")
    assert load({"MINO_HOME": str(home)}).state == {"seen": {"one": 1, "two": "2"}}


def test_files_that_mino_makes_are_private(tmp_path):
    home = tmp_path / "home"
    before = os.umask(0)
    try:
        remember(home, x=1)
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "state.toml").stat().st_mode) == 0o600
    assert os.listdir(home) == ["state.toml"]


def test_a_change_that_fails_changes_nothing(tmp_path):
    remember(tmp_path, x=1)

    def fail(table):
        table.clear()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        state.update(tmp_path, fail)
    with pytest.raises(TypeError):
        state.update(tmp_path, lambda table: table.update(bad=object()))
    assert state.read(tmp_path) == ({"seen": {"x": 1}}, None)
    assert os.listdir(tmp_path) == ["state.toml"]


@pytest.mark.parametrize("data", [b"[broken", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_a_broken_state_is_a_warning_and_is_kept_beside_at_the_next_change(tmp_path, data):
    (tmp_path / "state.toml").write_bytes(data)
    config = load({"MINO_HOME": str(tmp_path)})
    assert config.state == {}
    assert "state.toml" in config.warnings[0]
    remember(tmp_path, x=1)
    assert (tmp_path / "state.toml.broken").read_bytes() == data
    assert load({"MINO_HOME": str(tmp_path)}).warnings == ()


def test_a_part_that_cannot_be_used_is_ignored_and_the_rest_holds(tmp_path):
    (tmp_path / "state.toml").write_text('odd = 1\n[session]\nmax_rounds = "x"\n[seen]\nx = 1\n')
    config = load({"MINO_HOME": str(tmp_path)})
    assert config.state == {"seen": {"x": 1}}
    assert config.session.max_rounds == 50
    assert "odd, session cannot be used" in config.warnings[0]


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "elsewhere.toml"
    real.write_text("")
    home = tmp_path / "home"
    home.mkdir()
    (home / "state.toml").symlink_to(real)
    remember(home, x=1)
    assert (home / "state.toml").is_symlink()
    assert tomllib.loads(real.read_text()) == {"seen": {"x": 1}}


def remember_many(home, name):
    for n in range(20):
        remember(home, **{f"{name}{n}": n})


def test_processes_do_not_lose_each_others_changes(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=remember_many, args=(tmp_path, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(state.read(tmp_path)[0]["seen"]) == 40
