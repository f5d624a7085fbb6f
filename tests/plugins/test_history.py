"""What every place for conversations promises, shown on the two that are built in."""

import pytest
from mino_core import Busy, HistoryError, fold
from mino_core.records import new_id, record
from mino_core.settings import Settings
from mino_core.testing import HistoryConformance

from mino_history import mino_histories


class TestJsonl(HistoryConformance):
    def history(self, tmp_path):
        return mino_histories()["jsonl"](Settings({}, home=tmp_path))


class TestMemory(HistoryConformance):
    lasting = False

    def history(self, tmp_path):
        return mino_histories()["memory"](Settings({}))


@pytest.fixture(params=["jsonl", "memory"])
def history(request, tmp_path):
    return mino_histories()[request.param](Settings({}, home=tmp_path))


def head(**fields):
    return record("head", id=new_id(), format=1, directory="/somewhere", **fields)


def said(text, role="user", turn=1):
    message = {"role": role, "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message)


def kept(history, *records, **fields):
    """The head of a new conversation with these records."""
    first = head(**fields)
    log = history.open(first["id"], first)
    for each in records:
        log.append(each)
    log.close()
    return first


def test_records_come_back_as_they_were_from_either_end(history):
    records = [said("q"), said("a", "assistant"), record("ended", turn=1, outcome="completed")]
    first = kept(history, *records)
    log = history.open(first["id"], write=False)
    assert list(log.records()) == [first, *records]
    assert list(log.records(reverse=True)) == [first, *records][::-1]
    assert log.skipped == 0


def test_a_conversation_comes_into_being_with_its_first_record(history):
    first = head()
    log = history.open(first["id"], first)
    assert list(history.conversations()) == [] and list(log.records()) == []
    log.append(said("q"))
    assert [each["id"] for each in history.conversations()] == [first["id"]]
    assert len(list(log.records())) == 2
    log.close()


def test_a_writer_sees_what_it_has_written(history):
    first = head()
    log = history.open(first["id"], first)
    for text in "abc":
        log.append(said(text), durable=False)
        assert list(log.records())[-1]["message"]["parts"][0]["text"] == text
    log.close()


def test_a_conversation_goes_on_where_it_ended(history):
    first = kept(history, said("one"))
    log = history.open(first["id"])
    log.append(said("two", turn=2))
    log.close()
    assert [
        message.text for message in fold(history.open(first["id"], write=False).records()).messages()
    ] == [
        "one",
        "two",
    ]


def test_the_conversation_written_to_last_comes_first(history):
    older, newer = kept(history, said("a")), kept(history, said("b"))
    assert [each["id"] for each in history.conversations()] == [newer["id"], older["id"]]


def test_heads_are_handed_out_whole(history):
    first = kept(history, said("a"), mino="9", parent={"conversation": "X", "record": "Y"})
    assert list(history.conversations()) == [first]


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c\x85d\x0be\rf\r\ng\nh\\i\"j'k", "\ud800 alone \udfff", "漢字 \x9b2J\x7f", "\x00"]
)
def test_every_text_comes_back(history, text):
    first = kept(history, said(text))
    (_, back) = history.open(first["id"], write=False).records()
    assert back["message"]["parts"][0]["text"] == text


def test_unknown_records_and_keys_are_kept(history):
    strange = record("mood", colour={"of": ["the", 1, None, 0.5]})
    first = kept(history, said("a"), strange)
    assert list(history.open(first["id"], write=False).records())[-1] == strange


def test_there_is_one_writer_and_any_number_of_readers(history):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("a"))
    with pytest.raises(Busy, match="this conversation is open in "):
        history.open(first["id"])
    assert len(list(history.open(first["id"], write=False).records())) == 2
    log.close()
    history.open(first["id"]).close()


def test_closing_twice_is_closing_once(history):
    first = kept(history, said("a"))
    log = history.open(first["id"])
    log.close()
    log.close()
    history.open(first["id"]).close()


def test_a_reader_does_not_write_and_neither_does_what_was_closed(history):
    first = kept(history, said("a"))
    closed = history.open(first["id"])
    closed.close()
    for log in (history.open(first["id"], write=False), closed):
        with pytest.raises(HistoryError, match="reading only"):
            log.append(said("b"))


def test_what_a_newer_mino_wrote_is_read_and_not_continued(history):
    first = head()
    newer = {**first, "format": 2}
    log = history.open(first["id"], newer)
    log.append(said("a"))
    log.close()
    with pytest.raises(HistoryError, match="newer mino"):
        history.open(first["id"])
    assert next(history.open(first["id"], write=False).records()) == newer


def test_what_is_removed_is_gone(history):
    gone, stays = kept(history, said("a")), kept(history, said("b"))
    history.remove(gone["id"])
    assert [each["id"] for each in history.conversations()] == [stays["id"]]
    for again in (history.remove, history.open):
        with pytest.raises(HistoryError, match=gone["id"]):
            again(gone["id"])


def test_what_is_open_is_not_removed(history):
    first = head()
    log = history.open(first["id"], first)
    log.append(said("a"))
    with pytest.raises(Busy):
        history.remove(first["id"])
    assert len(list(log.records())) == 2
    log.close()


def test_what_does_not_exist_is_not_opened(history):
    unknown = new_id()
    for write in (True, False):
        with pytest.raises(HistoryError, match=unknown):
            history.open(unknown, write=write)


def test_a_conversation_is_not_begun_twice(history):
    first = kept(history, said("a"))
    with pytest.raises(HistoryError, match=first["id"]):
        history.open(first["id"], first).append(said("b"))
    assert len(list(history.open(first["id"], write=False).records())) == 2


@pytest.mark.parametrize(
    "id",
    [
        "../x",
        "/tmp/x",
        "a/b",
        "..",
        "",
        "x\0y",
        "CON",
        "-rf",
        "A" * 300,
        "a" * 26,
        "É" * 26,
        "*" * 26,
        None,
        5,
    ],
)
def test_what_is_no_id_is_refused_whatever_is_asked(history, id):
    for act in (
        history.open,
        lambda name: history.open(name, head()),
        lambda name: history.open(name, write=False),
        history.remove,
    ):
        with pytest.raises(HistoryError, match="not the id of a conversation"):
            act(id)
