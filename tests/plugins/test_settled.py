"""What was encoded once is not encoded again, and changes no byte of any body."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from dialect_conversations import conversations, moments
from dialect_requests import LIST, REQUESTS, ask, assistant, user
from hypothesis import given
from hypothesis import strategies as st
from mino_core import Message, Settings, Text
from mino_core.testing import Server, chat, messages, responses
from mino_core.transport import Settled, Stretch
from mino_core.transport.bodies import encoded

import mino_anthropic.messages_request
import mino_openai.chat_request
import mino_openai.responses_request

DIALECTS = {
    "chat": mino_openai.chat_request,
    "responses": mino_openai.responses_request,
    "messages": mino_anthropic.messages_request,
}
SPOKEN = {"openai-chat": chat, "openai-responses": responses, "anthropic-messages": messages}
each_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
#: What may have happened to the messages between two requests, besides that there are more of them.
CHANGES = st.sampled_from(["nothing", "others", "the first are gone", "one is gone", "another model", "told"])


@each_dialect
@given(st.data())
def test_a_body_is_the_same_whatever_was_encoded_before(dialect, data):
    messages = data.draw(conversations(tidy=False)) + data.draw(conversations()) + data.draw(conversations())
    settled, request = Settled(), ask(tools=(LIST,), instructions="Be brief.")
    n = 0
    while later := [moment for moment in moments(messages) if moment > n]:
        n = later[0]
        match data.draw(CHANGES):
            case "others":  # that are equal
                messages = [Message(one.role, one.parts, dict(one.meta)) for one in messages]
            case "the first are gone":
                gone = data.draw(st.integers(0, n - 1))
                messages, n = messages[gone:], n - gone
            case "one is gone":
                del messages[data.draw(st.integers(0, n - 1))]
                n -= 1
            case "another model":
                request = replace(request, model="other")
            case "told":
                request = replace(request, instructions=data.draw(st.sampled_from(["", "Be long."])))
        request = replace(request, messages=tuple(messages[:n]))
        remembering, forgetful = dialect.encode(request, settled=settled), dict(dialect.encode(request))
        assert remembering == forgetful
        plain = {
            key: list(value) if key in ("messages", "input") else value for key, value in forgetful.items()
        }
        assert encoded(remembering) == encoded(plain)


@each_dialect
@pytest.mark.parametrize("name", REQUESTS)
def test_a_body_is_the_same_the_second_time(dialect, name):
    settled = Settled()
    first = encoded(dialect.encode(REQUESTS[name], settled=settled))
    assert encoded(dialect.encode(REQUESTS[name], settled=settled)) == first


def test_in_a_long_conversation_only_its_last_questions_are_encoded_again():
    settled, seen = Settled(), []

    def pieces(stretch: Stretch) -> list[str]:
        seen.append((len(stretch.messages), stretch.is_beginning, stretch.is_end))
        return [message.text for message in stretch.messages]

    said = [message for n in range(500) for message in (user(f"{n}?"), assistant(Text(f"{n}.")))]
    for end in (1, 3, 5, 501, 503):
        assert settled.encode(said[:end], "", pieces) == [message.text for message in said[:end]]
    assert seen == [
        (1, True, True),
        (3, True, True),
        (2, True, False),
        (3, False, True),
        (496, False, False),
        (3, False, True),
        (2, False, False),
        (3, False, True),
    ]


@each_dialect
@pytest.mark.parametrize("nothing", [user(" "), Message("user", ()), assistant(Text("\n"))], ids=repr)
def test_what_says_nothing_settles_nothing(dialect, nothing):
    said = [user("1?"), assistant(Text("1.")), nothing, assistant(Text("and 2.")), user("3?"), nothing]
    said += [assistant(Text("3.")), user("4?"), assistant(Text("4.")), user("5?")]
    settled = Settled()
    for n in range(1, len(said) + 1):
        request = ask(*said[:n])
        assert dialect.encode(request, settled=settled) == dialect.encode(request)
        assert encoded(dialect.encode(request, settled=settled)) == encoded(dict(dialect.encode(request)))


@pytest.mark.parametrize("kind", SPOKEN)
def test_a_provider_writes_no_more_json_for_a_question_than_that_question_takes(kind, monkeypatch):
    offered = {**mino_openai.mino_providers(), **mino_anthropic.mino_providers()}
    said = [message for n in range(200) for message in (user(f"{n}?"), assistant(Text("word " * 100)))]
    written = []

    def dumps(*args, real=json.dumps, **options):
        written.append(real(*args, **options))
        return written[-1]

    with Server() as server, closing(offered[kind](Settings({"base_url": server.url}, environ={}))) as made:
        server.reply(*SPOKEN[kind]("Yes."))
        server.reply(*SPOKEN[kind]("Yes."))
        list(made.stream(ask(*said, user("one more?"))))
        monkeypatch.setattr(json, "dumps", dumps)
        list(made.stream(ask(*said, user("one more?"), assistant(Text("Yes.")), user("another?"))))
        assert len(server.requests[1].body) > 100_000
    assert sum(map(len, written)) < 5000


@each_dialect
def test_a_question_that_is_taken_out_lets_the_replies_around_it_be_one(dialect):
    said = [message for n in range(4) for message in (user(f"{n}?"), assistant(Text(f"{n}.")))]
    settled = Settled()
    for asked in (said[:7], [*said[:4], *said[5:7]], said[1:7]):
        request = ask(*asked)
        assert dialect.encode(request, settled=settled) == dialect.encode(request)
