"""The session's promises, driven with a scripted provider and a recording renderer."""

import json
import os
import re
import signal
from pathlib import Path

import pytest
from mino_core import (
    Finished,
    Idle,
    Notice,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageError,
    Verdict,
    interrupts,
)
from mino_core.settings import Settings
from stage import Stage

from mino_history import mino_histories as make_histories

STOP = Finished("stop", "stop")


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def records(stage):
    files = list(Path(stage.environ["MINO_HOME"]).glob("history/*/*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def said(stage):
    return [
        (record["message"]["role"], "".join(part.get("text", "") for part in record["message"]["parts"]))
        for record in records(stage)
        if record["type"] == "said"
    ]


def texts(request):
    return [(message.role, message.text) for message in request.messages]


def test_an_answer_is_shown_kept_and_sent_again(tmp_path):
    stage = Stage(tmp_path, [TextDelta("Hel"), TextDelta("lo"), STOP], [TextDelta("Again"), STOP])
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
        assert session.ask("more").outcome == "completed"
    assert stage.renderer.text == "HelloAgain"
    assert said(stage) == [("user", "hi"), ("assistant", "Hello"), ("user", "more"), ("assistant", "Again")]
    assert texts(stage.provider.requests[1]) == [("user", "hi"), ("assistant", "Hello"), ("user", "more")]


def test_the_question_is_kept_before_anything_is_sent(tmp_path):
    stage = Stage(tmp_path, [lambda: kept.extend(said(stage)), TextDelta("x"), STOP])
    kept = []
    with stage.opened() as session:
        session.ask("precious")
    assert kept == [("user", "precious")]


def test_each_delta_is_shown_before_the_next_is_asked_for(tmp_path):
    shown = []

    def look():
        shown.append(stage.renderer.text)

    stage = Stage(tmp_path, [TextDelta("a"), look, TextDelta("b"), look, TextDelta("c"), look, STOP])
    with stage.opened() as session:
        session.ask("hi")
    assert shown == ["a", "ab", "abc"]


def test_a_stream_without_transport_is_idle_after_every_delta(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), TextDelta("b"), STOP])
    with stage.opened() as session:
        session.ask("hi")
    kinds = [type(event) for event in stage.renderer.events if isinstance(event, TextDelta | Idle)]
    assert kinds == [TextDelta, Idle, TextDelta, Idle]


def test_the_renderer_never_sees_finished(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    with stage.opened() as session:
        session.ask("hi")
    assert not stage.renderer.of(Finished)


@pytest.mark.parametrize(
    ("script", "outcome", "kind"),
    [
        ([TextDelta("x"), STOP], "completed", None),
        ([RefusalDelta("no"), STOP], "completed", None),
        ([TextDelta("x")], "interrupted", "stream"),
        ([], "interrupted", "stream"),
        ([STOP], "failed", "empty"),
        ([TextDelta(" \n\u3000"), STOP], "failed", "empty"),
        ([ReasoningDelta("hm"), STOP], "failed", "empty"),
        ([ToolCall("1", "add", '{"a": '), Finished("tool_calls")], "failed", "empty"),
        ([TextDelta("x"), Finished("length", "max_tokens")], "incomplete", "length"),
        ([Finished("filter", "content_filter")], "incomplete", "filter"),
        ([TextDelta("x"), Finished("refusal", "refusal", "not that")], "incomplete", "refusal"),
        ([TextDelta("x"), ProviderError("stream", "reset")], "interrupted", "stream"),
        ([TextDelta("x"), ProviderError("timeout", "silence", 200)], "interrupted", "timeout"),
        ([ProviderError("timeout", "silence")], "failed", "timeout"),
        ([ProviderError("auth", "HTTP 401", 401)], "failed", "auth"),
        ([TextDelta("x"), ProviderError("server", "overloaded")], "failed", "server"),
        ([TextDelta("x"), ValueError("oops")], "failed", "plugin"),
        ([SystemExit(3)], "failed", "plugin"),
        (["not a delta"], "failed", "plugin"),
        ([TextDelta("x"), ctrl_c, TextDelta("y"), STOP], "cancelled", None),
    ],
)
def test_every_ending_has_its_outcome(tmp_path, script, outcome, kind):
    if script == ["not a delta"]:
        stage = Stage(tmp_path)
        stage.provider.stream = lambda request: iter(script)
    else:
        stage = Stage(tmp_path, script)
    with stage.opened() as session:
        ended = session.ask("hi")
    assert ended.outcome == outcome
    assert (ended.error and ended.error.kind) == kind
    last = records(stage)[-1]
    assert (last["type"], last["outcome"]) == ("ended", outcome)
    assert len(stage.renderer.ended) == 1


def test_text_that_was_shown_is_kept_with_its_outcome_beside_it(tmp_path):
    stage = Stage(tmp_path, [TextDelta("half an ans"), ProviderError("stream", "reset")])
    with stage.opened() as session:
        session.ask("hi")
    reply = next(r for r in records(stage) if r["type"] == "said" and r["message"]["role"] == "assistant")
    assert reply["message"]["parts"] == [{"type": "text", "text": "half an ans"}]
    assert reply["outcome"] == "interrupted"
    assert reply["error"]["message"] == "reset"


def test_a_turn_that_said_nothing_stores_no_assistant_message(tmp_path):
    stage = Stage(tmp_path, [TextDelta("  "), STOP], [TextDelta("ok"), STOP])
    with stage.opened() as session:
        session.ask("first")
        session.ask("second")
    assert texts(stage.provider.requests[1]) == [("user", "first"), ("user", "second")]


def test_typed_words_survive_a_failed_turn(tmp_path):
    stage = Stage(tmp_path, [ProviderError("http", "HTTP 500")], [TextDelta("ok"), STOP])
    with stage.opened() as session:
        session.ask("first")
        session.ask("second")
    assert texts(stage.provider.requests[1]) == [("user", "first"), ("user", "second")]


def test_ctrl_c_closes_the_stream_and_keeps_the_partial_text(tmp_path):
    stage = Stage(tmp_path, [TextDelta("par"), ctrl_c, TextDelta("tial"), STOP], [TextDelta("ok"), STOP])
    with stage.opened() as session:
        assert session.ask("hi").outcome == "cancelled"
        assert session.ask("again").outcome == "completed"
    assert stage.provider.closed_early == 1
    assert ("assistant", "par") in said(stage)


def test_a_ctrl_c_as_the_last_words_appear_does_not_reach_the_prompt(tmp_path):
    stage = Stage(tmp_path, [TextDelta("whole"), STOP])
    stage.renderer._react = lambda event: ctrl_c() if isinstance(event, TurnEnded) else None
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
        with interrupts.armed():
            pass  # the next prompt


def test_a_ctrl_c_after_the_terminal_leaves_the_answer_complete(tmp_path):
    def stream(request):
        yield TextDelta("whole")
        yield STOP
        ctrl_c()
        yield from ()

    stage = Stage(tmp_path)
    stage.provider.stream = stream
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    assert records(stage)[-1]["outcome"] == "completed"


def test_sigterm_keeps_the_partial_text_and_goes_on_up(tmp_path):
    stage = Stage(tmp_path, [TextDelta("par"), lambda: os.kill(os.getpid(), signal.SIGTERM), STOP])
    with pytest.raises(interrupts.Terminated), stage.opened() as session:
        session.ask("hi")
    assert ("assistant", "par") in said(stage)
    assert records(stage)[-1]["outcome"] == "cancelled"


def test_an_iterator_that_goes_on_after_finished_is_told_of_and_cut(tmp_path):
    stage = Stage(tmp_path)
    stage.provider.stream = lambda request: iter([TextDelta("a"), STOP, TextDelta("b")])
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    assert stage.renderer.text == "a"
    assert any("went on after it had finished" in notice for notice in stage.renderer.notices)


def test_usage_sums_the_rounds_and_unreported_stays_none(tmp_path):
    stage = Stage(
        tmp_path,
        [ToolCall("1", "add", '{"a": 1}'), Usage(input_tokens=10, output_tokens=2), Finished("tool_calls")],
        [TextDelta("2"), Usage(input_tokens=14), Usage(input_tokens=15, output_tokens=1), STOP],
    )
    stage.tools = {"add": add}
    stage.approve = lambda call, session: Verdict(True)
    with stage.opened() as session:
        ended = session.ask("1+1")
        assert session.usage == ended.usage
    assert ended.rounds == 2
    assert ended.usage == Usage(input_tokens=25, output_tokens=3)
    assert ended.last_usage == Usage(input_tokens=15, output_tokens=1)


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def test_a_tool_is_run_and_its_result_is_sent_back(tmp_path):
    call = ToolCall("1", "add", '{"a": 1}')
    stage = Stage(tmp_path, [call, Finished("tool_calls")], [TextDelta("2"), STOP])
    stage.tools = {"add": add}
    stage.approve = lambda call, session: Verdict(True)
    with stage.opened() as session:
        assert session.ask("1+1").outcome == "completed"
    user, assistant, result = stage.provider.requests[1].messages
    assert (user.role, assistant.parts, result.role) == ("user", (call,), "tool")
    assert (result.parts[0].content, result.parts[0].is_error) == ("2", False)
    kinds = [type(e) for e in stage.renderer.events if isinstance(e, ToolStarted | ToolOutput | ToolEnded)]
    assert kinds == [ToolStarted, ToolEnded]


@pytest.mark.parametrize(
    ("call", "reply"),
    [
        (ToolCall("1", "gone", "{}"), "there is no tool 'gone'; there are: add"),
        (ToolCall("1", "add", "[1"), "JSON"),
        (ToolCall("1", "add", '{"a": 1, "c": 2}'), "c"),
    ],
)
def test_a_wrong_call_is_told_to_the_model_and_to_the_user(tmp_path, call, reply):
    said = TextDelta("Let me see.")  # a call that is not whole is an answer only beside words
    stage = Stage(tmp_path, [said, call, Finished("tool_calls")], [TextDelta("sorry"), STOP])
    stage.tools = {"add": add}
    stage.approve = lambda call, session: Verdict(True)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    result = stage.provider.requests[1].messages[-1].parts[0]
    assert result.is_error
    assert reply in result.content
    assert [e.result for e in stage.renderer.events if isinstance(e, ToolEnded)] == [result]


def test_a_call_that_nobody_can_allow_is_not_run(tmp_path):
    stage = Stage(
        tmp_path, [ToolCall("1", "add", '{"a": 1}'), Finished("tool_calls")], [TextDelta("ok"), STOP]
    )
    ran = []

    def add(a: int) -> None:
        ran.append(a)

    stage.tools = {"add": add}
    with stage.opened() as session:
        session.ask("hi")
    assert not ran
    result = stage.provider.requests[1].messages[-1].parts[0]
    assert result.is_error
    assert "nobody is there to allow it" in result.content


def test_a_verdict_for_the_session_is_asked_for_once(tmp_path):
    asked = []

    def approve(call, session):
        asked.append(call.id)
        return Verdict(True, remember="session")

    calls = [ToolCall("1", "add", '{"a": 1}'), ToolCall("2", "add", '{"a": 2}')]
    stage = Stage(tmp_path, [*calls, Finished("tool_calls")], [TextDelta("ok"), STOP])
    stage.tools, stage.approve = {"add": add}, approve
    with stage.opened() as session:
        session.ask("hi")
    assert asked == ["1"]


def test_a_ctrl_c_during_a_tool_leaves_a_result_for_every_call(tmp_path):
    def slow(a: int) -> str:
        ctrl_c()
        return "never"

    calls = [ToolCall("1", "slow", '{"a": 1}'), ToolCall("2", "slow", '{"a": 2}')]
    stage = Stage(tmp_path, [*calls, Finished("tool_calls")], [TextDelta("ok"), STOP])
    stage.tools, stage.approve = {"slow": slow}, lambda call, session: Verdict(True)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "cancelled"
        session.ask("go on")
    results = [message.parts[0] for message in stage.provider.requests[1].messages if message.role == "tool"]
    assert [(result.call_id, result.is_error) for result in results] == [("1", True), ("2", True)]
    assert "while it ran" in results[0].content and "not run" in results[1].content


def test_a_ctrl_c_at_the_question_whether_a_tool_may_run_leaves_it_unrun(tmp_path):
    def approve(call, session):
        ctrl_c()
        interrupts.wait(0.1)

    stage = Stage(tmp_path, [ToolCall("1", "slow", "{}"), Finished("tool_calls")], [TextDelta("ok"), STOP])
    stage.tools, stage.approve = {"slow": lambda: "never"}, approve
    with stage.opened() as session:
        assert session.ask("hi").outcome == "cancelled"
        session.ask("go on")
    (result,) = [
        message.parts[0] for message in stage.provider.requests[1].messages if message.role == "tool"
    ]
    assert result.content.startswith("not run")


def test_calls_of_an_answer_that_did_not_complete_are_never_run(tmp_path):
    stage = Stage(tmp_path, [TextDelta("x"), ToolCall("1", "add", "{}"), Finished("length", "length")])
    stage.tools = {"add": lambda: pytest.fail("it ran")}
    with stage.opened() as session:
        assert session.ask("hi").outcome == "incomplete"
        assert [part for message in session.messages for part in message.parts] == [Text("hi"), Text("x")]


def test_a_turn_without_end_stops_at_its_limit_of_rounds(tmp_path):
    rounds = [[ToolCall(str(n), "add", '{"a": 1}'), Finished("tool_calls")] for n in range(3)]
    stage = Stage(tmp_path, *rounds, toml="[session]\nmax_rounds = 3\n")
    stage.tools, stage.approve = {"add": add}, lambda call, session: Verdict(True)
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.error.kind, ended.rounds) == ("incomplete", "rounds", 3)


def test_a_paused_turn_is_resumed(tmp_path):
    stage = Stage(tmp_path, [TextDelta("one "), Finished("pause", "pause_turn")], [TextDelta("two"), STOP])
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.rounds) == ("completed", 2)
    assert texts(stage.provider.requests[1]) == [("user", "hi"), ("assistant", "one ")]


def test_a_pause_without_words_is_kept_for_what_the_server_wants_back(tmp_path):
    meta = {"anthropic-messages": {"model": "m", "order": [{"type": "x"}], "stop": "pause_turn"}}
    rounds = [Finished("pause", "pause_turn", meta=meta)], [TextDelta("two"), STOP], [TextDelta("c"), STOP]
    stage = Stage(tmp_path, *rounds)
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.rounds) == ("completed", 2)
    assert stage.provider.requests[1].messages[-1].meta == meta
    with stage.opened("--resume", session.id) as resumed:
        resumed.ask("more")
    assert [message.meta for message in stage.provider.requests[2].messages] == [{}, meta, {}, {}]


def test_a_pause_with_nothing_to_go_on_with_ends_the_turn(tmp_path):
    stage = Stage(tmp_path, [Finished("pause", "pause_turn")])
    with stage.opened() as session:
        ended = session.ask("hi")
    assert (ended.outcome, ended.rounds) == ("incomplete", 1)


def test_clear_forgets_and_the_next_request_proves_it(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    with stage.opened() as session:
        session.ask("first")
        session.clear()
        session.ask("second")
    assert texts(stage.provider.requests[1]) == [("user", "second")]
    assert ("user", "first") in said(stage)


def test_retry_asks_again_in_place_of_the_answer(tmp_path):
    stage = Stage(tmp_path, [TextDelta("bad"), STOP], [TextDelta("good"), STOP], [TextDelta("ok"), STOP])
    with stage.opened() as session:
        session.ask("q")
        session.retry()
        session.ask("next")
    assert texts(stage.provider.requests[1]) == [("user", "q")]
    assert texts(stage.provider.requests[2]) == [("user", "q"), ("assistant", "good"), ("user", "next")]


def test_continue_appends_a_user_message(tmp_path):
    stage = Stage(tmp_path, [TextDelta("half"), Finished("length")], [TextDelta("rest"), STOP])
    with stage.opened() as session:
        session.ask("q")
        session.proceed()
    assert texts(stage.provider.requests[1])[-1] == ("user", "Continue exactly where you stopped.")


def test_undo_drops_turns(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP], [TextDelta("c"), STOP])
    with stage.opened() as session:
        session.ask("1")
        session.ask("2")
        assert session.undo(1) == 1
        session.ask("3")
    assert texts(stage.provider.requests[2]) == [("user", "1"), ("assistant", "a"), ("user", "3")]


def test_there_is_nothing_to_retry_or_continue_at_first(tmp_path):
    with Stage(tmp_path).opened() as session:
        with pytest.raises(UsageError):
            session.retry()
        with pytest.raises(UsageError):
            session.proceed()
        assert session.undo(3) == 0


def test_with_send_none_two_questions_share_nothing(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP], toml='[history]\nsend = "none"\n')
    with stage.opened() as session:
        session.ask("1")
        session.ask("2")
    assert texts(stage.provider.requests[1]) == [("user", "2")]


def test_a_fork_goes_on_with_a_copy(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    with stage.opened() as session:
        session.ask("1")
        first = session.id
        assert session.fork() != first
        session.ask("2")
    assert texts(stage.provider.requests[1]) == [("user", "1"), ("assistant", "a"), ("user", "2")]
    assert len(list(Path(stage.environ["MINO_HOME"]).glob("history/*/*.jsonl"))) == 2


@pytest.mark.damages
@pytest.mark.parametrize("is_there", [True, False])
def test_a_copy_that_was_not_made_whole_gives_way_to_its_original_while_that_is_there(tmp_path, is_there):
    stage = Stage(tmp_path, *([TextDelta(answer), STOP] for answer in "abcd"))
    with stage.opened() as session:
        session.ask("1")
        session.ask("2")
        original, copy = session.id, session.fork()
        session.ask("3")
    history = Path(stage.environ["MINO_HOME"]) / "history"
    (whole,), (forked,) = (list(history.glob(f"*/*{name}.jsonl")) for name in (original, copy))
    with stage.opened("--resume", copy) as session:  # whole: it goes on
        assert session.id == copy and len(session.messages) == 6
    forked.write_text("".join(forked.read_text().splitlines(keepends=True)[:4]))  # as a kill leaves it
    if not is_there:
        whole.unlink()
    with stage.opened("--resume", copy) as session:
        assert session.id == (original if is_there else copy)
        assert f"not all of {original} was copied to {copy}" in str(session.display.renderer.notices)
        session.ask("4")
    sent = texts(stage.provider.requests[3])
    assert sent == [
        ("user", "1"),
        ("assistant", "a"),
        *([("user", "2"), ("assistant", "b")] * is_there),
        ("user", "4"),
    ]
    assert not list(history.glob("*/*.lock"))


@pytest.mark.damages
def test_an_answer_whose_question_was_damaged_is_not_given_up_for_nothing(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    with stage.opened() as session:
        session.ask("1")
    (path,) = (Path(stage.environ["MINO_HOME"]) / "history").glob("*/*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "damaged\n", *lines[2:]]))
    with stage.opened("--resume", session.id) as session:
        with pytest.raises(UsageError, match="the last question is damaged"):
            session.retry()
        session.ask("2")
    assert texts(stage.provider.requests[1]) == [("assistant", "a"), ("user", "2")]


def test_a_resumed_conversation_sends_the_same_as_an_unbroken_one(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    with stage.opened() as session:
        session.ask("1")
        former = session.id
    with stage.opened("--resume", former) as session:
        assert session.id == former
        session.ask("2")
    assert texts(stage.provider.requests[1]) == [("user", "1"), ("assistant", "a"), ("user", "2")]
    assert session.turn == 2


def test_the_instructions_stand_in_every_request_and_never_in_its_messages(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    with stage.opened("-s", "Be brief.") as session:
        session.ask("1")
        session.ask("2")
    assert [request.instructions for request in stage.provider.requests] == ["Be brief.", "Be brief."]


def test_a_renderer_that_fails_is_replaced_and_no_word_is_lost(tmp_path, capfd):
    stage = Stage(tmp_path, [TextDelta("one "), TextDelta("two "), TextDelta("three"), STOP])

    def fail(event):
        if event == TextDelta("two "):
            raise RuntimeError("broken pen")

    stage.renderer = type(stage.renderer)(fail)
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
        assert type(session.display.renderer).__name__ != "Recorder"
    assert stage.renderer.closed
    assert ("assistant", "one two three") in said(stage)


def test_observers_come_after_the_renderer_and_see_what_was_said(tmp_path):
    seen = []
    stage = Stage(tmp_path, [TextDelta("a\x1b[2J"), STOP])
    stage.observe = lambda event, session: seen.append((event, stage.renderer.events[-1]))
    with stage.opened() as session:
        session.ask("hi")
    events = [event for event, _ in seen]
    assert TextDelta("a\x1b[2J") in events
    assert STOP in events
    assert all(event is last for event, last in seen if not isinstance(event, Finished))


def test_an_observer_that_fails_is_reported_once_and_the_answer_goes_on(tmp_path):
    def observe(event, session):
        if event == TextDelta("a"):
            raise RuntimeError("nosy")

    stage = Stage(tmp_path, [TextDelta("a"), TextDelta("b"), STOP])
    stage.observe = observe
    with stage.opened() as session:
        assert session.ask("hi").outcome == "completed"
    assert stage.renderer.text == "ab"
    assert len([notice for notice in stage.renderer.notices if "nosy" in notice]) == 1


def test_a_plugin_may_change_the_request(tmp_path):
    from dataclasses import replace

    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    stage.change = lambda request, session: replace(request, options={"seed": 1})
    with stage.opened() as session:
        session.ask("hi")
    assert stage.provider.requests[0].options == {"seed": 1}


class Refusing:
    """A history that keeps nothing."""

    def conversations(self):
        return iter(())

    def open(self, id, head=None, write=True):
        raise OSError("the disk is full")

    def remove(self, id):
        pass


def test_a_history_that_fails_is_told_once_and_the_turn_goes_on(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    stage.history = Refusing()
    with stage.opened("--history", "staged") as session:
        session.ask("1")
        session.ask("2")
    assert texts(stage.provider.requests[1]) == [("user", "1"), ("assistant", "a"), ("user", "2")]
    assert len([n for n in stage.renderer.of(Notice) if "the disk is full" in n.text]) == 1


@pytest.mark.parametrize(
    ("broken", "sent", "told"),
    [
        ("open", ["1", "a", "2"], "broken open.*going on in a copy"),
        ("both", ["2"], "broken read.*this is a new conversation"),
        ("conversations", ["2"], "broken conversations.*this is a new conversation"),
    ],
)
def test_what_a_history_cannot_give_back_costs_no_question(tmp_path, broken, sent, told):
    stage = Stage(tmp_path, [TextDelta("a"), STOP], [TextDelta("b"), STOP])
    stage.history = kept = make_histories()["memory"](Settings({}))
    with stage.opened("--history", "staged") as session:
        session.ask("1")

    class Breaking:
        def conversations(self):
            if broken == "conversations":
                raise RuntimeError("broken conversations")
            return kept.conversations()

        def open(self, id, head=None, write=True):
            if head is None and (write or broken == "both"):
                raise RuntimeError("broken open" if write else "broken read")
            return kept.open(id, head, write)

        def remove(self, id):
            kept.remove(id)

    stage.history = Breaking()
    with stage.opened("--history", "staged", "-c") as session:
        assert session.ask("2").outcome == "completed"
    assert [text for _, text in texts(stage.provider.requests[1])] == sent
    assert re.search(told, " ".join(stage.renderer.notices)), stage.renderer.notices


def test_a_failing_question_is_never_taken_back(tmp_path):
    stage = Stage(tmp_path, [ctrl_c, STOP])
    with stage.opened() as session:
        session.ask("hi")
        assert [message.text for message in session.messages] == ["hi"]


def test_the_turn_is_announced_with_its_prompt(tmp_path):
    stage = Stage(tmp_path, [TextDelta("a"), STOP])
    with stage.opened() as session:
        session.ask("hi")
    assert stage.renderer.of(TurnStarted) == [TurnStarted(1, "hi")]


def test_first_token_time_is_none_where_nothing_was_said(tmp_path):
    stage = Stage(tmp_path, [STOP], [TextDelta("a"), STOP])
    with stage.opened() as session:
        assert session.ask("1").first_token_seconds is None
        assert session.ask("2").first_token_seconds is not None
