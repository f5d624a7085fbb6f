"""The slash commands about conversations, and the budget, on a real session."""

import shutil
import time

import pytest
from mino_core import (
    Finished,
    HistoryError,
    ProviderError,
    TextDelta,
    ToolCall,
    Usage,
    UsageError,
    Verdict,
    fold,
)
from mino_core.testing import CommandConformance
from stage import Stage
from wcwidth import wcswidth

from mino_history.budget import start, tokens
from mino_history.commands import COMMANDS

STOP = Finished("stop", "stop")


def said(text):
    return [TextDelta(text), Usage(input_tokens=3, output_tokens=2), STOP]


class Answering:
    """A reader who gives these answers, and what was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def read(self, prompt):
        raise EOFError

    def ask(self, question, choices):
        self.asked.append((question, list(choices)))
        return self.answers.pop(0)


def staged(tmp_path, *answers, toml=""):
    return Stage(tmp_path, *map(said, answers), toml=toml)


def run(session, line):
    name, _, rest = line.partition(" ")
    before = len(session.display.renderer.notices)
    assert COMMANDS[name](session, rest) is None
    return "\n".join(session.display.renderer.notices[before:])


def sent(stage):
    return [message.text for message in stage.provider.requests[-1].messages]


class TestHistory(CommandConformance):
    def command(self):
        return COMMANDS["history"]


class TestResume(CommandConformance):
    def command(self):
        return COMMANDS["resume"]


class TestTitle(CommandConformance):
    def command(self):
        return COMMANDS["title"]


class TestFork(CommandConformance):
    def command(self):
        return COMMANDS["fork"]


class TestCompact(CommandConformance):
    def command(self):
        return COMMANDS["compact"]


# -- /title, /fork -----------------------------------------------------------------------------


def test_a_title_is_given_and_lasts(tmp_path):
    stage = staged(tmp_path, "a1", "a2")
    with stage.opened() as session:
        assert "no title" in run(session, "title")
        session.ask("q1")
        assert run(session, "title  Pets \n and more ") == "This conversation is called 'Pets and more'."
    with stage.opened("-c") as session:
        assert run(session, "title") == "This conversation is called 'Pets and more'."
        assert session.title == "Pets and more"
        assert any("(Pets and more)" in notice for notice in stage.renderer.notices)


def test_a_fork_leaves_the_former_as_it_is(tmp_path):
    stage = staged(tmp_path, "a1", "a2", "a3")
    with stage.opened() as session:
        with pytest.raises(UsageError):
            run(session, "fork")
        session.ask("q1")
        run(session, "title Pets")
        former = session.id
        assert former in run(session, "fork") and session.id != former and session.title == "Pets"
        session.ask("q2")
        assert sent(stage) == ["q1", "a1", "q2"]
        kept = {head["id"]: head for head in session.host.history.conversations()}
        assert kept[session.id]["parent"]["conversation"] == former
        log = session.host.history.open(former, write=False)
        assert [message.text for message in fold(log.records()).messages()] == ["q1", "a1"]
        session.host.history.open(former).close()  # nobody writes it any more


@pytest.mark.damages
@pytest.mark.parametrize("lost", ["removed", "renamed"])
def test_a_fork_rescues_what_was_removed_or_renamed_while_it_was_open(tmp_path, lost):
    stage = staged(tmp_path, "a1", "a2", "a3")
    with stage.opened() as session:
        session.ask("q1")
        (path,) = tmp_path.rglob("*.jsonl")
        if lost == "removed":
            shutil.rmtree(path.parent)
        else:
            path.parent.rename(path.parent.with_name("renamed"))
        session.ask("q2")
        former = session.id
        assert former in run(session, "fork")
        session.ask("q3")
        kept = [path for path in tmp_path.rglob("*.jsonl") if session.id in path.name]
        told = [
            notice for notice in stage.renderer.notices if "was removed while it was open; /fork" in notice
        ]
        assert len(kept) == 1 and len(told) == (lost == "removed")
    with stage.opened("--resume", session.id) as again:
        assert [message.text for message in again.messages] == ["q1", "a1", "q2", "a2", "q3", "a3"]


# -- /history, /resume -------------------------------------------------------------------------


def test_history_lists_the_last_conversations_or_those_with_the_words(tmp_path):
    stage = staged(tmp_path, "the quick fox", "a dog", "more")
    ids = []
    for question in ("first words", "other words"):
        with stage.opened() as session:
            session.ask(question)
            ids.append(session.id)
    with stage.opened("-c") as session:
        listed = run(session, "history").splitlines()
        assert [line.split()[0] for line in listed[:2]] == ids[::-1]
        assert listed[0].endswith("other words (this one)") and "/resume ID" in listed[-1]
        found = run(session, "history QUICK fox").splitlines()
        assert found[0].startswith(ids[0]) and found[1].strip() == "the quick fox" and len(found) == 3
        assert run(session, "history nowhere to be found") == "There is none."


def test_resume_takes_up_another_conversation_by_id_or_by_choice(tmp_path):
    stage = staged(tmp_path, "a1", "a2", "a3", "a4")
    with stage.opened() as session:
        session.ask("q1")
        first = session.id
    stage.reader = Answering("1", "no", None)
    with stage.opened() as session:
        session.ask("q2")
        second = session.id
        assert first in run(session, f"resume {first[:25].lower()}")
        session.ask("more")
        assert sent(stage) == ["q1", "a1", "more"]
        run(session, "resume")
        assert session.id == second
        question, choices = stage.reader.asked[0]
        assert question.splitlines()[1].endswith("q2") and choices == ["1", "no"]
        for _ in range(2):
            assert "goes on" in run(session, "resume") and session.id == second
        session.ask("again")
        assert sent(stage) == ["q2", "a2", "again"]
        with pytest.raises(HistoryError):
            run(session, "resume nothing")
        assert session.id == second


def test_the_offered_stand_in_columns_with_the_time_of_their_last_words(tmp_path, monkeypatch):
    stage = staged(tmp_path, "a1", "a2", "a3")
    wide = tmp_path / "漢字\n\x1b[31m"
    wide.mkdir()
    for place, question in ((tmp_path, "q1"), (wide, "q2")):
        monkeypatch.chdir(place)
        with stage.opened() as session:
            session.ask(question)
    for path in tmp_path.rglob("*.jsonl"):  # began long ago, written to now
        path.write_text(path.read_text().replace('"time":"2', '"time":"1', 1))
    stage.reader = Answering(None)
    with stage.opened() as session:
        run(session, "resume")
    ((listed, _),) = stage.reader.asked
    lines = listed.split("\n")[1:]
    year = time.strftime("%Y-")
    assert len(lines) == 2 and all(line[3:].startswith(year) for line in lines)
    assert len({wcswidth(line) for line in lines}) == 1  # so that q1 and q2 stand below each other
    assert "漢字��[31m  q2" in listed and "\x1b" not in listed


def test_many_conversations_are_offered_in_pages(tmp_path):
    stage = staged(tmp_path, *(f"a{n}" for n in range(11)))
    for n in range(11):
        with stage.opened() as session:
            session.ask(f"q{n}")
    stage.reader = Answering("more", "2")
    with stage.opened() as session:
        run(session, "resume")
        assert session.conversation.turns[0].question == "q0"
    (_, first), (page, second) = stage.reader.asked
    assert first == [*"123456789", "more", "no"] and second == ["1", "2", "no"]
    assert page.splitlines()[1].endswith("q1")


# -- /compact ----------------------------------------------------------------------------------


def test_compact_sends_a_summary_and_the_last_turns(tmp_path):
    stage = staged(tmp_path, "a1", "a2", "a3", "it was about pets", "a4", "a5")
    with stage.opened() as session:
        for n in range(1, 4):
            session.ask(f"q{n}")
        told = run(session, "compact the names")
        assert sent(stage)[:-1] == ["q1", "a1"] and sent(stage)[-1].endswith(" the names")
        assert "it was about pets" in told
        session.ask("q4")
        assert sent(stage) == [
            "Summary of the conversation so far:\n\nit was about pets",
            "q2",
            "a2",
            "q3",
            "a3",
            "q4",
        ]
        assert session.usage == Usage(input_tokens=15, output_tokens=10)
        before = session.conversation.messages("all")
    with stage.opened("-c") as session:
        assert session.messages == before
        session.ask("q5")
        assert sent(stage)[1:] == ["q2", "a2", "q3", "a3", "q4", "a4", "q5"]
        assert session.usage == Usage(input_tokens=18, output_tokens=12)


def test_a_second_summary_sums_up_the_first(tmp_path):
    stage = staged(tmp_path, *["a1", "a2", "a3", "sum one", "a4", "sum two", "a5"])
    with stage.opened() as session:
        for n in range(1, 4):
            session.ask(f"q{n}")
        run(session, "compact")
        session.ask("q4")
        run(session, "compact")
        assert sent(stage)[:3] == ["Summary of the conversation so far:\n\nsum one", "q2", "a2"]
        session.ask("q5")
        assert sent(stage) == ["Summary of the conversation so far:\n\nsum two", "q3", "a3", "q4", "a4", "q5"]


@pytest.mark.parametrize(
    "answer",
    [
        [ProviderError("http", "overloaded", 529)],
        [TextDelta("half a summ"), Finished("length", "length")],
        [TextDelta("half a summ")],
        [TextDelta("  "), STOP],
        [ToolCall("c", "look", "{}"), STOP],
        [ValueError("a fault")],
    ],
    ids=["failed", "cut", "broken", "blank", "only a call", "fault"],
)
def test_without_a_whole_summary_nothing_changes(tmp_path, answer):
    stage = Stage(tmp_path, said("a1"), said("a2"), said("a3"), answer, said("a4"))
    with stage.opened() as session:
        for n in range(1, 4):
            session.ask(f"q{n}")
        with pytest.raises((ProviderError, HistoryError)):
            run(session, "compact")
        session.ask("q4")
        assert sent(stage) == ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]


def test_a_fault_while_summing_up_is_told_as_one_of_a_turn_is(tmp_path):
    fault = [ValueError("a fault")]
    stage = Stage(tmp_path, said("a1"), said("a2"), said("a3"), fault, fault)
    with stage.opened() as session:
        for n in range(1, 4):
            session.ask(f"q{n}")
        with pytest.raises(ProviderError, match=r"^plugin 'staged'.*: ValueError: a fault") as told:
            run(session, "compact")
        assert session.ask("q4").error.message == str(told.value)


def test_a_short_conversation_is_not_summed_up(tmp_path):
    stage = staged(tmp_path, "a1", "a2")
    with stage.opened() as session:
        session.ask("q1")
        session.ask("q2")
        with pytest.raises(UsageError, match="left as they are"):
            run(session, "compact")
        assert len(stage.provider.requests) == 2


# -- [history] budget --------------------------------------------------------------------------


def test_a_conversation_over_the_budget_loses_its_oldest_turns_and_that_is_told_once(tmp_path):
    stage = staged(tmp_path, *["x" * 400] * 8, toml="[history]\nbudget = 1000\n")
    with stage.opened() as session:
        for n in range(8):
            session.ask(f"q{n} " + "y" * 400)
    lengths = [len(request.messages) for request in stage.provider.requests]
    assert lengths == [1, 3, 5, 7, 9, 5, 7, 9]
    assert all(request.messages[0].role == "user" for request in stage.provider.requests)
    assert all(sum(map(tokens, request.messages)) <= 1000 for request in stage.provider.requests)
    (told,) = [notice for notice in stage.renderer.notices if "not sent" in notice]
    assert told.startswith("The 3 oldest turns are not sent, about ") and "budget is 1,000" in told


def test_a_summary_is_of_everything_however_small_the_budget(tmp_path):
    stage = staged(
        tmp_path, *["x" * 400] * 9, *[f"sum {n}" for n in range(3)], toml="[history]\nbudget = 1000\n"
    )
    with stage.opened() as session:
        for n in range(9):
            session.ask(f"q{n} " + "y" * (9000 if n == 4 else 400))
        asked = len(stage.provider.requests)
        told = run(session, "compact")
        assert told.startswith("Summing up 7 turns.") and told.endswith("before:\nsum 2")
        assert "not sent" not in told
        assert session.messages[0].text.endswith("sum 2") and len(session.messages) == 5
    summed = [request.messages for request in stage.provider.requests[asked:]]
    seen = [message.text.split()[0] for messages in summed for message in messages if message.text[0] == "q"]
    assert seen == [f"q{n}" for n in range(7)]
    assert [messages[0].text.split()[-1] for messages in summed[1:]] == ["0", "1"]
    sizes = [sum(map(tokens, messages)) for messages in summed]
    assert sum(size > 1000 for size in sizes) == 1  # one turn alone is more than that


def test_the_same_is_left_out_after_a_restart(tmp_path):
    stage = staged(tmp_path, *["x" * 400] * 9, toml="[history]\nbudget = 1000\n")
    with stage.opened() as session:
        for n in range(6):
            session.ask(f"q{n} " + "y" * 400)
    unbroken = stage.provider.requests[-1].messages
    with stage.opened("-c") as session:
        session.ask("q6 " + "y" * 400)
    assert stage.provider.requests[-1].messages[: len(unbroken)] == unbroken


def test_a_call_never_parts_from_its_result_and_the_running_turn_is_whole(tmp_path):
    rounds = [[ToolCall(f"c{n}", "look", "{}"), Finished("tool_calls")] for n in range(6)]
    stage = Stage(tmp_path, said("a"), *rounds, said("end"), toml="[history]\nbudget = 300\n")
    stage.tools = {"look": lambda: "z" * 400}
    stage.approve = lambda call, session: Verdict(allowed=True, remember="session")
    with stage.opened() as session:
        session.ask("first " + "y" * 400)
        session.ask("second " + "y" * 400)
    last = stage.provider.requests[-1].messages
    assert last[0].text.startswith("second") and len(last) == 13
    for call, result in zip(last[1::2], last[2::2], strict=True):
        assert call.parts[0].id == result.parts[0].call_id


def test_a_summary_is_never_left_out(tmp_path):
    stage = staged(tmp_path, "a1", "a2", "a3", "sum", *["x" * 2000] * 3, toml="[history]\nbudget = 1000\n")
    with stage.opened() as session:
        for n in range(1, 4):
            session.ask(f"q{n}")
        run(session, "compact")
        for n in range(4, 7):
            session.ask(f"q{n} " + "y" * 1500)
    assert sent(stage)[0].endswith("sum") and sent(stage)[1].startswith("q6")


def test_where_the_rest_begins_moves_seldom():
    sizes, starts = [], []
    for _ in range(200):
        sizes.append(10)
        starts.append(start(sizes, 200))
    assert starts == sorted(starts) and len(set(starts)) < 20
    assert all(sum(sizes[first : n + 1]) <= 200 for n, first in enumerate(starts))
    assert start([500], 200) == 0 and start([10, 500], 200) == 1 and start([], 5) == 0
