"""What is kept of a conversation, and how little of it is read."""

from itertools import count

import pytest
from mino_core import Message, Text, fold, secret
from mino_core.records import new_id, record
from mino_core.session.copies import of_log, of_records
from mino_core.session.journal import Journal


class Shelf:
    """A history of lists, which counts what is read and fails when it is told to."""

    def __init__(self):
        self.logs = {}
        self.read = 0
        self.refuse = lambda record: None

    def open(self, id, head=None, write=True):
        if head is not None:
            self.logs[id] = [head]
        return Book(self, self.logs[id])


class Book:
    def __init__(self, shelf, kept):
        self.shelf = shelf
        self.kept = kept
        self.durable = []

    def append(self, record, durable=True):
        self.shelf.refuse(record)
        self.kept.append(record)
        self.durable.append(durable)

    def records(self, reverse=False):
        for each in self.kept[::-1] if reverse else self.kept[:]:
            self.shelf.read += 1
            yield each

    def close(self):
        pass


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def told():
    return []


def fresh(shelf, told, **more):
    return Journal(lambda: shelf, record("head", format=1) | {"id": new_id()}, told.append, **more)


def opened(shelf, told, *records):
    head = record("head", format=1, title="first title")
    shelf.logs[head["id"]] = [head, *records]
    return Journal(lambda: shelf, {"id": head["id"], "type": "head"}, told.append, log=shelf.open(head["id"]))


def said(text, turn, role="user", **more):
    message = {"role": role, "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message, **more)


def turns(first, last):
    for n in range(first, last + 1):
        yield said(f"q{n}", n)
        yield said(f"a{n}", n, "assistant", outcome="completed")
        yield record("ended", turn=n, outcome="completed")


def texts(journal):
    return [message.text for message in journal.conversation.messages()]


def user(text):
    return Message("user", (Text(text),))


# -- reading -----------------------------------------------------------------------------------


def test_opening_a_long_conversation_reads_its_end(shelf, told):
    journal = opened(shelf, told, *turns(1, 50_000))
    assert shelf.read < 100
    assert [turn.question for turn in journal.recent.turns][-2:] == ["q49999", "q50000"]
    assert journal.latest == 50_000 and shelf.read < 10_000
    journal.said(50_001, user("more"))
    assert journal.latest == 50_001 and shelf.read < 10_000


def test_the_rest_is_read_when_it_is_needed_and_only_once(shelf, told):
    journal = opened(shelf, told, *turns(1, 3000))
    journal.said(3001, user("more"))
    assert texts(journal) == [text for n in range(1, 3001) for text in (f"q{n}", f"a{n}")] + ["more"]
    read = shelf.read
    journal.said(3002, user("again"))
    assert texts(journal)[-2:] == ["more", "again"] and journal.latest == 3002
    assert shelf.read == read


def test_what_was_cleared_is_never_read(shelf, told):
    journal = opened(shelf, told, *turns(1, 20_000), record("cleared"), *turns(20_001, 20_010))
    assert texts(journal)[0] == "q20001" and len(texts(journal)) == 20
    assert journal.latest == 20_010 and shelf.read < 100


def test_a_clear_in_the_middle_distance_is_found_before_a_question(shelf, told):
    journal = opened(shelf, told, *turns(1, 20_000), record("cleared"), *turns(20_001, 20_500))
    assert shelf.read < 100
    journal.prepare()
    assert len(texts(journal)) == 1000 and shelf.read < 2000


def test_what_a_summary_stands_for_is_never_read(shelf, told):
    records = list(turns(1, 20_000))
    compacted = record("compacted", summary="sum", upto=records[-4]["id"])
    journal = opened(shelf, told, *records, compacted, *turns(20_001, 20_002))
    assert texts(journal)[:2] == ["sum", "q20000"] and shelf.read < 100


def test_the_title_is_found_wherever_it_was_given(shelf, told):
    assert opened(shelf, told, *turns(1, 10)).title == "first title"
    assert opened(shelf, told, *turns(1, 10), record("titled", title="t")).title == "t"
    early = [record("titled", title="early"), *turns(1, 10_000)]
    assert opened(shelf, told, *early).title == "early"
    assert opened(shelf, told, *early, record("cleared")).title == "early"
    assert fresh(shelf, told).title == ""


def test_a_log_that_cannot_be_read_to_its_end_is_told_and_goes_on(shelf, told):
    class Torn(Book):
        def records(self, reverse=False):
            yield from self.kept[:0:-1] if reverse else self.kept[:-1]
            raise OSError("the disk is gone")

    head = record("head")
    kept = [head, *turns(1, 2)]
    journal = Journal(lambda: shelf, {"id": head["id"], "type": "head"}, told.append, log=Torn(shelf, kept))
    assert texts(journal) == ["q1", "a1", "q2", "a2"]
    assert told == ["not all of this conversation can be read: the disk is gone"]


def test_what_was_repaired_is_told_once(shelf, told):
    call = {"type": "tool_call", "id": "c", "name": "look", "arguments": "{}"}
    journal = opened(
        shelf,
        told,
        *turns(1, 1),
        said(" ", 1, "assistant"),
        record("said", turn=2, message={"role": "assistant", "parts": [call], "meta": {}}),
        said("one", 3),
        said("two", 3),
        {"type": "said", "turn": 4},
    )
    journal.prepare()
    assert texts(journal) and journal.latest
    (line,) = told
    assert line.startswith("this conversation was repaired while it was read: 1 damaged record left out, ")
    assert "1 empty reply left out, 1 tool call or result without the other" in line
    assert "1 turn with several questions" in line


def test_a_sound_conversation_is_no_reason_to_speak(shelf, told):
    assert texts(opened(shelf, told, *turns(1, 5)))
    assert told == []


# -- writing -----------------------------------------------------------------------------------


def test_nothing_is_written_before_the_first_message(shelf, told):
    journal = fresh(shelf, told)
    journal.note("titled", title="t")
    journal.close()
    assert shelf.logs == {} and not journal.is_kept and journal.unkept == 0


def test_messages_and_changes_are_durable_and_the_rest_is_not(shelf, told):
    journal = fresh(shelf, told)
    journal.said(1, user("q"))
    journal.partial(1, (Text("a"),))
    journal.ended(1, outcome="completed")
    journal.note("cleared")
    assert journal._log.durable == [True, False, False, True]


def test_a_partial_holds_what_is_new(shelf, told):
    journal = fresh(shelf, told)
    journal.said(1, user("q"))
    answer = "".join(f"word {n} " for n in range(400))
    for end in range(10, len(answer), 10):
        journal.partial(1, (Text(answer[:end]),))
    kept = shelf.logs[journal.id]
    partials = [each for each in kept if each["type"] == "partial"]
    assert "more" not in partials[0] and all(each["more"] for each in partials[1:])
    written = sum(len(part["text"]) for each in partials for part in each["parts"])
    said_again = sum(each["again"] for each in partials[1:])
    assert written - said_again == len(journal.conversation.turns[0].partial.text) == end
    assert fold(kept).turns[0].partial.text == answer[:end]


def test_a_secret_that_comes_in_two_pieces_is_masked_as_soon_as_it_is_whole(shelf, told, monkeypatch):
    monkeypatch.setattr(secret, "_known", [])
    secret.remember("sk-CANARY-1234")
    journal = fresh(shelf, told)
    journal.said(1, user("q"))
    for text in ("the key is sk-CAN", "the key is sk-CANARY-1234", "the key is sk-CANARY-1234 and more"):
        journal.partial(1, (Text(text),))
    partials = [each for each in shelf.logs[journal.id] if each["type"] == "partial"]
    assert [each.get("more", False) for each in partials] == [False, False, True]
    assert journal.conversation.turns[0].partial.text == "the key is *** and more"


def test_no_secret_enters_a_record_of_any_kind(shelf, told, monkeypatch):
    monkeypatch.setattr(secret, "_known", [])
    secret.remember("sk-CANARY-1234")
    journal = fresh(shelf, told, copies=of_records([said("old sk-CANARY-1234", 1)]))
    journal.said(2, user("sk-CANARY-1234"), error={"message": "no sk-CANARY-1234"})
    journal.partial(2, (Text("sk-CANARY-1234"),))
    journal.ended(2, outcome="failed", error={"kind": "http", "message": "x sk-CANARY-1234"})
    journal.note("titled", title="sk-CANARY-1234")
    assert "CANARY" not in repr(shelf.logs) and repr(shelf.logs).count("***") == 6


# -- trouble -----------------------------------------------------------------------------------


def failing(times):
    left = count()

    def refuse(record):
        if next(left) < times:
            raise OSError("the disk is full")

    return refuse


def test_what_could_not_be_written_waits_and_is_counted(shelf, told):
    journal = fresh(shelf, told)
    shelf.refuse = failing(3)
    journal.said(1, user("q1"))
    journal.partial(1, (Text("half"),))
    journal.said(1, Message("assistant", (Text("a1"),)))
    assert journal.unkept == 2 and told == ["this conversation is not kept: the disk is full"]
    assert texts(journal) == ["q1", "a1"]
    journal.ended(1, outcome="completed")
    journal.said(2, user("q2"))
    assert journal.unkept == 0 and told[1:] == ["this conversation is kept again"]
    assert [each["type"] for each in shelf.logs[journal.id]] == ["head", "said", "said", "ended", "said"]


def test_closing_tries_once_more(shelf, told):
    journal = fresh(shelf, told)
    shelf.refuse = failing(1)
    journal.said(1, user("q1"))
    assert journal.unkept == 1
    journal.close()
    assert journal.unkept == 0 and len(shelf.logs[journal.id]) == 2


def test_a_message_that_was_not_kept_is_sent_all_the_same(shelf, told):
    journal = opened(shelf, told, *turns(1, 3000))
    shelf.refuse = failing(99)
    journal.said(3001, user("last"))
    assert texts(journal)[-1] == "last" and journal.latest == 3001


# -- copies ------------------------------------------------------------------------------------


def test_a_fork_begins_with_copies_and_they_come_before_what_follows(shelf, told):
    head, *records = [record("head"), *turns(1, 2)]
    journal = fresh(shelf, told, copies=of_records([head, *records]))
    assert texts(journal) == ["q1", "a1", "q2", "a2"] and shelf.logs == {}
    journal.said(3, user("q3"))
    kept = shelf.logs[journal.id]
    assert kept[0] == journal.head and kept[1:-1] == records
    assert kept[-1]["message"]["parts"][0]["text"] == "q3"
    assert texts(journal)[-1] == "q3"


@pytest.mark.parametrize(
    "change", [{"type": "titled", "title": "Pets"}, {"type": "undone", "turns": 1}, {"type": "cleared"}]
)
def test_a_fork_is_there_with_its_first_change_and_what_is_empty_is_not(shelf, told, change):
    journal, empty = fresh(shelf, told, copies=of_records([*turns(1, 2)])), fresh(shelf, told)
    journal.note(**change)
    empty.note(**change)
    assert shelf.logs[journal.id][-1]["type"] == change["type"] and len(shelf.logs[journal.id]) == 8
    assert list(shelf.logs) == [journal.id]


def test_copies_of_a_log_stop_where_it_ended_when_they_were_asked_for(shelf, told):
    head = record("head")
    shelf.logs[head["id"]] = [head, *turns(1, 2000)]
    copies, last = of_log(shelf, head["id"])
    assert last == shelf.logs[head["id"]][-1]["id"] and shelf.read == 1
    shelf.logs[head["id"]] += turns(2001, 2002)
    journal = fresh(shelf, told, copies=copies)
    assert journal.latest == 2000 and shelf.read < 10_000
    journal.said(2001, user("mine"))
    assert len(shelf.logs[journal.id]) == 1 + 6000 + 1
    assert texts(journal)[-2:] == ["a2000", "mine"]


def test_copies_that_could_not_all_be_written_go_on_where_they_stopped(shelf, told):
    records = list(turns(1, 3))
    journal = fresh(shelf, told, copies=of_records(records))
    left = count()

    def refuse(record):
        if 4 <= next(left) < 6:
            raise OSError("the disk is full")

    shelf.refuse = refuse
    journal.said(4, user("q4"))
    assert texts(journal) == ["q1", "a1", "q2", "a2", "q3", "a3", "q4"] and journal.unkept == 1
    journal.ended(4, outcome="failed")
    journal.said(5, user("q5"))
    assert journal.unkept == 0
    kept = shelf.logs[journal.id]
    assert kept[1:-3] == records and [each["type"] for each in kept[-3:]] == ["said", "ended", "said"]


def test_a_word_that_is_a_key_is_sent_as_it_was_said_and_kept_masked(shelf, told):
    secret.remember("hunter2hunter2")
    journal = opened(shelf, told, *turns(1, 2))
    journal.said(3, user("is hunter2hunter2 a good key?"))
    assert texts(journal)[-1] == "is hunter2hunter2 a good key?"
    assert "hunter2" not in repr(list(journal.records()))


def test_a_record_holds_only_what_json_can(shelf, told):
    deep = []
    for _ in range(1000):
        deep = [deep]
    journal = opened(shelf, told)
    journal.said(1, Message("assistant", (Text("a"),), {"k": [float("nan"), object(), deep, 1.5]}))
    kept = next(r for r in journal.records() if r["type"] == "said")
    assert kept["message"]["meta"]["k"][:2] == [None, None]
    assert kept["message"]["meta"]["k"][3] == 1.5
    assert journal.is_kept
    assert told == []
