"""Two processes and one conversation; and processes that die."""

import errno
import fcntl
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from mino_core import Busy
from mino_core.records import new_id, record

from mino_history.jsonl import Jsonl


class _Child:
    """A process that acts when it is told to, and answers when it has."""

    def __init__(self, root):
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("history_child.py")), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, act):
        self.process.stdin.write(act + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def root(tmp_path):
    return tmp_path / "history"


@pytest.fixture
def child(root):
    child = _Child(root)
    yield child
    child.close()


def _texts(history, name):
    records = history.open(name, write=False).records()
    return [each["message"]["parts"][0]["text"] for each in records if each["type"] == "said"]


def said(text):
    message = {"role": "user", "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=1, message=message)


def test_a_second_process_is_told_who_writes(root, child):
    name, history = new_id(), Jsonl(root)
    assert child.do(f"begin {name}") == "done" and child.do("say one") == "done"
    with pytest.raises(Busy) as raised:
        history.open(name)
    assert f"process {child.process.pid} " in str(raised.value)
    assert os.uname().nodename in raised.value.owner
    assert _texts(history, name) == ["one"]
    with pytest.raises(Busy):
        history.remove(name)
    assert child.do("say two") == "done" and child.do("close") == "done"
    log = history.open(name)
    assert child.do(f"open {name}").startswith(f"Busy: this conversation is open in process {os.getpid()} ")
    log.close()
    assert child.do(f"open {name}") == "done"


def test_conversations_that_come_and_go_elsewhere_hide_no_other_and_stop_no_new_one(root, child):
    history = Jsonl(root)

    def begun(directory):
        head = record("head", id=new_id(), format=1, directory=directory)
        log = history.open(head["id"], head)
        log.append(record("note"), durable=False)
        log.close()
        return head["id"]

    lasting = {begun(f"/lasting/{n}") for n in range(3)}
    child.process.stdin.write("churn\n")
    child.process.stdin.flush()
    while not select.select([child.process.stdout], [], [], 0)[0]:
        assert lasting <= {head["id"] for head in history.conversations()}
        history.remove(begun("/0"))  # in a folder that the other process takes away when it is empty
    assert child.process.stdout.readline() == "done\n"


@pytest.mark.parametrize("name", ["ENOLCK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"])
def test_where_the_file_system_has_no_locks_conversations_are_kept_all_the_same(root, name, monkeypatch):
    def flock(fd, how):
        raise OSError(getattr(errno, name), os.strerror(getattr(errno, name)))

    monkeypatch.setattr(fcntl, "flock", flock)
    history, one_id = Jsonl(root), new_id()
    one = history.open(one_id, record("head", id=one_id, format=1, directory="/"))
    one.append(said("one"))
    two = history.open(one_id)
    two.append(said("two"))
    one.append(said("three"))
    one.close()
    two.close()
    assert _texts(history, one_id) == ["one", "two", "three"]
    history.remove(one_id)
    assert not list(history.conversations())


def test_the_lock_of_a_killed_process_is_free(root, child):
    name, history = new_id(), Jsonl(root)
    child.do(f"begin {name}")
    child.do("say one")
    child.kill()
    log = history.open(name)
    parts = [{"type": "text", "text": "two"}]
    log.append(record("said", turn=2, message={"role": "user", "parts": parts, "meta": {}}))
    log.close()
    assert _texts(history, name) == ["one", "two"]
    (folder,) = root.iterdir()
    assert [each.suffix for each in folder.iterdir()] == [".jsonl"]


def test_what_was_appended_outlives_a_kill_durable_or_not(root, child):
    name, history = new_id(), Jsonl(root)
    child.do(f"begin {name}")
    for n in range(20):
        assert child.do(f"say {n}") == "done"
    assert child.do("note unsynced") == "done"
    child.kill()
    assert _texts(history, name) == [str(n) for n in range(20)]
    last = next(history.open(name, write=False).records(reverse=True))
    assert last["text"] == "unsynced"


def test_a_lock_whose_owner_left_no_words_still_holds(root, child):
    name = new_id()
    child.do(f"begin {name}")
    child.do("say one")
    (words,) = root.glob("*/*.lock")
    words.unlink()
    with pytest.raises(Busy, match="open in another process"):
        Jsonl(root).open(name)


def test_the_words_beside_a_lock_are_not_trusted(root, child):
    name = new_id()
    child.do(f"begin {name}")
    child.do("say one")
    (words,) = root.glob("*/*.lock")
    words.write_bytes(b"\x1b]0;x\x07\xff" + b"y" * 5000)
    with pytest.raises(Busy) as raised:
        Jsonl(root).open(name)
    assert raised.value.owner.isprintable() and len(raised.value.owner) == 200


def test_a_process_started_by_the_writer_does_not_keep_the_lock(root):
    name, history = new_id(), Jsonl(root)
    log = history.open(name, record("head", id=name, format=1, directory="/"))
    log.append(record("note"))
    heir = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    log.close()
    history.open(name).close()
    heir.stdin.close()
    heir.wait()
