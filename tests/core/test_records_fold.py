"""What a log of records amounts to."""

import pytest
from mino_core.records import fold, record
from mino_core.types import Message, Refusal, Text, ToolCall, ToolResult, Usage


def said(role, text, turn, **fields):
    message = {"role": role, "parts": [{"type": "text", "text": text}], "meta": {}}
    return record("said", turn=turn, message=message, **fields)


def ended(turn, outcome="completed", **fields):
    return record("ended", turn=turn, outcome=outcome, **fields)


def partial(turn, text):
    return record("partial", turn=turn, parts=[{"type": "text", "text": text}])


def call(turn):
    parts = [{"type": "tool_call", "id": "c", "name": "look", "arguments": "{}"}]
    return record("said", turn=turn, message={"role": "assistant", "parts": parts, "meta": {}})


def result(turn):
    parts = [{"type": "tool_result", "call_id": "c", "content": "seen", "is_error": False}]
    return record("said", turn=turn, message={"role": "tool", "parts": parts, "meta": {}})


def turn(n, outcome="completed"):
    return [said("user", f"q{n}", n), said("assistant", f"a{n}", n), ended(n, outcome)]


def texts(conversation, **how):
    return [message.text for message in conversation.messages(**how)]


def test_what_was_said_is_sent_in_order():
    conversation = fold([*turn(1), *turn(2)])
    assert texts(conversation) == ["q1", "a1", "q2", "a2"]
    assert [each.outcome for each in conversation.turns] == ["completed", "completed"]
    assert conversation.turns[1].question == "q2" and conversation.latest == 2


def test_a_round_keeps_its_call_and_its_result_together():
    conversation = fold([said("user", "q", 1), call(1), result(1), said("assistant", "a", 1), ended(1)])
    assert conversation.messages() == (
        Message("user", (Text("q"),)),
        Message("assistant", (ToolCall("c", "look", "{}"),)),
        Message("tool", (ToolResult("c", "seen"),)),
        Message("assistant", (Text("a"),)),
    )


def test_a_turn_without_an_end_was_interrupted():
    conversation = fold([said("user", "q", 1), said("assistant", "half", 1)])
    assert conversation.turns[0].outcome == "interrupted"
    assert texts(conversation) == ["q", "half"]


def test_a_turn_whose_end_was_lost_ended_as_its_last_reply_did():
    question = said("user", "q", 1)
    for outcome in ("completed", "incomplete", "failed"):
        assert fold([question, said("assistant", "a", 1, outcome=outcome)]).turns[0].outcome == outcome
    waiting = {**call(1), "outcome": "completed"}
    assert fold([question, waiting]).turns[0].outcome == "interrupted"
    assert fold([question, waiting, result(1)]).turns[0].outcome == "interrupted"


def test_usage_is_summed_over_the_rounds_and_the_end_may_say_better():
    rounds = [
        said("assistant", "a", 1, usage={"input_tokens": 5}),
        said("assistant", "b", 1, usage={"input_tokens": 7}),
    ]
    assert fold(rounds).turns[0].usage == Usage(input_tokens=12)
    assert fold([*rounds, ended(1, usage={"input_tokens": 13})]).turns[0].usage == Usage(input_tokens=13)


def test_the_provider_the_model_and_the_error_are_the_turns():
    error = {"kind": "http", "message": "503"}
    log = [
        said("user", "q", 1),
        said("assistant", "a", 1, provider="p", model="m"),
        ended(1, "failed", error=error),
    ]
    last = fold(log).turns[0]
    assert (last.provider, last.model, last.error, last.outcome) == ("p", "m", error, "failed")


# -- partial answers ---------------------------------------------------------------------------


def test_the_last_partial_counts_until_the_reply_is_there():
    log = [said("user", "q", 1), partial(1, "on"), partial(1, "one tw")]
    assert texts(fold(log)) == ["q", "one tw"]
    assert texts(fold([*log, said("assistant", "one two", 1)])) == ["q", "one two"]


def test_a_partial_may_go_on_where_the_one_before_ended():
    def more(*parts):
        return record(
            "partial", turn=1, parts=[{"type": kind, "text": text} for kind, text in parts], more=True
        )

    log = [
        said("user", "q", 1),
        partial(1, "one"),
        more(("text", " tw")),
        more(("text", "o"), ("refusal", "no")),
    ]
    assert fold(log).turns[0].partial.parts == (Text("one two"), Refusal("no"))
    again = record("partial", turn=1, parts=[{"type": "refusal", "text": "no, never"}], more=True, again=2)
    assert fold([*log, again]).turns[0].partial.parts == (Text("one two"), Refusal("no, never"))
    assert fold([*log, partial(1, "anew")]).turns[0].partial.parts == (Text("anew"),)
    assert fold([log[0], *log[2:]]).turns[0].partial.parts == (Text(" two"), Refusal("no"))


def test_a_partial_of_the_next_round_counts_beside_the_first_reply():
    log = [said("user", "q", 1), partial(1, "x"), call(1), result(1), partial(1, "half")]
    assert texts(fold(log))[-1] == "half"
    assert texts(fold([*log, ended(1, "failed")]))[-1] == "half"


def test_a_blank_partial_is_nothing():
    assert texts(fold([said("user", "q", 1), partial(1, " \u200b")])) == ["q"]


def test_a_partial_does_not_outlive_a_retry():
    assert texts(fold([said("user", "q", 1), partial(1, "half"), record("retried", turn=1)])) == ["q"]


# -- what changes a conversation ---------------------------------------------------------------


def test_nothing_before_a_clear_is_sent():
    conversation = fold([*turn(1), *turn(2), record("cleared"), *turn(3)])
    assert texts(conversation) == ["q3", "a3"]
    assert conversation.latest == 3


def test_undo_drops_the_last_turns():
    assert texts(fold([*turn(1), *turn(2), *turn(3), record("undone", turns=2)])) == ["q1", "a1"]
    assert texts(fold([*turn(1), record("undone", turns=99)])) == []


def test_the_number_of_an_undone_turn_may_come_again():
    assert texts(fold([*turn(1), record("undone", turns=1), said("user", "other", 1)])) == ["other"]


def test_retry_keeps_the_question_and_drops_what_came_of_it():
    log = [
        said("user", "q", 1),
        call(1),
        result(1),
        said("assistant", "a", 1),
        ended(1),
        record("retried", turn=1),
    ]
    conversation = fold(log)
    assert texts(conversation) == ["q"]
    assert conversation.turns[0].outcome == "interrupted"
    assert texts(fold([*log, said("assistant", "b", 1), ended(1)])) == ["q", "b"]


def test_retrying_an_earlier_turn_leaves_the_later_ones():
    log = [*turn(1), *turn(2), record("retried", turn=1), said("assistant", "b1", 1)]
    assert texts(fold(log)) == ["q1", "b1", "q2", "a2"]


def test_retrying_what_does_not_stand_changes_nothing():
    conversation = fold([*turn(1), record("retried", turn=7)])
    assert texts(conversation) == ["q1", "a1"] and conversation.skipped == 0


def test_a_summary_stands_in_place_of_everything_up_to_its_record():
    log = [*turn(1), *turn(2), *turn(3)]
    compacted = record("compacted", summary="sum", upto=log[5]["id"])
    conversation = fold([*log, compacted, *turn(4)])
    assert texts(conversation) == ["sum", "q3", "a3", "q4", "a4"]
    assert conversation.messages()[0].role == "user"
    assert [each.n for each in conversation.turns] == [3, 4]


def test_a_second_summary_replaces_the_first():
    log = [*turn(1), *turn(2)]
    log.append(record("compacted", summary="one", upto=log[2]["id"]))
    log.append(record("compacted", summary="two", upto=log[5]["id"]))
    assert texts(fold(log)) == ["two"]


def test_a_summary_in_the_middle_of_a_turn_leaves_the_rest_of_it():
    log = turn(1)
    assert texts(fold([*log, record("compacted", summary="s", upto=log[0]["id"])])) == ["s", "a1"]


def test_a_summary_goes_with_a_clear_and_not_with_an_undo():
    log = turn(1)
    log.append(record("compacted", summary="s", upto=log[-1]["id"]))
    assert texts(fold([*log, record("undone", turns=1)])) == ["s"]
    assert texts(fold([*log, record("cleared")])) == []


def test_a_summary_of_what_was_cleared_does_not_bring_it_back():
    log = turn(1)
    conversation = fold([*log, record("cleared"), record("compacted", summary="old", upto=log[-1]["id"])])
    assert texts(conversation) == [] and conversation.skipped == 1


def test_a_summary_up_to_an_unknown_record_replaces_nothing():
    conversation = fold([*turn(1), record("compacted", summary="s", upto="nowhere")])
    assert texts(conversation) == ["q1", "a1"] and conversation.skipped == 1


def test_the_last_title_holds():
    conversation = fold(
        [record("head", title="first"), record("titled", title="b"), record("titled", title="c")]
    )
    assert conversation.title == "c" and fold([record("head", title="first")]).title == "first"


def test_tokens_stay_spent_whatever_is_undone():
    spent = said("assistant", "a", 1, usage={"output_tokens": 5})
    for change in (record("undone", turns=1), record("cleared"), record("retried", turn=1)):
        assert fold([said("user", "q", 1), spent, change]).usage == Usage(output_tokens=5)


def test_tokens_of_a_summary_are_spent_too():
    log = [*turn(1), record("compacted", summary="s", upto="x", usage={"output_tokens": 7})]
    log[-1]["upto"] = log[2]["id"]
    assert fold(log).usage == Usage(output_tokens=7) and fold(log).summary == "s"


# -- what is sent ------------------------------------------------------------------------------


def test_only_completed_turns_are_sent_where_that_is_wanted():
    log = [*turn(1), *turn(2, "failed"), *turn(3, "cancelled"), said("user", "q4", 4)]
    assert texts(fold(log), send="completed") == ["q1", "a1"]
    assert texts(fold(log), send="completed", running=4) == ["q1", "a1", "q4"]
    assert texts(fold(log)) == ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]


def test_each_question_on_its_own_sends_only_the_running_turn_and_all_of_it():
    log = [*turn(1), said("user", "q2", 2), call(2), result(2)]
    assert [message.role for message in fold(log).messages("none", running=2)] == [
        "user",
        "assistant",
        "tool",
    ]
    assert fold(log).messages("none") == ()


def test_a_reply_that_says_nothing_is_never_sent():
    conversation = fold(
        [said("user", "q", 1), said("assistant", " \n\u3000", 1), said("assistant", "", 1), ended(1)]
    )
    assert texts(conversation) == ["q"] and conversation.blank == 2


# -- logs that are not as they should be -------------------------------------------------------


def test_a_record_that_comes_twice_counts_once():
    log = turn(1)
    assert texts(fold([*log, *log])) == ["q1", "a1"]
    undo = record("undone", turns=1)
    assert texts(fold([*turn(1), *turn(2), undo, undo]))[:1] == ["q1"]


def test_a_log_that_was_copied_behind_itself_is_cleared_again():
    log = [*turn(1), record("cleared"), *turn(2)]
    assert texts(fold([*log, *log])) == ["q2", "a2"]


def test_turns_stand_in_their_order_whatever_order_their_records_come_in():
    assert texts(fold([*turn(2), *turn(1)])) == ["q1", "a1", "q2", "a2"]
    assert texts(fold([said("assistant", "a", 1), said("user", "q", 1)])) == ["q", "a"]


def test_records_without_a_turn_follow_the_conversation():
    log = [
        said("user", "q1", 1),
        said("assistant", "a1", 1),
        said("user", "q2", 1),
        said("assistant", "a2", 1),
    ]
    for each in log:
        del each["turn"]
    conversation = fold(log)
    assert texts(conversation) == ["q1", "a1", "q2", "a2"] and [each.n for each in conversation.turns] == [
        1,
        2,
    ]


def test_records_without_an_id_count_each():
    log = turn(1)
    for each in log:
        del each["id"]
    assert texts(fold(log)) == ["q1", "a1"]


def test_two_writers_of_one_turn_lose_nothing():
    log = [
        said("user", "one", 1),
        said("user", "two", 1),
        said("assistant", "a", 1),
        said("assistant", "b", 1),
    ]
    assert sorted(texts(fold(log))) == ["a", "b", "one", "two"]


def test_unknown_records_and_keys_change_nothing():
    conversation = fold([record("head", format=1), record("mood", turn=1), *turn(1)])
    assert texts(conversation) == ["q1", "a1"] and conversation.skipped == 0
    assert conversation.head["format"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        1,
        "x",
        {},
        {"role": "user"},
        {"type": None},
        {"type": ["said"]},
        {"type": "said"},
        {"type": "said", "turn": 1, "message": None},
        {"type": "said", "turn": "1", "message": {"role": "user", "parts": []}},
        {"type": "said", "turn": True, "message": {"role": "user", "parts": []}},
        {"type": "said", "turn": 0, "message": {"role": "user", "parts": []}},
        {"type": "said", "turn": 1, "message": {"role": "root", "parts": []}},
        {"type": "partial", "turn": 1, "parts": "words"},
        {"type": "ended", "turn": 1, "outcome": "great"},
        {"type": "ended", "turn": 1, "outcome": ["completed"]},
        {"type": "undone", "turns": 0},
        {"type": "undone", "turns": -1},
        {"type": "undone"},
        {"type": "retried", "turn": None},
        {"type": "compacted", "upto": "x"},
        {"type": "compacted", "summary": "x", "upto": {}},
        {"type": "titled", "title": 5},
    ],
)
def test_a_record_of_a_wrong_shape_is_counted_and_the_rest_stands(wrong):
    conversation = fold([*turn(1), wrong, *turn(2)])
    assert conversation.skipped == 1
    assert texts(conversation) == ["q1", "a1", "q2", "a2"]


def test_a_wrong_usage_does_not_cost_the_words():
    conversation = fold([said("assistant", "a", 1, usage="many", provider=5)])
    assert texts(conversation) == ["a"] and conversation.turns[0].usage is None
