"""A process that ends before, in the middle of, and after each thing it asks of the disk.

A child writes a conversation and says after each record that it was kept. Its system calls are counted,
and at the given one it is gone, without a chance to tidy up. Then we look at what is there.
"""

import json
import os
from itertools import count

import pytest
from mino_core import HistoryError
from mino_core.records import new_id, record

from mino_history.jsonl import Jsonl

CALLS = ("open", "write", "fdatasync", "fsync", "ftruncate", "mkdir", "unlink", "close")


def said(text):
    parts = [{"type": "text", "text": text}]
    return record("said", turn=1, message={"role": "user", "parts": parts, "meta": {}})


def begin(history, name, tell):
    log = history.open(name, record("head", id=name, format=1, directory="/d"))
    for n in range(3):
        log.append(said(f"new {n} 漢字"), durable=n != 1)
        tell(f"new {n} 漢字")
    log.close()


def go_on(history, name, tell):
    log = history.open(name)
    log.append(said("next"))
    tell("next")
    log.close()


def texts(history, name):
    try:
        records = list(history.open(name, write=False).records())
    except HistoryError:
        return []
    return [each["message"]["parts"][0]["text"] for each in records if each["type"] == "said"]


def dies(root, name, act, moment, how):
    """Run `act` in a child that ends at its call number `moment`; returns what it said was kept, or None
    where it came to its end before."""
    reads, tells = os.pipe()
    child = os.fork()
    if not child:
        real = {call: getattr(os, call) for call in CALLS}
        left = count()

        def dying(call, *args, **kwargs):
            if next(left) != moment:
                return real[call](*args, **kwargs)
            if how == "torn" and call == "write":
                real["write"](args[0], bytes(args[1])[: len(args[1]) // 2])
            elif how == "after":
                real[call](*args, **kwargs)
            os._exit(9)

        for call in CALLS:
            setattr(os, call, lambda *args, _call=call, **kwargs: dying(_call, *args, **kwargs))
        try:
            act(Jsonl(root), name, lambda text: real["write"](tells, (text + "\n").encode()))
        finally:
            os._exit(0)
    os.close(tells)
    with open(reads, encoding="utf-8") as told:
        kept = told.read().split("\n")[:-1]
    return kept if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9 else None


def check(root, name, kept):
    """What was said to be kept is kept, what is there is whole, and the conversation goes on."""
    history = Jsonl(root)
    found = texts(history, name)
    assert found[: len(kept)] == kept and len(found) <= len(kept) + 1
    list(history.conversations())
    if not found:
        return
    go_on(history, name, lambda text: None)
    assert texts(history, name) == [*found, "next"]
    (file,) = root.glob(f"*/*{name}.jsonl")
    for line in file.read_bytes().splitlines():
        json.loads(line)


@pytest.mark.parametrize("how", ["before", "torn", "after"])
def test_a_new_conversation_survives_an_end_at_any_moment(tmp_path, how):
    for moment in count():
        name, root = new_id(), tmp_path / str(moment)
        kept = dies(root, name, begin, moment, how)
        if kept is None:
            break
        check(root, name, kept)
    assert moment > 10


@pytest.mark.parametrize("how", ["before", "torn", "after"])
@pytest.mark.parametrize("end", [b"", b'{"id":"x","type":"said","mess'], ids=["whole", "torn"])
def test_a_conversation_that_goes_on_survives_an_end_at_any_moment(tmp_path, how, end):
    for moment in count():
        name, root = new_id(), tmp_path / str(moment)
        begin(Jsonl(root), name, lambda text: None)
        before = texts(Jsonl(root), name)
        (file,) = root.glob("*/*.jsonl")
        file.write_bytes(file.read_bytes() + end)
        kept = dies(root, name, go_on, moment, how)
        if kept is None:
            break
        check(root, name, before + kept)
        if end:
            assert end in file.with_suffix(".torn").read_bytes()
    assert moment > 5
