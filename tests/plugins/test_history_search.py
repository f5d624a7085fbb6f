"""Search finds any text in any conversation; what is read for it is no more than the files."""

import io
import json
import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import HistoryError, Message, Text, UsageError, new_head
from mino_core.records import new_id, record
from mino_core.session.journal import Journal
from mino_core.settings import Settings
from test_history_sqlite import sqlite

from mino_history import lines, mino_histories, mino_subcommands
from mino_history.file import FileLog


@pytest.fixture(params=["jsonl", "memory", "sqlite"])
def host(request, tmp_path):
    if request.param == "sqlite":
        return SimpleNamespace(history=sqlite(tmp_path))
    return SimpleNamespace(history=mino_histories()[request.param](Settings({}, home=tmp_path)))


@pytest.fixture
def search(host, capsys):
    def run(*words):
        code = mino_subcommands()["history"](["search", *words], host)
        out, err = capsys.readouterr()
        assert code == 0, err
        return out.splitlines()

    return run


def said(text, role="user", turn=1):
    message = {"role": role, "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message)


def kept(host, *records):
    head = record("head", id=new_id(), format=1, directory="/somewhere")
    log = host.history.open(head["id"], head)
    for each in records:
        log.append(each, durable=False)
    log.close()
    return head["id"]


CHINESE = "历史记录里的每一句话都应该能被找到，无论它出现在哪里；例如“协议”与“漢字”。"


@pytest.mark.parametrize("words", ["历", "漢字", "无论它出现在哪里", "。", "“协议”"])
@pytest.mark.parametrize(
    "place", ["question", "answer", "last of many", "cleared", "title", "tool", "partial"]
)
def test_chinese_is_found_in_every_part_of_a_conversation(host, search, words, place):
    filler = [said("filler " * 20, turn=n) for n in range(1, 300)]
    result = {"type": "tool_result", "call_id": "c", "content": CHINESE, "is_error": False}
    hidden = {
        "question": [said(CHINESE), *filler],
        "answer": [*filler[:50], said(CHINESE, "assistant"), *filler],
        "last of many": [*filler, said(CHINESE, turn=300)],
        "cleared": [said(CHINESE), record("cleared"), *filler],
        "title": [*filler, record("titled", title=CHINESE)],
        "tool": [*filler, record("said", turn=9, message={"role": "tool", "parts": [result], "meta": {}})],
        "partial": [*filler, record("partial", turn=299, parts=[{"type": "text", "text": CHINESE}])],
    }[place]
    kept(host, *filler)
    name = kept(host, *hidden)
    kept(host, *filler)
    found = search(words)
    assert [line.split()[0] for line in found if not line.startswith(" ")] == [name]
    assert words in found[1]


def test_latin_letters_are_found_in_any_case(host, search):
    name = kept(host, said("Die Straße heißt ÜBERSEEALLEE, sagt Ada"))
    for words in ("ada", "ADA", "überseeallee", "ü", "ÜB", "STRA", "straße", "eE", "sagt Ada"):
        assert search(words)[0].startswith(name), words
    assert search("adam") == []


def test_words_that_the_file_has_to_escape_are_found(host, search):
    text = 'a "quoted" back\\slash\nnew line \u2028 and \x85 {"type":"said"}'
    name = kept(host, said(text))
    for words in ('"quoted"', "back\\slash", "slash\nnew", "\u2028 and", "\x85 {", '{"type":"said"}'):
        assert search(words)[0].startswith(name), words


def test_keys_and_marks_of_the_format_are_not_words(host, search):
    kept(host, said("hello"))
    for words in ("type", "parts", "said", "role", "somewhere", "user"):
        assert search(words) == [], words


def test_the_newest_comes_first_with_a_few_of_its_matches(host, search):
    older = kept(host, said("needle in a haystack"))
    newer = kept(host, *(said(f"needle {n}", turn=n) for n in range(1, 6)))
    found = search("needle")
    assert [line.split()[0] for line in found] == [newer, "user:", "user:", "user:", "…", older, "user:"]


def test_a_reply_is_not_found_in_its_beginnings_too(host, search):
    parts = [{"type": "text", "text": "a needle"}]
    kept(host, said("q"), record("partial", turn=1, parts=parts), said("a needle here", "assistant"))
    assert len(search("needle")) == 2


@pytest.mark.parametrize("text", ["An answer that was never finished, of many words. " * 4, CHINESE * 4])
@pytest.mark.parametrize("step", [1, 7, 100])
def test_of_an_answer_that_a_crash_cut_all_is_found_wherever_it_was_when_it_was_kept(
    host, search, text, step
):
    journal = Journal(lambda: host.history, new_head(), pytest.fail)
    journal.said(1, Message("user", (Text("q"),)))
    for end in range(step, len(text) + step, step):
        journal.partial(1, (Text(text[:end]),))
    journal.close()
    for start in range(0, 120, 11):
        assert search(text[start : start + 20].strip()), start


def test_an_excerpt_is_one_line_around_what_was_found(host, search):
    kept(host, said("before " * 100 + "\n\nNEEDLE\n\n" + "after " * 100))
    (excerpt,) = search("needle")[1:]
    assert "before NEEDLE after" in excerpt and len(excerpt) < 130 and excerpt.count("…") == 2


def test_as_json_all_matches_are_there(host, capsys):
    name = kept(host, *(said(f"needle {n}", turn=n) for n in range(1, 9)))
    mino_subcommands()["history"](["search", "--json", "needle"], host)
    (found,) = json.loads(capsys.readouterr().out)
    assert found["id"] == name and [match["turn"] for match in found["matches"]] == list(range(1, 9))
    assert found["matches"][0] == {"who": "user", "turn": 1, "excerpt": "needle 1"}


def test_nothing_found_is_said(host, capsys):
    kept(host, said("hello"))
    assert mino_subcommands()["history"](["search", "nowhere"], host) == 0
    assert capsys.readouterr() == ("", "nothing was found for 'nowhere'\n")
    with pytest.raises(UsageError, match="say what to search for"):
        mino_subcommands()["history"](["search", " "], host)


@pytest.mark.parametrize("host", ["jsonl", "memory"], indirect=True)
def test_what_cannot_be_read_is_told_and_the_rest_is_found(host, capsys, monkeypatch):
    broken, name = kept(host, said("needle")), kept(host, said("needle"))
    opened, holding = host.history.open, FileLog.holding

    def fail(log, needle):
        if broken in log._path.name:
            raise HistoryError(f"{log._path} cannot be read: Input/output error")
        yield from holding(log, needle)

    def refuse(id, *args, **more):
        if id == broken:
            raise HistoryError(f"{id} cannot be read: Input/output error")
        return opened(id, *args, **more)

    monkeypatch.setattr(FileLog, "holding", fail)
    monkeypatch.setattr(host.history, "open", refuse)
    assert mino_subcommands()["history"](["search", "needle"], host) == 0
    out, err = capsys.readouterr()
    assert out.startswith(name) and broken not in out
    assert err.startswith("cannot be searched: ") and broken in err and err.count("\n") == 1


def test_what_has_no_head_is_found_like_all_else(tmp_path, capsys):
    host = SimpleNamespace(history=mino_histories()["jsonl"](Settings({}, home=tmp_path)))
    name = kept(host, said("needle"))
    (path,) = tmp_path.glob("history/*/*.jsonl")
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    for words, found in (("needle", name), ("nowhere", "")):
        assert mino_subcommands()["history"](["search", words], host) == 0
        out, err = capsys.readouterr()
        assert out.startswith(found) and "cannot be searched" not in err


_alphabet = st.sampled_from(list("aAbBéÉßſΣς漢字👩\u0301\u3000\n\"\\/<>&'\u2028 \x85\x1b\ud800"))
#: Every way in which programs write JSON.
_WRITERS = {
    "as mino does": lambda value: lines.dump(value).decode(),
    "in ASCII": lambda value: json.dumps(value) + "\n",
    "in ASCII, with large digits": lambda value: _large(json.dumps(value)) + "\n",
    "for the web": lambda value: _for_the_web(lines.dump(value).decode()),
}


def _large(text):
    return re.sub(r"(?<!\\)((?:\\\\)*\\u)([0-9a-f]{4})", lambda found: found[1] + found[2].upper(), text)


def _for_the_web(text):
    for letter in "<>&'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text.replace("/", "\\/")


@settings(deadline=None)
@given(
    st.lists(st.text(_alphabet, max_size=12), min_size=1, max_size=5),
    st.text(_alphabet, min_size=1, max_size=3),
    st.sampled_from(sorted(_WRITERS)),
)
def test_no_line_that_holds_a_text_is_missed_whoever_wrote_it(texts, sought, writer):
    data = "".join(_WRITERS[writer](said(text)) for text in texts).encode()
    candidates = {
        json.loads(line)["message"]["parts"][0]["text"]
        for line in lines.Needle(sought).lines(io.BytesIO(data))
    }
    assert {text for text in texts if sought.lower() in text.lower()} <= candidates


def test_what_a_model_escaped_in_its_arguments_is_found(host, search):
    call = {"type": "tool_call", "id": "c", "name": "look", "arguments": json.dumps({"for": "協議"})}
    broken = {**call, "arguments": '{"for": "\\u534'}
    parts = [call, broken]
    name = kept(host, record("said", turn=1, message={"role": "assistant", "parts": parts, "meta": {}}))
    assert search("協議")[0].startswith(name) and search("look")[0].startswith(name)


def test_lines_from_the_end_are_those_from_the_beginning_wherever_a_block_ends(monkeypatch):
    text = b"one two\n\nx\n" + b"two " * 40 + b"\n\ntwo\n" + b"three" * 9
    for data in (text, text + b"\n", b"\n" + text, b"", b"\n"):
        every = data.split(b"\n")
        held = [line for line in every if b"two" in line]
        for size in range(1, 60):
            monkeypatch.setattr(lines, "_BLOCK", size)
            assert list(lines.backward(io.BytesIO(data))) == every[::-1]
            assert list(lines.backward(io.BytesIO(data), b"two")) == held[::-1]
            assert list(lines.Needle("Two").lines(io.BytesIO(data))) == held


def test_lines_that_do_not_hold_it_are_not_parsed_wherever_a_block_ends():
    texts = [f"{n} " + "x" * 1777 + ("needle" if n % 100 == 0 else "") for n in range(2000)]
    texts[50] = "y" * 3_000_000 + "needle"
    data = b"".join(lines.dump(said(text)) for text in texts)
    found = [
        json.loads(line)["message"]["parts"][0]["text"]
        for line in lines.Needle("Needle").lines(io.BytesIO(data))
    ]
    assert found == [text for text in texts if "needle" in text]
