"""A conversation that was broken off anywhere goes on as one that never was, on every place for it."""

import json
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import (
    File,
    Finished,
    Image,
    Message,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    Request,
    Session,
    Text,
    TextDelta,
    ToolCall,
    Usage,
    Verdict,
    fold,
)
from mino_core.settings import Settings
from mino_core.testing import problems
from stage import Stage
from test_history_sqlite import sqlite

from mino_anthropic.messages_request import encode as encode_messages
from mino_history import mino_histories
from mino_history.commands import compact
from mino_openai.chat_request import encode as encode_chat
from mino_openai.responses_request import encode as encode_responses

ENCODERS = {"chat": encode_chat, "responses": encode_responses, "messages": encode_messages}
STOP = Finished("stop", "stop")
SUMMARY = "Summarise"
SENT = [
    "",
    "[history]\nbudget = 300\n",
    '[history]\nsend = "completed"\n',
    '[history]\nsend = "none"\nbudget = 300\n',
]
LONG = "word " * 400
#: What comes of a question, round by round: what a server and a person can do to it.
FATES = {
    "answered": [[ReasoningDelta("hm"), TextDelta("answer"), Usage(input_tokens=3, output_tokens=2), STOP]],
    "long": [[TextDelta(LONG), STOP]],
    "refused": [[RefusalDelta("no"), Finished("refusal", "refusal")]],
    "empty": [[STOP]],
    "blank": [[TextDelta(" \n"), ReasoningDelta("thinking"), STOP]],
    "failed": [[ProviderError("server", "down", status=500)]],
    "cut": [[TextDelta("half an ans"), ProviderError("stream", "gone")]],
    "stopped": [[TextDelta("half"), KeyboardInterrupt]],
    "stopped at once": [[KeyboardInterrupt]],
    "too long": [[TextDelta("much"), Finished("length", "length")]],
    "looked": [
        [TextDelta("let me see"), ToolCall("c", "look", "{}"), Finished("tool_calls", "x")],
        [TextDelta("seen"), STOP],
    ],
    "looked twice": [
        [ToolCall("c", "look", '{"at": "x"}'), ToolCall("d", "look", "{broken"), Finished("tool_calls", "x")],
        [ToolCall("c", "look", "{}"), Finished("tool_calls", "x")],
        [TextDelta("seen"), STOP],
    ],
    "looked in vain": [
        [ToolCall("c", "look", "{}"), Finished("tool_calls", "x")],
        [ProviderError("server", "down", status=500)],
    ],
    "stopped at a tool": [
        [ToolCall("c", "stop", "{}"), ToolCall("d", "look", "{}"), Finished("tool_calls", "x")]
    ],
    "calls cut off": [[ToolCall("c", "look", "{}"), Finished("length", "length")]],
    "paused": [
        [TextDelta("one "), Finished("pause", "p", meta={"anthropic-messages": {"x": [1]}})],
        [TextDelta("two"), STOP],
    ],
}


class Playing:
    """Answers round by round; a summary is always written."""

    model = "m"

    def __init__(self):
        self.rounds = []

    def stream(self, request):
        if request.messages[-1].text.startswith(SUMMARY):
            yield TextDelta(f"summary of {len(request.messages)}")
            yield STOP
            return
        for item in self.rounds.pop(0):
            if isinstance(item, BaseException | type):
                raise item
            yield item


def look(at: str = "") -> str:
    """Look at something."""
    return f"saw {at}"


def stop() -> str:
    """Be stopped."""
    raise KeyboardInterrupt


@contextmanager
def staged(folder, backend, toml=""):
    stage = Stage(folder, toml=toml)
    stage.provider = Playing()
    made = {**mino_histories(), "sqlite": lambda settings: sqlite(settings.home)}
    stage.history = made[backend](Settings({}, home=folder / "kept"))
    stage.tools = {"look": look, "stop": stop}
    stage.approve = lambda call, session: Verdict(allowed=True)
    with stage.opened("--history", "staged") as session:
        yield stage, session


def bodies(session, messages):
    """What would be sent with one more question, to a strict server of each dialect."""
    request = Request("m", "be kind", (*messages, Message("user", (Text("and then?"),))))
    changed = session.host.request(request, session)
    found = {}
    for dialect, encode in ENCODERS.items():
        body = json.dumps(encode(changed), sort_keys=True).encode()
        assert problems(dialect, body) == [], (dialect, body)
        found[dialect] = body
    return found


def ask(stage, session, n):
    more = [(), (Image("image/png", "cG5n", "a.png"),), (File("text/plain", "aGk=", "a.txt"),)][n % 3]
    session.ask(f"question {n}", more)


def retry(stage, session, n):
    if session.conversation.turns:
        session.retry()


def proceed(stage, session, n):
    if session.conversation.turns:
        session.proceed()


def shorten(stage, session, n):
    if len(session.conversation.turns) > 2:
        compact(session, "")


def fork(stage, session, n):
    if session.turn:
        session.fork()


ACTS = {
    "ask": ask,
    "retry": retry,
    "continue": proceed,
    "undo": lambda stage, session, n: session.undo(n % 3 + 1),
    "clear": lambda stage, session, n: session.clear(),
    "title": lambda stage, session, n: session.rename(f"title {n}"),
    "compact": shorten,
    "fork": fork,
}
_names = st.sampled_from([*["ask"] * 4, *ACTS, "compact"])
scripts = st.lists(
    st.tuples(_names, st.sampled_from(sorted(FATES)), st.integers(0, 5)), min_size=1, max_size=14
)


def again(session):
    """Another session, as a new window would have it, that goes on with what this one has kept."""
    session.journal.close()
    other = Session(session.host, session.display)
    if session.journal.is_kept:
        other.resume(session.id)
        assert other.id == session.id
    return other


def agree(one, two):
    """What both would send is the same to the byte; so is what they are called and what they took."""
    assert bodies(one, one.messages) == bodies(two, two.messages)
    assert (one.title, one.usage) == (two.title, two.usage)


@pytest.mark.parametrize("toml", SENT)
@pytest.mark.parametrize("backend", ["jsonl", "memory", "sqlite"])
def test_what_is_sent_is_the_same_wherever_a_conversation_was_broken_off(tmp_path_factory, backend, toml):
    with staged(tmp_path_factory.mktemp("unbroken"), backend, toml) as (stage, session):

        @settings(deadline=None, max_examples=8)
        @given(scripts)
        def check(script):
            unbroken, broken = (Session(session.host, session.display) for _ in range(2))
            for name, fate, n in script:
                for each in (unbroken, broken):
                    stage.provider.rounds = list(FATES[fate])
                    ACTS[name](stage, each, n)
                agree(unbroken, broken)
                if unbroken.journal.is_kept:
                    broken = again(broken)
                    agree(unbroken, broken)
            if unbroken.journal.is_kept:
                records = list(session.host.history.open(unbroken.id, write=False).records())
                for cut in range(len(records)):  # as a kill leaves it
                    conversation = fold(records[:cut])
                    for send in ("all", "completed", "none"):
                        bodies(session, conversation.messages(send))
            unbroken.journal.close()
            broken.journal.close()

        check()
