"""Files: how they look, what may happen to them, and what is told when they cannot be written."""

import contextlib
import gzip
import json
import os
import random
import resource
import tempfile
from pathlib import Path

import pytest
from mino_core import HistoryError, fold, summary
from mino_core.records import new_id, record
from mino_core.settings import Settings

from mino_history import mino_histories
from mino_history.jsonl import Jsonl

pytestmark = pytest.mark.damages


@pytest.fixture
def history(tmp_path):
    return Jsonl(tmp_path / "history")


def head(directory="/home/u/work", **fields):
    return record("head", id=new_id(), format=1, directory=directory, **fields)


def said(text, turn=1):
    message = {"role": "user", "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message)


def kept(history, *texts, **fields):
    first = head(**fields)
    log = history.open(first["id"], first)
    for text in texts:
        log.append(said(text))
    log.close()
    return first["id"], the_file(history, first["id"])


def the_file(history, name):
    (path,) = history._root.glob(f"*/*-{name}.jsonl")
    return path


def texts(history, name):
    log = history.open(name, write=False)
    read = [each["message"]["parts"][0]["text"] for each in log.records() if each["type"] == "said"]
    assert (
        read
        == [
            each["message"]["parts"][0]["text"]
            for each in log.records(reverse=True)
            if each["type"] == "said"
        ][::-1]
    )
    return read


# -- how they look -----------------------------------------------------------------------------


def test_files_and_folders_are_their_owners_alone(history, tmp_path):
    name, path = kept(history, "a")
    assert path.parent.name == "home-u-work" and path.name.endswith(f"Z-{name}.jsonl")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_nothing_is_on_disk_before_the_first_record(history, tmp_path):
    first = head()
    history.open(first["id"], first).close()
    assert list(history.conversations()) == [] and list(tmp_path.iterdir()) == []


def test_each_record_is_one_line_of_strict_utf8_for_every_reader(history):
    _, path = kept(history, "a\u2028b\u2029c\x85d\x0be\rf\r\ng\nh", "漢字", "\ud800")
    whole = path.read_bytes().decode("utf-8", "strict")
    assert whole.endswith("\n") and len(whole.splitlines()) == whole.count("\n") == 4
    assert [json.loads(line)["type"] for line in whole.splitlines()] == ["head", "said", "said", "said"]
    assert "漢字" in whole


@pytest.mark.parametrize(
    "directory",
    [
        "/",
        "",
        "/home/u/项目",
        "/" + "deep/" * 80,
        "/x/../..",
        "/-rf",
        "/a b'\"\n",
        "/\udcff",
        ".",
        "漢" * 300,
    ],
)
def test_any_directory_makes_a_folder(history, directory):
    _, path = kept(history, "a", directory=directory)
    assert path.parent.parent == history._root
    assert next(history.conversations())["directory"] == directory


def test_another_place_can_be_set(tmp_path):
    settings = Settings({"path": str(tmp_path / "else" / "where")}, home=tmp_path)
    first = head()
    log = mino_histories()["jsonl"](settings).open(first["id"], first)
    log.append(said("a"))
    log.close()
    assert list((tmp_path / "else" / "where").glob("*/*.jsonl")) and settings.unread() == []


# -- one write, in order, synced ---------------------------------------------------------------


def test_a_record_is_one_write_and_a_durable_one_one_sync(history, monkeypatch):
    calls = []
    write, sync = os.write, os.fdatasync
    first = head()
    log = history.open(first["id"], first)
    log.append(said("a"))
    monkeypatch.setattr(os, "write", lambda fd, data: calls.append("write") or write(fd, data))
    monkeypatch.setattr(os, "fdatasync", lambda fd: calls.append("sync") or sync(fd))
    log.append(said("b"))
    log.append(said("c"), durable=False)
    monkeypatch.undo()
    log.close()
    assert calls == ["write", "sync", "write"]


def test_the_first_record_comes_in_one_write_with_its_head(history, monkeypatch):
    written = []
    write = os.write
    first = head()
    log = history.open(first["id"], first)
    monkeypatch.setattr(os, "write", lambda fd, data: written.append(bytes(data)) or write(fd, data))
    log.append(said("a"))
    monkeypatch.undo()
    log.close()
    assert [data.count(b"\n") for data in written if data.startswith(b"{")] == [2]


# -- a torn tail -------------------------------------------------------------------------------


def test_a_torn_tail_is_set_aside_and_the_next_record_has_its_own_line(history):
    name, path = kept(history, "one", "two")
    whole = path.read_bytes()
    torn = b'{"type":"said","message":{"role":"user","parts":[{"te'
    path.write_bytes(whole + torn)
    assert texts(history, name) == ["one", "two"]
    log = history.open(name)
    log.append(said("three", 3))
    log.close()
    assert path.read_bytes().startswith(whole)
    assert [json.loads(line)["type"] for line in path.read_bytes().splitlines()] == [
        "head",
        "said",
        "said",
        "said",
    ]
    assert path.with_suffix(".torn").read_bytes() == torn + b"\n"
    assert path.with_suffix(".torn").stat().st_mode & 0o777 == 0o600
    assert texts(history, name) == ["one", "two", "three"]


def test_a_second_torn_tail_is_kept_beside_the_first(history):
    name, path = kept(history, "one")
    for torn in (b"{one", b"{two"):
        with path.open("ab") as file:
            file.write(torn)
        history.open(name).close()
    assert path.with_suffix(".torn").read_bytes() == b"{one\n{two\n"


def test_a_record_that_lacks_only_its_newline_is_whole(history):
    name, path = kept(history, "one", "two")
    path.write_bytes(path.read_bytes()[:-1])
    assert texts(history, name) == ["one", "two"]
    log = history.open(name)
    log.append(said("three", 3))
    log.close()
    assert texts(history, name) == ["one", "two", "three"]
    assert not path.with_suffix(".torn").exists()


def test_a_reader_leaves_a_torn_tail_alone(history):
    name, path = kept(history, "one")
    path.write_bytes(path.read_bytes() + b'{"torn')
    before = path.read_bytes()
    log = history.open(name, write=False)
    assert len(list(log.records())) == 2 and log.skipped == 1
    assert path.read_bytes() == before


def test_every_cut_of_a_file_leaves_whole_records(history):
    name, path = kept(history, "one", "漢字")
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in range(len(lines[0]), len(whole), 7):
        path.write_bytes(whole[:cut])
        log = history.open(name)
        log.append(said("next", 9))
        log.close()
        read = path.read_bytes()
        assert all(json.loads(line) for line in read.splitlines())
        assert texts(history, name)[-1] == "next"
        path.with_suffix(".torn").unlink(missing_ok=True)


# -- damage ------------------------------------------------------------------------------------

BAD = [
    b"null",
    b"[]",
    b"1",
    b'"x"',
    b"{}",
    b'{"role":"user"}',
    b'{"type":5}',
    b'{"type":"said","x":NaN}',
    b'{"type":"said","x":-Infinity}',
    b'{"type":"said","x":' + b"1" * 5000 + b"}",
    b'{"type":"said","text":"\xff\xfe"}',
    b'{"type":"said","text":"\xed\xa0\x80"}',
    b'{"type":"said"} {"type":"said"}',
    b"[" * 10000,
    b"\x00" * 100,
    b"\x1f\x8b\x08",
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: repr(bad[:30]))
def test_a_damaged_line_is_counted_and_the_rest_is_read(history, bad):
    name, path = kept(history, "one", "two")
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second + bad + b"\n" + third)
    log = history.open(name, write=False)
    assert len(list(log.records())) == 3 and log.skipped == 1
    assert len(list(log.records(reverse=True))) == 3 and log.skipped == 1
    assert texts(history, name) == ["one", "two"]


def test_foreign_line_ends_a_byte_order_mark_and_blank_lines_do_no_harm(history):
    name, path = kept(history, "one", "two")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    log = history.open(name, write=False)
    assert texts(history, name) == ["one", "two"] and len(list(log.records())) == 3 and log.skipped == 0
    assert next(history.conversations())["directory"] == "/home/u/work"


@pytest.mark.parametrize(
    "content",
    [random.Random(7).randbytes(65536), gzip.compress(b"words " * 1000, mtime=0), b"\n", b"{", b"x" * 200000],
    ids=["random", "gzip", "newline", "brace", "long"],
)
def test_a_file_that_is_no_log_is_listed_read_and_written_and_stays_recoverable(history, content):
    name, path = kept(history, "lost")
    path.write_bytes(content)
    (listed,) = history.conversations()
    assert listed["id"] == name and listed["damaged"] and listed["directory"] == ""
    assert fold(history.open(name, write=False).records()).messages() == ()
    log = history.open(name)
    log.append(said("new", 1))
    log.close()
    assert texts(history, name) == ["new"]
    aside = path.with_suffix(".torn").read_bytes()[:-1] if path.with_suffix(".torn").exists() else b""
    assert (path.read_bytes().rpartition(b'{"id"')[0] + aside) == content


def test_what_was_written_to_in_one_instant_of_the_file_system_is_told_apart_by_its_last_record(history):
    ids = [kept(history, text)[0] for text in "abc"]
    log = history.open(ids[1])
    log.append(said("more"))
    log.close()
    for name in ids:
        os.utime(the_file(history, name), (1e9, 1e9))
    assert [head["id"] for head in history.conversations()] == [ids[1], ids[2], ids[0]]


def test_of_copies_in_several_folders_the_one_written_to_last_is_the_conversation(history, tmp_path):
    name, path = kept(history, "a")
    for folder in ("a copy", "z copy"):
        copy = path.parent.parent / folder / path.name
        copy.parent.mkdir()
        copy.write_bytes(path.read_bytes())
        os.utime(copy, (1e9, 1e9))
    for _ in range(2):
        again = Jsonl(history._root)
        log = again.open(name)
        log.append(said("more"))
        log.close()
    assert [head["id"] for head in again.conversations()] == [name]
    assert texts(Jsonl(history._root), name) == ["a", "more", "more"]
    again.remove(name)
    assert not list(history._root.iterdir())


@pytest.mark.parametrize("key", ["directory", "time", "title", "id", "mino", "parent"])
def test_a_head_of_any_shape_is_listed(history, key):
    name, path = kept(history, "a")
    first, rest = path.read_text().split("\n", 1)
    for value in (None, 5, ["x"], {"x": 1}, "\x1b[31m\ud800", True):
        path.write_text(json.dumps({**json.loads(first), key: value}) + "\n" + rest)
        (head,) = Jsonl(history._root).conversations()
        about = summary(history, head)
        assert about.id == name and about.first == "a" and about.place.isprintable() and about.when


def test_an_empty_file_is_no_conversation(history):
    name, path = kept(history, "lost")
    path.write_bytes(b"")
    assert list(history.conversations()) == []
    with pytest.raises(HistoryError, match=name):
        history.open(name)


def test_a_head_is_known_by_the_name_of_its_file(history):
    name, path = kept(history, "a")
    copy = new_id()
    path.with_name(path.name.replace(name, copy)).write_bytes(path.read_bytes())
    assert {each["id"] for each in history.conversations()} == {name, copy}
    assert texts(history, copy) == ["a"]


def test_the_end_of_a_long_log_is_read_from_its_end(history):
    name, path = kept(history, "first")
    long = ["x" * length for length in (0, 1, 65535, 65536, 65537, 200000, 3)]
    log = history.open(name)
    for turn, text in enumerate(long, 2):
        log.append(said(text, turn), durable=False)
    log.close()
    assert texts(history, name) == ["first", *long]
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)  # what stands at the beginning is not looked at
    log = history.open(name, write=False)
    assert next(log.records(reverse=True))["turn"] == 8 and log.skipped == 0


# -- what is not ours --------------------------------------------------------------------------


def test_links_are_neither_listed_nor_opened_nor_removed(history, tmp_path):
    name, path = kept(history, "a")
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(path.read_bytes())
    before = outside.read_bytes()
    linked = new_id()
    path.with_name(f"x-{linked}.jsonl").symlink_to(outside)
    away = tmp_path / "away"
    away.mkdir()
    folder = new_id()
    (away / f"x-{folder}.jsonl").write_bytes(before)
    (history._root / "linked").symlink_to(away)
    assert [each["id"] for each in history.conversations()] == [name]
    for stranger in (linked, folder):
        for act in (history.open, history.remove):
            with pytest.raises(HistoryError, match=stranger):
                act(stranger)
    assert outside.read_bytes() == before


def test_a_linked_folder_is_not_written_through(history, tmp_path):
    kept(history, "a")
    (tmp_path / "away").mkdir()
    (history._root / "home-u-other").symlink_to(tmp_path / "away")
    first = head("/home/u/other")
    with pytest.raises(HistoryError, match="is a link"):
        history.open(first["id"], first).append(said("a"))
    assert list((tmp_path / "away").iterdir()) == []


def test_other_files_are_left_alone(history):
    name, path = kept(history, "a")
    (path.parent / "notes.jsonl").write_text("mine")
    os.mkfifo(path.parent / f"x-{new_id()}.jsonl")
    assert [each["id"] for each in history.conversations()] == [name]
    history.remove(name)
    assert (path.parent / "notes.jsonl").read_text() == "mine"


def test_removing_takes_the_torn_tail_along_and_the_empty_folder(history):
    name, path = kept(history, "a")
    path.write_bytes(path.read_bytes() + b"{torn")
    history.open(name).close()
    history.remove(name)
    assert list(history._root.iterdir()) == []


# -- what cannot be written --------------------------------------------------------------------


@contextlib.contextmanager
def ordinary_user():
    """Nothing is forbidden to root: for a while we are somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory() as path:
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
        yield Path(path)


def test_a_home_that_is_read_only_is_told_with_its_path(place):
    place.chmod(0o555)
    first = head()
    with ordinary_user(), pytest.raises(HistoryError) as raised:
        Jsonl(place / "history").open(first["id"], first).append(said("a"))
    place.chmod(0o755)
    assert str(raised.value).startswith(str(place)) and "Permission denied" in str(raised.value)


def test_a_file_that_is_closed_to_us_is_told_with_its_path_and_hides_no_other(place):
    history = Jsonl(place / "history")
    with ordinary_user():
        name, path = kept(history, "a")
        other, _ = kept(history, "b", directory="/other")
        path.chmod(0)
        assert {each["id"]: each.get("damaged", "") for each in history.conversations()} == {
            name: "Permission denied",
            other: "",
        }
        rows = {each.id: each.name for each in (summary(history, head) for head in history.conversations())}
        assert rows == {name: "(Permission denied)", other: "b"}
        for write in (True, False):
            with pytest.raises(HistoryError) as raised:
                list(history.open(name, write=write).records())
            assert str(path) in str(raised.value) and "Permission denied" in str(raised.value)
        path.parent.chmod(0)
        assert [each["id"] for each in history.conversations()] == [other]
        path.parent.chmod(0o700)


def test_a_file_that_may_only_be_read_is_read(place):
    history = Jsonl(place / "history")
    with ordinary_user():
        name, path = kept(history, "a")
        path.chmod(0o400)
        assert texts(history, name) == ["a"]
        with pytest.raises(HistoryError, match="cannot be written: Permission denied"):
            history.open(name)


def test_a_place_that_is_a_file_is_told_with_its_path(tmp_path):
    (tmp_path / "history").write_text("mine")
    history = Jsonl(tmp_path / "history")
    first = head()
    with pytest.raises(HistoryError, match="Not a directory"):
        list(history.conversations())
    with pytest.raises(HistoryError) as raised:
        history.open(first["id"], first).append(said("a"))
    assert str(raised.value) == f"{tmp_path / 'history'} cannot be written: Not a directory"
    assert (tmp_path / "history").read_text() == "mine"


def test_a_place_that_cannot_exist_is_told_with_its_path():
    first = head()
    history = Jsonl(Path("/proc/nonexistent/.mino/history"))
    assert list(history.conversations()) == []
    with pytest.raises(HistoryError, match=r"^/proc/nonexistent cannot be written"):
        history.open(first["id"], first).append(said("a"))


@contextlib.contextmanager
def full_disk(room):
    """No file may grow beyond `room` bytes: the write is cut short there, and the next one fails."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_record_that_did_not_fit_mixes_with_no_other(history):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("one"))
    path = the_file(history, first["id"])
    with full_disk(path.stat().st_size + 20):
        for _ in range(2):
            with pytest.raises(HistoryError, match="cannot be written: File too large"):
                log.append(said("lost"))
    log.append(said("two", 2))
    log.close()
    assert texts(history, first["id"]) == ["one", "two"]
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_conversation_that_could_not_begin_leaves_nothing_and_begins_later(history):
    first = head()
    log = history.open(first["id"], first)
    with full_disk(30), pytest.raises(HistoryError):
        log.append(said("lost"))
    assert list(history.conversations()) == [] and not list(history._root.glob("*/*"))
    log.append(said("kept"))
    log.close()
    assert texts(history, first["id"]) == ["kept"]


def test_a_sync_that_fails_is_told(history, monkeypatch):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("one"))

    def broken(fd):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(HistoryError, match="Input/output error"):
        log.append(said("two"))
    monkeypatch.undo()
    log.append(said("three"))
    log.close()
    assert texts(history, first["id"]) == ["one", "two", "three"]


def test_what_is_not_json_is_told_and_nothing_of_it_is_written(history):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("one"))
    deep = []
    for _ in range(100000):
        deep = [deep]
    for wrong in (float("nan"), object(), {1, 2}, deep):
        with pytest.raises(HistoryError, match="is not JSON"):
            log.append(record("x", value=wrong))
    log.append(said("two"))
    log.close()
    assert texts(history, first["id"]) == ["one", "two"]


def test_a_file_that_was_removed_meanwhile_is_told(history):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("one"))
    the_file(history, first["id"]).unlink()
    with pytest.raises(HistoryError, match="was removed while it was open"):
        log.append(said("two"))
    log.close()
