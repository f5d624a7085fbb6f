"""The example of a history keeps the promises that the built-in ones keep."""

import errno
import fcntl
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import test_history
from mino_core import Busy, HistoryError, fold
from mino_core.records import new_id, record
from mino_core.settings import Settings
from mino_core.testing import HistoryConformance
from test_history_jsonl import full_disk

from mino_history import mino_subcommands

SOURCE = Path(__file__).parents[2] / "examples/mino-history-sqlite"


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE))


def sqlite(folder, **settings):
    sys.path.insert(0, str(SOURCE))
    try:
        from mino_history_sqlite import mino_histories
    finally:
        sys.path.remove(str(SOURCE))
    return mino_histories()["sqlite"](Settings(settings, home=folder))


class TestSqlite(HistoryConformance):
    def history(self, tmp_path):
        return sqlite(tmp_path)


class TestWhatHoldsForTheBuiltIns:
    """Every test of the built-in histories that asks for one."""

    @pytest.fixture
    def history(self, tmp_path):
        return sqlite(tmp_path)


for _name, _test in vars(test_history).items():
    if _name.startswith("test_"):
        setattr(TestWhatHoldsForTheBuiltIns, _name, staticmethod(_test))


def said(text, turn=1):
    message = {"role": "user", "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message)


def kept(history, *texts):
    head = record("head", id=new_id(), format=1, directory="/")
    log = history.open(head["id"], head)
    for turn, text in enumerate(texts, 1):
        log.append(said(text, turn), durable=False)
    log.close()
    return head["id"]


@pytest.fixture
def history(tmp_path):
    return sqlite(tmp_path)


def test_nothing_is_on_disk_before_the_first_record(history, tmp_path):
    head = record("head", id=new_id(), format=1, directory="/")
    assert list(history.conversations()) == []
    history.open(head["id"], head).close()
    assert list(tmp_path.iterdir()) == []


def test_files_are_their_owners_alone(history, tmp_path):
    head = record("head", id=new_id(), format=1, directory="/")
    log = history.open(head["id"], head)
    log.append(said("a"))
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(found) >= 3 and all(path.stat().st_mode & 0o077 == 0 for path in found)
    log.close()
    assert not list((tmp_path / "history.sqlite.locks").iterdir())


def test_another_place_can_be_set(tmp_path):
    kept(sqlite(tmp_path, path="there/mine.db"), "a")
    assert (tmp_path / "there/mine.db").exists()


CHINESE = "历史记录里的每一句话都应该能被找到，无论它出现在哪里；例如“协议”与“漢字”。"


@pytest.mark.parametrize("words", ["历", "漢字", "协议", "每一句", "无论它出现在哪里", "。", "”"])
def test_chinese_of_any_length_is_found(history, capsys, words):
    kept(history, *["filler " * 9] * 20)
    name = kept(history, *["filler " * 9] * 20, CHINESE, "filler")
    host = SimpleNamespace(history=history)
    assert mino_subcommands()["history"](["search", words], host) == 0
    found = capsys.readouterr().out.splitlines()
    assert found[0].startswith(name) and words in found[1] and len(found) == 2


@pytest.mark.parametrize(
    "words", ['"', "%", "_", "\\", '" OR "', "a_b", "100%", "NEAR(", "*", "a\0b", "é", "É"]
)
def test_what_means_something_to_sqlite_means_itself(history, capsys, words):
    kept(history, "nothing of the kind: xyz, aXb, 1000")
    name = kept(history, f"before {words} after")
    mino_subcommands()["history"](["search", words], SimpleNamespace(history=history))
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()][::2] == [name]


def test_what_was_erased_is_in_no_file_any_more(history, tmp_path):
    name = kept(history, "a secret CANARY of mine")
    kept(history, "another")
    history.remove(name)
    assert list(history.search("CANARY")) == []
    assert not any(b"CANARY" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path):
    (tmp_path / "history.sqlite").write_bytes(b"mine" * 1000)
    history = sqlite(tmp_path)
    head = record("head", id=new_id(), format=1, directory="/")
    for act in (lambda: list(history.conversations()), lambda: history.open(head["id"], head)):
        with pytest.raises(HistoryError, match=r"history\.sqlite cannot be read: file is not a database"):
            act()
    assert (tmp_path / "history.sqlite").read_bytes() == b"mine" * 1000


_OTHER = """
import json, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from mino_history_sqlite import Sqlite
from test_history_sqlite import kept
history = Sqlite(Path(sys.argv[1]))
name = kept(history, "by another process")
logs = [history.open(head["id"], write=False).records() for head in history.conversations()]
said = [each["message"] for log in logs for each in log if each["type"] == "said"]
print(json.dumps([message["parts"][0]["text"] for message in said]))
"""


def other(tmp_path):
    """Let another process write a conversation; returns the words that it finds in all."""
    path = [str(tmp_path / "history.sqlite"), str(SOURCE), str(Path(__file__).parent)]
    done = subprocess.run([sys.executable, "-c", _OTHER, *path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_processes_that_write_one_file_lose_nothing_of_each_other(history, tmp_path):
    head = record("head", id=new_id(), format=1, directory="/")
    log = history.open(head["id"], head)
    log.append(said("one"))
    assert len(list(history.conversations())) == 1  # reading must not cost the writer its place
    other(tmp_path)
    log.append(said("two"))
    assert sorted(other(tmp_path)) == ["by another process", "by another process", "one", "two"]
    log.close()
    assert len(other(tmp_path)) == 5


def test_what_a_crash_left_of_a_new_file_is_no_obstacle(history, tmp_path):
    for left in (b"", None):
        (tmp_path / "history.sqlite").unlink(missing_ok=True)
        if left is None:  # WAL was chosen, and nothing made yet
            connection = sqlite3.connect(tmp_path / "history.sqlite")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.close()
        else:
            (tmp_path / "history.sqlite").write_bytes(left)
        assert list(history.conversations()) == []
        name = kept(history, "a")
        assert [each["id"] for each in history.conversations()] == [name]


def test_a_file_that_another_holds_is_told_and_read(history, tmp_path):
    name = kept(history, "a")
    holder = sqlite3.connect(tmp_path / "history.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    log = history.open(name)
    with pytest.raises(HistoryError, match=r"history\.sqlite cannot be written: database is locked"):
        log.append(said("b"))
    assert len(list(log.records())) == 2
    holder.execute("COMMIT")
    log.append(said("b"))
    assert len(list(log.records())) == 3
    log.close()
    holder.close()


def test_a_conversation_that_was_removed_meanwhile_is_told(history, tmp_path):
    name = kept(history, "a")
    log = history.open(name)
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    with connection:
        connection.execute("DELETE FROM records")
        connection.execute("DELETE FROM conversations")
    connection.close()
    with pytest.raises(HistoryError, match="was removed while it was open"):
        log.append(said("b"))
    log.close()


def test_a_damaged_row_is_left_out_and_counted(history, tmp_path):
    name = kept(history, "a", "b")
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    with connection:
        connection.execute("UPDATE records SET record = '{\"type' WHERE n = 2")
    connection.close()
    log = history.open(name, write=False)
    assert len(list(log.records())) == len(list(log.records(reverse=True))) == 2 and log.skipped == 1
    assert [[each["type"] for each in records] for _, records in history.search("b")] == [["said"]]


@pytest.mark.parametrize("head", ['{"type', "5", '{"id": 7}'])
def test_a_damaged_head_hides_nothing(history, tmp_path, head):
    name, other = kept(history, "a"), kept(history, "b")
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    with connection:
        connection.execute("UPDATE conversations SET head = ? WHERE id = ?", [head, name])
    connection.close()
    assert [each["id"] for each in history.conversations()] == [other, name]
    assert [each["id"] for each, _ in history.search("a")] == [name]
    log = history.open(name)
    log.append(said("c", 2))
    log.close()
    assert fold(history.open(name, write=False).records()).messages()[-1].text == "c"


def test_a_disk_without_any_room_stops_nothing_for_longer_than_it_is_full(history):
    name = kept(history, "a")
    begun, fresh = history.open(name), record("head", id=new_id(), format=1, directory="/")
    new = history.open(fresh["id"], fresh)
    with full_disk(0):
        for log in (begun, new):
            for _ in range(2):
                with pytest.raises(HistoryError, match=r"cannot be written: (?!.*another process)"):
                    log.append(said("b", 2))
    for log in (begun, new):
        log.append(said("c", 3))
        log.close()
    for each in (name, fresh["id"]):
        assert fold(history.open(each).records()).messages()[-1].text == "c"


def test_where_the_file_system_has_no_locks_conversations_are_kept_all_the_same(history, monkeypatch):
    def flock(fd, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    name = kept(history, "a", "b")
    assert len(list(history.open(name).records())) == 3


def test_long_conversations_are_read_in_pages(history):
    name = kept(history, *map(str, range(1200)))
    log = history.open(name, write=False)
    forwards = [each["message"]["parts"][0]["text"] for each in log.records() if each["type"] == "said"]
    assert forwards == [str(n) for n in range(1200)]
    assert list(log.records(reverse=True)) == list(log.records())[::-1]


def test_the_owner_of_a_lock_is_named_and_a_dead_one_has_none(history):
    name = kept(history, "a")
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        history.open(name)
        os.write(writes, b"x")
        os.read(os.pipe()[0], 1)
    os.read(reads, 1)
    with pytest.raises(Busy, match=f"this conversation is open in process {child} on "):
        history.open(name)
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(reads)
    os.close(writes)
    history.open(name).close()
