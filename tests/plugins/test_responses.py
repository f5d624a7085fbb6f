"""The provider `openai-responses` against a server."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from dialect_requests import REQUESTS, ask, body, user
from mino_core import ConfigError, Finished, ProviderError, Settings, TextDelta
from mino_core.testing import CUT, Server, error_event, responses

import mino_openai
from mino_openai.responses import Responses


def made(server: Server, **settings: object) -> Responses:
    return Responses(Settings({"base_url": f"{server.url}/v1", **settings}, environ={}))


def test_the_plugin_offers_it():
    with Server() as server:
        table = Settings({"base_url": server.url}, environ={})
        with closing(mino_openai.mino_providers()["openai-responses"](table)) as provider:
            assert list(provider.models()) == ["demo-1"]


def test_a_request_goes_out_as_written_and_each_delta_comes_before_the_next_is_sent():
    gate = threading.Event()
    with Server(strict="responses") as server:
        server.reply(*responses("Hel", gate, "lo"))
        with closing(made(server, api_key="sk-1")) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            assert next(deltas) == TextDelta("Hel")
            gate.set()
            assert next(deltas) == TextDelta("lo")
            assert [delta for delta in deltas if isinstance(delta, Finished)] == [
                Finished("stop", "completed")
            ]
        sent = server.requests[0]
        assert (sent.method, sent.path) == ("POST", "/v1/responses")
        assert sent.headers["authorization"] == "Bearer sk-1"
        assert sent.json == body("responses", "plain")


def test_settings_reach_the_body():
    with Server(strict="responses") as server:
        server.reply(*responses("Hi"))
        settings = {
            "effort": "low",
            "max_tokens": 100,
            "strip_item_ids": True,
            "extra_body": {"truncation": "auto"},
        }
        with closing(made(server, **settings)) as provider:
            list(provider.stream(REQUESTS["reasoning"]))
        sent = server.requests[0].json
        assert sent["reasoning"] == {"effort": "low"}
        assert sent["max_output_tokens"] == 100
        assert sent["truncation"] == "auto"
        assert "rs_1" not in str(sent)


def test_every_known_setting_is_read_when_it_is_made():
    table = {"base_url": "http://127.0.0.1:1", "effort": "low", "max_tokens": 1, "strip_item_ids": True}
    settings = Settings(table, environ={})
    Responses(settings).close()
    assert settings.unread() == []


@pytest.mark.parametrize(
    "bad", [{"effort": 1}, {"max_tokens": "x"}, {"max_tokens": 0}, {"strip_item_ids": "no"}]
)
def test_a_wrong_setting_is_named(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Responses(Settings({"base_url": "http://127.0.0.1:1", **bad}, environ={}))


def test_half_a_character_in_the_history_is_replaced_on_the_wire():
    with Server(strict="responses") as server:
        server.reply(*responses("Hi"))
        with closing(made(server)) as provider:
            list(provider.stream(ask(user("a\ud83db"), instructions="\ud83d")))
        sent = server.requests[0].json
        assert sent["input"] == [{"role": "user", "content": "a\ufffdb"}]
        assert sent["instructions"] == "\ufffd"


def test_a_connection_that_breaks_is_no_end():
    with Server() as server:
        server.reply(*responses("Hal", finish=None), CUT)
        with closing(made(server)) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            assert next(deltas) == TextDelta("Hal")
            with pytest.raises(ProviderError) as raised:
                next(deltas)
        assert raised.value.kind == "stream"


def test_an_error_in_the_stream_is_told_in_the_servers_words():
    with Server() as server:
        server.reply(
            *responses("Hal", finish=None), error_event("responses", "Slow down.", "rate_limit_exceeded")
        )
        with closing(made(server)) as provider, pytest.raises(ProviderError, match=r"Slow down\."):
            list(provider.stream(REQUESTS["plain"]))


def test_giving_up_an_answer_closes_its_connection():
    gate = threading.Event()
    with Server() as server:
        server.reply(*responses("Hal", gate, "lo"))
        with closing(made(server)) as provider:
            deltas = provider.stream(REQUESTS["plain"])
            next(deltas)
            deltas.close()
            server.wait_for_close()
