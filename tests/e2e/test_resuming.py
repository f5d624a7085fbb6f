"""Going on with a conversation, on a real terminal and from a script."""

import json
import signal
from pathlib import Path

import pytest
from mino_core.records import new_id
from mino_core.testing import Server, Terminal, chat, home, mino, problems, run, stream
from pointed import DIALECTS, pointed
from talk import CONFIG, Talk


def conversations(env):
    """The files of history by their first question."""
    found = {}
    for path in Path(env["MINO_HOME"]).glob("history/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        said = next(each for each in records if each["type"] == "said")
        found[said["message"]["parts"][0]["text"]] = path
    return found


def asked(server, n=-1):
    return [
        message["content"] for message in server.requests[n].json["messages"] if message["role"] != "system"
    ]


@pytest.fixture
def kept(tmp_path):
    """Three conversations of one turn each, and what they were kept with."""
    with Server() as server:
        env = pointed(tmp_path, server)
        (tmp_path / "notes.txt").write_text("buy milk\n")
        for n in (1, 2, 3):
            server.reply(*chat(f"answer {n}"))
            along = ["-a", str(tmp_path / "notes.txt")] if n == 2 else []
            assert run(["-p", f"question {n}", *along], env).code == 0
        yield env, server


def test_resume_without_an_id_lets_a_person_choose(kept):
    env, server = kept
    server.reply(*chat("more"))
    with Terminal(mino("--plain", "--resume"), env, columns=120) as terminal:
        terminal.wait_for("[1/2/3/no]")
        listed = [line for line in terminal.text.splitlines() if "question" in line]
        assert [line.split()[0] for line in listed] == ["1", "2", "3"]
        assert [line.split("question ")[1][0] for line in listed] == ["3", "2", "1"]
        assert all("~" in line or "/" in line for line in listed)
        terminal.type("2\r")
        terminal.wait_for("You> question 2")
        terminal.wait_for("Assistant> answer 2")
        shown = [line.strip() for line in terminal.text.split("You> question 2")[1].splitlines()]
        assert shown[:6] == ["", "", "notes.txt", "```", "buy milk", "```"]
        terminal.wait_for("You>", count=2)
        terminal.type("and?\r")
        terminal.wait_for("more")
        terminal.wait_for("You>", count=3)
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0
    assert [one if isinstance(one, str) else one[0]["text"] for one in asked(server)][1:] == [
        "answer 2",
        "and?",
    ]


def test_an_id_that_could_mean_several_lets_a_person_choose_among_them(kept):
    env, _ = kept
    start = next(iter(conversations(env).values())).stem[-26:-20]  # of the time, the same for all three
    with Terminal(mino("--plain", "--resume", start), env, columns=120) as terminal:
        terminal.wait_for("[1/2/3/no]")
        terminal.type("no\r")
        terminal.wait_for("You>")
        assert "Going on with" not in terminal.text
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0
    done = run(["--resume", start, "-p", "q"], env)
    assert done.code == 2 and "could mean 3 conversations" in done.err


def test_where_nobody_can_choose_an_id_is_asked_for(kept):
    env, server = kept
    done = run(["--resume", "-p", "q"], env)
    assert done.code == 2 and "--resume needs an ID" in done.err and len(server.requests) == 3


def test_how_often_something_was_asked_is_told_whatever_was_undone(kept):
    env, server = kept
    server.reply(*chat("four"))
    server.reply(*chat("five"))
    assert run(["-c", "-i"], env, "question 4\n/undo 2\n").code == 0
    done = run(["-c", "-p", "question 5"], env)
    assert "2 questions asked so far" in done.err and asked(server) == ["question 5"]


def test_a_second_window_is_told_and_goes_on_in_a_copy(tmp_path):
    with Talk(tmp_path, args=("--plain",)) as talk:
        talk.answers("one", "two", "three")
        first = talk.at_prompt()
        first.type("q1\r")
        talk.at_prompt()
        with Terminal(mino("--plain", "-c"), talk.env, columns=200) as second:
            second.wait_for("going on in a copy")
            assert f"process {first.pid} " in second.text
            second.wait_for("Assistant> one")
            second.wait_for("You>", count=2)
            second.type("q2\r")
            second.wait_for("two")
            second.wait_for("You>", count=3)
            second.type("/exit\r")
            assert second.wait_exit() == 0
        first.type("q3\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        assert asked(talk.server, 1) == ["q1", "one", "q2"]
        assert asked(talk.server, 2) == ["q1", "one", "q3"]
        heads = [json.loads(path.read_text().splitlines()[0]) for path in talk.home.glob("history/*/*.jsonl")]
        (parent,) = [head["parent"] for head in heads if "parent" in head]
        assert parent["conversation"] in {head["id"] for head in heads}
        assert not list(talk.home.glob("history/*/*.lock"))


def test_a_killed_window_blocks_nothing_and_its_answer_is_asked_for_again(tmp_path, gate):
    with Talk(tmp_path, args=("--plain",)) as talk:
        talk.server.reply(*chat("half an answer ", gate))
        terminal = talk.at_prompt()
        terminal.type("q1\r")
        terminal.wait_for("half an answer")
        terminal.signal(signal.SIGKILL)
        gate.set()
        talk.answers("whole", "more")
        with Terminal(mino("--plain", "-c"), talk.env, columns=120) as again:
            again.wait_for("That turn was interrupted; /retry asks again")
            assert "copy" not in again.text
            again.wait_for("You>", count=2)
            again.type("/retry\r")
            again.wait_for("whole")
            again.wait_for("You>", count=3)
            again.type("/continue\r")
            again.wait_for("more")
            again.wait_for("You>", count=4)
            again.type("/exit\r")
            assert again.wait_exit() == 0
        assert asked(talk.server, 1) == ["q1"]
        assert asked(talk.server, 2)[:2] == ["q1", "whole"] and len(asked(talk.server, 2)) == 3


def test_after_a_clear_and_a_kill_nothing_of_before_is_sent(tmp_path):
    with Talk(tmp_path, args=("--plain",)) as talk:
        talk.answers("one", "two")
        terminal = talk.at_prompt()
        terminal.type("q1\r")
        talk.at_prompt()
        terminal.type("/clear\r")
        talk.at_prompt()
        terminal.signal(signal.SIGKILL)
        assert run(["-c", "-p", "q2"], talk.env).code == 0
        assert asked(talk.server) == ["q2"]
        (path,) = talk.home.glob("history/*/*.jsonl")
        assert "q1" in path.read_text()


def test_a_summary_that_is_stopped_changes_nothing_and_the_next_one_counts(tmp_path, gate):
    with Talk(tmp_path, args=("--plain",)) as talk:
        talk.answers("one", "two", "three")
        terminal = talk.at_prompt()
        for n in (1, 2, 3):
            terminal.type(f"q{n}\r")
            talk.at_prompt()
        talk.server.reply(*chat("half a summary", gate))
        terminal.type("/compact\r")
        terminal.wait_for("Summing up 1 turn")
        talk.server.wait_for_request(3)
        terminal.press("ctrl-c")
        talk.at_prompt()
        gate.set()
        talk.answers("four", "a summary", "five")
        terminal.type("q4\r")
        talk.at_prompt()
        terminal.type("/compact\r")
        talk.at_prompt()
        terminal.type("q5\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        assert asked(talk.server, 4) == ["q1", "one", "q2", "two", "q3", "three", "q4"]
        first, *rest = asked(talk.server)
        assert first.endswith("a summary\n\nq3") and rest == ["three", "q4", "four", "q5"]
        (path,) = talk.home.glob("history/*/*.jsonl")
        assert path.read_text().count('"compacted"') == 1


# -- places that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize("place", ["a file in the way", "a link to nowhere", "no home at all"])
def test_a_place_that_cannot_be_used_is_one_warning_and_the_turns_go_on(tmp_path, place):
    with Server() as server:
        server.reply(*chat("one"))
        server.reply(*chat("two"))
        env = home(tmp_path, CONFIG.format(url=server.url))
        history = Path(env["MINO_HOME"]) / "history"
        if place == "a file in the way":
            history.write_text("mine")
        elif place == "a link to nowhere":
            history.symlink_to("/nonexistent/there")
        else:
            env |= {"HOME": "/nonexistent", "MINO_HOME": "/proc/nonexistent/.mino"}
            env |= {"MINO_PROVIDER": "vllm", "MINO_BASE_URL": f"{server.url}/v1", "MINO_MODEL": "m"}
        done = run(["-i"], env, "q1\nq2\n", cwd=tmp_path)
    assert done.code == 0 and done.out == "onetwo", done.err
    assert asked(server) == ["q1", "one", "q2"]
    assert done.err.count("this conversation is not kept: ") == 1, done.err


# -- damaged files -----------------------------------------------------------------------------


def said(role, turn, **part):
    """A line that says one part, as a damaged file may have it."""
    return (
        json.dumps(
            {
                "id": new_id(),
                "time": "",
                "type": "said",
                "turn": turn,
                "message": {"role": role, "parts": [part]},
            }
        ).encode()
        + b"\n"
    )


DAMAGE = {
    "a torn line": b'{"type":"said","turn":9,"message":{"role":"user","parts":[{"te',
    "no records": b"null\n[]\n{}\n" + b"[" * 5000 + b"\n",
    "an empty reply": said("assistant", 2, type="text", text=" "),
    "an orphan call": said("assistant", 2, type="tool_call", id="lost", name="look", arguments="{"),
    "an orphan result": said("tool", 1, type="tool_result", call_id="never", content="?"),
    "two writers": said("user", 1, type="text", text="another window"),
    "out of order": said("assistant", 5, type="text", text="early")
    + said("user", 4, type="text", text="late"),
}
#: Of what a reader is told nothing: a torn line is set aside, and turns stand in their order.
QUIET = {"a torn line", "out of order"}


@pytest.mark.damages
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("damage", [*DAMAGE, "all of it"])
def test_a_damaged_conversation_goes_on_and_a_strict_server_accepts_it(tmp_path, dialect, damage):
    added = DAMAGE.get(damage) or b"".join(reversed(DAMAGE.values()))
    with Server() as server:
        env = pointed(tmp_path, server, dialect)
        server.reply(*stream(dialect, "one"))
        assert run(["-p", "q1"], env).code == 0
        (path,) = conversations(env).values()
        kept = path.read_bytes()
        path.write_bytes(kept + added)
        for n in (2, 3):
            server.reply(*stream(dialect, f"answer {n}"))
            done = run(["-c", "-p", f"q{n}"], env)
            assert done.code == 0 and done.out == f"answer {n}", done.err
            assert done.err.count("was repaired") <= 1
        assert path.read_bytes().startswith(kept)
    for request in server.requests:
        assert problems(dialect, request.body) == []
    last = server.requests[-1].body.decode()
    assert "q1" in last and "answer 2" in last and "q3" in last
    assert ("this conversation was repaired" in done.err) == (damage not in QUIET)
