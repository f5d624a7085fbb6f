"""The provider `anthropic-messages` against a server."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from dialect_requests import REQUESTS, ask, body, user
from mino_core import ConfigError, Finished, ProviderError, Settings, TextDelta
from mino_core.testing import CUT, Server, error_event, messages

import mino_anthropic
from mino_anthropic.messages import Messages


def made(server: Server, **settings: object) -> Messages:
    return Messages(Settings({"base_url": server.url, **settings}, environ={}))


def sent_by(request, **settings):
    """What reaches the server."""
    with Server(strict="messages") as server:
        server.reply(*messages("Hi"))
        with closing(made(server, **settings)) as provider:
            list(provider.stream(request))
        return server.requests[0]


def test_the_plugin_offers_it():
    with Server() as server:
        table = Settings({"base_url": server.url}, environ={})
        with closing(mino_anthropic.mino_providers()["anthropic-messages"](table)) as provider:
            assert list(provider.models()) == ["demo-1"]


def test_a_request_goes_out_as_written_and_each_delta_comes_before_the_next_is_sent():
    gate = threading.Event()
    with Server(strict="messages") as server:
        server.reply(*messages("Hel", gate, "lo"))
        with closing(made(server, api_key="sk-1")) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            assert next(deltas) == TextDelta("Hel")
            gate.set()
            assert next(deltas) == TextDelta("lo")
            assert [delta for delta in deltas if isinstance(delta, Finished)] == [
                Finished("stop", "end_turn")
            ]
        sent = server.requests[0]
        assert (sent.method, sent.path) == ("POST", "/v1/messages")
        assert sent.headers["x-api-key"] == "sk-1"
        assert "authorization" not in sent.headers
        assert sent.json == body("messages", "plain")


def test_the_key_may_go_as_a_bearer():
    headers = sent_by(REQUESTS["plain"], api_key="sk-1", auth="bearer").headers
    assert headers["authorization"] == "Bearer sk-1"
    assert "x-api-key" not in headers


def test_settings_reach_the_body():
    settings = {"effort": "low", "max_tokens": 100, "cache": False, "extra_body": {"speed": "fast"}}
    sent = sent_by(REQUESTS["plain"], **settings).json
    assert sent["output_config"] == {"effort": "low"}
    assert sent["max_tokens"] == 100
    assert sent["speed"] == "fast"
    assert "cache_control" not in str(sent)


def test_other_servers_get_the_version_that_all_know_and_a_setting_beats_it():
    assert sent_by(REQUESTS["plain"]).headers["anthropic-version"] == "2023-06-01"
    assert sent_by(REQUESTS["plain"], api_version="2026-10-21").headers["anthropic-version"] == "2026-10-21"


@pytest.mark.parametrize(
    ("options", "version"),
    [
        ({}, "2026-10-21"),
        ({"temperature": 1}, "2023-06-01"),
        ({"top_p": 1}, "2023-06-01"),
        ({"top_k": 1}, "2023-06-01"),
    ],
)
def test_the_official_server_gets_the_new_version_where_no_option_forbids_it(options, version):
    with closing(Messages(Settings({}, environ={}))) as provider:
        assert provider.headers(options) == {"anthropic-version": version}


def test_every_known_setting_is_read_when_it_is_made():
    table = {"max_tokens": 1, "effort": "low", "cache": False, "api_version": "x", "auth": "bearer"}
    settings = Settings(table, environ={})
    Messages(settings).close()
    assert settings.unread() == []


@pytest.mark.parametrize("bad", [{"max_tokens": "x"}, {"max_tokens": 0}, {"cache": 1}, {"auth": "basic"}])
def test_a_wrong_setting_is_named(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Messages(Settings(bad, environ={}))


def test_half_a_character_in_the_history_is_replaced_on_the_wire():
    sent = sent_by(ask(user("a\ud83db"), instructions="\ud83d")).json
    assert sent["messages"][0]["content"][0]["text"] == "a\ufffdb"
    assert sent["system"][0]["text"] == "\ufffd"


def test_a_connection_that_breaks_is_no_end():
    with Server() as server:
        server.reply(*messages("Hal", finish=None), CUT)
        with closing(made(server)) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            assert next(deltas) == TextDelta("Hal")
            with pytest.raises(ProviderError) as raised:
                next(deltas)
        assert raised.value.kind == "stream"


def test_a_connection_that_breaks_after_the_stop_reason_undoes_nothing():
    with Server() as server:
        server.reply(*messages("Hi", stop=False), CUT)
        with closing(made(server)) as provider:
            assert list(provider.stream(REQUESTS["plain"]))[-1] == Finished("stop", "end_turn")


def test_an_error_in_the_stream_is_told_in_the_servers_words():
    with Server() as server:
        server.reply(*messages("Hal", finish=None), error_event("messages", "Overloaded", "overloaded_error"))
        with closing(made(server)) as provider, pytest.raises(ProviderError, match="overloaded_error"):
            list(provider.stream(REQUESTS["plain"]))


def test_giving_up_an_answer_closes_its_connection():
    gate = threading.Event()
    with Server() as server:
        server.reply(*messages("Hal", gate, "lo"))
        with closing(made(server)) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            next(deltas)
            deltas.close()
            server.wait_for_close()
