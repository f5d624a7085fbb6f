"""The fold against a model of a few lines, over sequences that nobody thought of."""

from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core.records import Conversation, fold, record
from mino_core.records.tail import standing


def _said(role, text, turn):
    parts = [{"type": "text", "text": text}]
    return record("said", turn=turn, message={"role": role, "parts": parts, "meta": {}})


class _Model:
    """Turns are lists: a question, then the replies. Each act returns the records that keep it."""

    def __init__(self):
        self.turns = {}
        self.number = 0

    def ask(self, _):
        self.number += 1
        self.turns[self.number] = [f"q{self.number}"]
        return [_said("user", f"q{self.number}", self.number)]

    def reply(self, n):
        if not self.turns:
            return []
        turn = sorted(self.turns)[n % len(self.turns)]
        self.turns[turn].append(f"a{n}")
        return [_said("assistant", f"a{n}", turn), record("ended", turn=turn, outcome="completed")]

    def clear(self, _):
        self.turns.clear()
        return [record("cleared")]

    def undo(self, n):
        for turn in sorted(self.turns)[-(n % 3 + 1) :]:
            del self.turns[turn]
        return [record("undone", turns=n % 3 + 1)]

    def retry(self, n):
        if not self.turns:
            return [record("retried", turn=n + 1)]
        turn = sorted(self.turns)[n % len(self.turns)]
        del self.turns[turn][1:]
        return [record("retried", turn=turn)]

    def sent(self):
        return [text for turn in sorted(self.turns) for text in self.turns[turn]]


_names = ["ask", "ask", "reply", "reply", "clear", "undo", "retry"]
_acts = st.lists(st.tuples(st.sampled_from(_names), st.integers(0, 9)), max_size=40)


@settings(deadline=None)
@given(_acts)
def test_asking_answering_clearing_undoing_and_retrying_agree_with_a_model(acts):
    model, conversation = _Model(), Conversation()
    for act, n in acts:
        for each in getattr(model, act)(n):
            conversation.add(each)
        assert [message.text for message in conversation.messages()] == model.sent()
    assert conversation.skipped == 0


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_parts = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_call", "tool_result", "x"])}, optional={"text": _json}
    )
)
_anything = _json | st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "head",
                "said",
                "partial",
                "ended",
                "cleared",
                "undone",
                "retried",
                "compacted",
                "titled",
                "other",
            ]
        )
    },
    optional={
        "id": st.sampled_from(["a", "b", "c", 1, None]),
        "turn": st.integers(-1, 4) | _json,
        "turns": st.integers(-1, 4) | _json,
        "outcome": st.sampled_from(["completed", "failed", "?"]) | _json,
        "usage": _json | st.dictionaries(st.sampled_from(["input_tokens"]), _json),
        "parts": _parts | _json,
        "message": _json
        | st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "tool"]), "parts": _parts | _json}
        ),
        "summary": _json,
        "upto": st.sampled_from(["a", "b", "c"]) | _json,
        "title": _json,
        "error": _json,
    },
)


def _state(conversation):
    return (
        conversation.turns,
        conversation.messages(),
        conversation.messages("completed", 2),
        conversation.messages("none", 1),
        conversation.title,
        conversation.skipped,
        conversation.usage,
        conversation.latest,
    )


@settings(deadline=None)
@given(st.lists(_anything, max_size=12), st.integers(0, 12))
def test_whatever_a_log_holds_it_folds_and_always_to_the_same(records, cut):
    whole, pieces = fold(records), fold(records[:cut])
    before = [dict(each) if isinstance(each, dict) else each for each in records]
    pieces.messages()
    for each in records[cut:]:
        pieces.add(each)
    assert _state(whole) == _state(pieces)
    assert records == before
    for message in whole.messages():
        assert message.role != "assistant" or message.parts


@settings(deadline=None)
@given(st.lists(_anything, max_size=8))
def test_a_log_that_was_copied_behind_itself_amounts_to_the_same(records):
    # What has no number follows what is there, so a copy of it would be another turn.
    named = [
        {"turn": n, **each, "id": f"r{n}"} for n, each in enumerate(records, 1) if isinstance(each, dict)
    ]
    assert _state(fold(named))[:4] == _state(fold(named + named))[:4]


def _stands(conversation):
    return conversation.turns, conversation.messages(), conversation.summary


_more_acts = st.lists(st.tuples(st.sampled_from([*_names, "compact"]), st.integers(0, 9)), max_size=40)


@settings(deadline=None)
@given(_more_acts, st.integers(0, 50))
def test_the_end_of_a_log_amounts_to_all_of_it_and_to_all_that_follows(acts, limit):
    model, log = _Model(), [record("head", format=1, directory="/")]
    for act, n in acts:
        if act == "compact":  # up to any record, whether that still stands or not
            log.append(record("compacted", summary=f"s{n}", upto=log[-1 - n % len(log)]["id"]))
        else:
            log += getattr(model, act)(n)
    end, is_whole = standing(reversed(log), limit)
    assert len(end) <= limit and end[1:] == log[len(log) - len(end) + 1 :]
    if not is_whole:
        assert len(end) == limit
        return
    ended, whole = fold(end), fold(log)
    assert _stands(ended) == _stands(whole) and ended.skipped <= whole.skipped
    assert max((turn.n for turn in ended.turns), default=0) <= ended.latest <= whole.latest
    for act in ("ask", "reply", "undo", "retry", "ask"):
        for each in getattr(model, act)(1):
            ended.add(each)
            whole.add(each)
    assert _stands(ended) == _stands(whole)


@settings(deadline=None)
@given(st.lists(_anything, max_size=12))
def test_the_end_of_any_log_amounts_to_all_of_it(records):
    log = [{**each, "id": f"r{n}"} for n, each in enumerate(records) if isinstance(each, dict)]
    log = [each for each in log if isinstance(each.get("type"), str)]
    end, is_whole = standing(reversed(log), len(log))
    assert is_whole
    assert fold(end).messages() == fold(log).messages()


def test_an_end_that_holds_a_clear_is_short_and_knows_the_last_turn():
    log = [record("head"), *(_said("user", "x" * 100, n) for n in range(1, 1000))]
    log += [record("titled", title="t"), record("cleared")]
    end, is_whole = standing(iter(reversed(log)), 50)
    assert is_whole and len(end) == 2
    assert fold(end).latest == 999 and fold(end).messages() == ()
    log += [_said("user", "last", 1000)]
    end, is_whole = standing(iter(reversed(log)), 50)
    assert is_whole and len(end) == 2 and fold(end).latest == 1000
