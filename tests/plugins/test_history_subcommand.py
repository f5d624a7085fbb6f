"""`mino history`, on every place for conversations."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from mino_core.errors import HistoryError
from mino_core.records import new_id, record
from mino_core.settings import Settings
from mino_core.testing import Terminal, home, mino, run

from mino_history import mino_histories, mino_subcommands


@pytest.fixture(params=["jsonl", "memory"])
def host(request, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return SimpleNamespace(history=mino_histories()[request.param](Settings({}, home=tmp_path)))


@pytest.fixture
def history(host, capsys):
    def run(*argv):
        code = mino_subcommands()["history"](list(argv), host)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def said(text, role="user", turn=1):
    message = {"role": role, "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message)


def kept(host, *records, directory="/somewhere", name=None):
    head = record("head", id=name or new_id(), format=1, directory=directory)
    log = host.history.open(head["id"], head)
    for each in records:
        log.append(each)
    log.close()
    return head["id"]


def whole(question="What is\nHTTP?", answer="A protocol.\n"):
    return [said(question), said(answer, "assistant"), record("ended", turn=1, outcome="completed")]


def test_the_list_names_each_conversation_by_its_first_words_or_its_title(host, history):
    one = kept(host, *whole(), directory=os.environ["HOME"] + "/work")
    two = kept(host, *whole(), record("titled", title="Protocols"), directory="/somewhere")
    code, out, _ = history("list")
    first, second = out.splitlines()
    assert code == 0
    assert first.startswith(two) and first.endswith("  /somewhere  Protocols")
    assert second.startswith(one) and second.endswith("  ~/work      What is HTTP?")


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_on_a_terminal_a_conversation_is_one_row_however_narrow_that_is(tmp_path, columns):
    env = home(tmp_path)
    jsonl = mino_histories()["jsonl"](Settings({}, home=Path(env["MINO_HOME"])))
    one = SimpleNamespace(history=jsonl)
    questions = ["What is HTTP, and who thought of it when?", "漢字" * 60, "日本 " * 60]
    ids = [
        kept(one, *whole(asked), directory="/a/long/way/to/漢字/" + "d" * n)
        for n, asked in enumerate(questions)
    ]
    with Terminal(mino("history", "list"), env, columns=columns) as terminal:
        assert terminal.wait_exit() == 0
        rows = [row for row in terminal.lines if row.strip()]
    assert len(rows) == 3
    assert all(
        name.startswith(row.split()[0].rstrip("…")) for row, name in zip(rows, reversed(ids), strict=True)
    )
    if columns > 30:
        assert [
            word in row for row, word in zip(rows, ["日本", "漢字漢字漢字", "What is HTTP"], strict=True)
        ] == [True] * 3
    if columns > 50:
        assert all("/漢字/" in row for row in rows)
    assert (ids[0] in rows[2]) == (columns == 200)


def test_where_the_directory_is_gone_that_is_said(host, history, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    kept(host, *whole())
    with pytest.raises(HistoryError, match="the directory we are in is gone"):
        history("list", "--here")
    assert "What is HTTP?" in history("list")[1]


def test_an_empty_history_is_an_empty_list(history):
    assert history("list") == (0, "", "")
    assert history("list", "--json") == (0, "[]\n", "")


def test_the_list_as_json_has_the_whole_words(host, history):
    name = kept(host, *whole("x" * 200))
    (entry,) = json.loads(history("list", "--json")[1])
    assert (entry["id"], entry["directory"]) == (name, "/somewhere")
    assert (entry["first"], entry["damaged"]) == ("x" * 200, "")
    assert len(history("list")[1].strip()) < 140


def test_a_conversation_is_shown_as_it_stands(host, history):
    name = kept(
        host,
        said("forgotten"),
        record("cleared"),
        record("titled", title="T"),
        said("q1", turn=2),
        said("a1", "assistant", turn=2),
        record("ended", turn=2, outcome="completed"),
        said("q2", turn=3),
        record("partial", turn=3, parts=[{"type": "text", "text": "half an ans"}]),
        record("ended", turn=3, outcome="interrupted", error={"kind": "stream", "message": "it broke"}),
    )
    code, out, err = history("show", name)
    assert (code, err) == (0, "")
    assert out == (
        "# T\n\nYou> q1\nAssistant> a1\n\nYou> q2\nAssistant> half an ans\n(interrupted: it broke)\n\n"
    )


def test_tools_and_attachments_are_named(host, history):
    call = {"type": "tool_call", "id": "c", "name": "look", "arguments": '{"at": 1}'}
    image = {"type": "image", "media_type": "image/png", "data": "AA==", "name": ""}
    result = {"type": "tool_result", "call_id": "c", "content": "seen\n", "is_error": False}
    shown = {"type": "text", "text": "see"}
    name = kept(
        host,
        record("said", turn=1, message={"role": "user", "parts": [shown, image], "meta": {}}),
        record("said", turn=1, message={"role": "assistant", "parts": [call], "meta": {}}),
        record("said", turn=1, message={"role": "tool", "parts": [result], "meta": {}}),
    )
    assert history("show", name)[1] == 'You> see\n[image/png]\n[look {"at": 1}]\nseen\n(interrupted)\n\n'
    parts = json.loads(history("show", name, "--json")[1])["turns"][0]["messages"]
    assert [part for message in parts for part in message["parts"]] == [shown, image, call, result]


def test_a_conversation_as_json_has_its_turns_and_outcomes(host, history):
    name = kept(host, *whole("hé\ud800"))
    shown = json.loads(history("show", name, "--json")[1])
    assert (shown["id"], shown["skipped"]) == (name, 0)
    (turn,) = shown["turns"]
    assert (turn["turn"], turn["outcome"], turn["error"], turn["partial"]) == (1, "completed", None, None)
    parts = [{"type": "text", "text": "hé\ud800"}]
    assert turn["messages"][0] == {"role": "user", "parts": parts, "meta": {}}


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(host, history):
    one = kept(host, *whole("first"), name="01AAAAAAAAAAAAAAAAAAAAAAA1")
    kept(host, *whole("second"), name="01AAAAAAAAAAAAAAAAAAAAAAA2")
    assert "first" in history("show", one.lower())[1]
    with pytest.raises(HistoryError, match="'01aa'"):
        history("show", "01aa")


@pytest.mark.parametrize("name", ["nothing", "../x", "", "-- -rf"])
def test_what_is_not_there_is_said_and_nothing_else_happens(host, history, name, capsys):
    kept(host, *whole())
    for act in ("show", "rm"):
        with pytest.raises(HistoryError, match="no conversation"):
            history(act, name)
        assert capsys.readouterr() == ("", "")
    assert len(json.loads(history("list", "--json")[1])) == 1


def test_rm_erases_what_it_is_given_or_nothing(host, history):
    names = [kept(host, *whole()) for _ in range(3)]
    with pytest.raises(HistoryError, match="nothing"):
        history("rm", names[0], "nothing")
    assert len(history("list")[1].splitlines()) == 3
    assert history("rm", names[0], names[2])[0] == 0
    assert [entry["id"] for entry in json.loads(history("list", "--json")[1])] == [names[1]]


@pytest.mark.parametrize("argv", [(), ("lst",), ("show",), ("rm",), ("list", "more")])
def test_a_wrong_use_is_explained_and_ends_with_2(history, argv, capsys):
    with pytest.raises(SystemExit) as ended:
        history(*argv)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "") and "usage: mino history" in err


@pytest.mark.damages
def test_damaged_records_are_counted(host, history):
    name = kept(host, said("q"), {"id": new_id(), "time": "", "type": "said", "message": None})
    code, _, err = history("show", name)
    assert (code, err) == (0, "damaged records left out: 1\n")
    assert json.loads(history("show", name, "--json")[1])["skipped"] == 1


def test_a_stream_that_cannot_show_a_letter_gets_a_mark_for_it(host, monkeypatch, tmp_path):
    name = kept(host, *whole("π 漢 \ud800"))
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert mino_subcommands()["history"](["show", name], host) == 0
        assert mino_subcommands()["history"](["list"], host) == 0
        monkeypatch.undo()
    assert "You> ? ? ?" in (tmp_path / "out").read_text("ascii")


def test_nothing_from_a_conversation_drives_the_terminal(host, monkeypatch):
    name = kept(host, *whole("\x1b]52;c;eA==\x07\x9b2J"), directory="/\x1b[31m")
    main, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        mino_subcommands()["history"](["show", name], host)
        mino_subcommands()["history"](["list"], host)
        out.write("the end")
        out.flush()
        monkeypatch.undo()
        shown = ""
        while not shown.endswith("the end"):
            shown += os.read(main, 65536).decode()
    os.close(main)
    assert "52;c;eA==" in shown and "[31m" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}


def test_it_works_in_a_pipe_whose_reader_leaves_early(tmp_path):
    env = home(tmp_path)
    jsonl = mino_histories()["jsonl"](Settings({}, home=Path(env["MINO_HOME"])))
    names = [kept(SimpleNamespace(history=jsonl), *whole("x" * 5000)) for _ in range(40)]
    listed = run(["history", "list"], env)
    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[0] for line in listed.out.splitlines()] == names[::-1]
    nothing = run(["history", "show", "nothing"], env)
    assert (nothing.code, nothing.out) == (2, "") and nothing.err.startswith("Error: no conversation")
    with subprocess.Popen(
        mino("history", "list", "--json"), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as early:
        assert early.stdout.read(1) == b"["
        early.stdout.close()
        assert early.stderr.read() == b""
    assert early.returncode in (0, 141)
