"""The provider `openai-chat` on a loopback server."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from dialect_requests import ask, assistant, user
from mino_core import (
    ConfigError,
    Finished,
    Message,
    ProviderError,
    Reasoning,
    ReasoningDelta,
    Settings,
    Text,
    TextDelta,
)
from mino_core.testing import ProviderConformance, Server
from mino_core.testing import chat as chat_stream

from mino_openai import mino_providers
from mino_openai.chat import Chat
from mino_openai.chat_events import decode
from mino_openai.chat_request import encode

REQUEST = ask(user("Hi"))


class TestChatKeepsEveryPromise(ProviderConformance):
    dialect = "chat"

    def provider(self, settings: Settings) -> Chat:
        return Chat(settings)


def chat(url: str = "", **settings: Any) -> Chat:
    table = {"base_url": url, **settings} if url else settings
    return Chat(Settings(table, environ={}, path="providers.demo"))


def test_the_kind_is_offered_under_its_name() -> None:
    made = mino_providers()["openai-chat"](Settings({}, environ={}))
    assert isinstance(made, Chat)


def test_a_question_is_answered_delta_by_delta() -> None:
    gate = Event()
    with Server(strict="chat") as server, closing(chat(f"{server.url}/v1", api_key="sk-demo-key")) as made:
        server.reply(*chat_stream("Hel", gate, "lo"))
        stream = made.stream(REQUEST)
        assert next(stream) == TextDelta("Hel")
        gate.set()
        assert next(stream) == TextDelta("lo")
        assert server.requests[0].path == "/v1/chat/completions"
        assert server.requests[0].headers["authorization"] == "Bearer sk-demo-key"


def test_closing_the_stream_closes_the_connection() -> None:
    with Server() as server, closing(chat(server.url)) as made:
        server.reply(*chat_stream("Hel", Event()))
        stream = made.stream(REQUEST)
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        server.wait_for_close()


def test_every_key_is_read_when_the_provider_is_made() -> None:
    table = {
        "base_url": "https://x/v1",
        "read_timeout": 1,
        "include_usage": False,
        "trust_done": True,
        "think_tags": True,
        "think_open": False,
        "max_tokens": 5,
        "max_tokens_field": "max_tokens",
        "effort": "low",
        "auth": "bearer",
        "api_key": "k-demo",
        "extra_body": {"a": 1},
        "extra_headers": {"b": "c"},
        "proxy": "",
        "ca_file": "",
        "allow_http": False,
    }
    settings = Settings(table, environ={})
    Chat(settings)
    assert settings.unread() == []
    with pytest.raises(ConfigError, match="include_usage"):
        chat(include_usage="no")


def test_settings_go_into_the_body_and_options_over_them() -> None:
    settings = {
        "max_tokens": 5,
        "effort": "low",
        "include_usage": False,
        "extra_body": {"seed": 1, "top_p": 1},
    }
    with Server() as server, closing(chat(server.url, **settings)) as made:
        server.reply(*chat_stream("a"))
        list(made.stream(ask(user("Hi"), options={"top_p": 0.5})))
        sent = server.requests[0].json
    assert sent == {
        "model": "demo",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "max_tokens": 5,
        "reasoning_effort": "low",
        "seed": 1,
        "top_p": 0.5,
    }


@pytest.mark.parametrize(
    ("url", "field", "has_tags", "thinks"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens", False, False),
        ("https://me.openai.azure.com/openai/v1", "max_completion_tokens", False, False),
        ("https://api.deepseek.com", "max_tokens", False, True),
        ("https://api.moonshot.cn/v1", "max_tokens", False, True),
        ("https://notopenai.com/v1", "max_tokens", True, False),
        ("http://127.0.0.1:8080/v1", "max_tokens", True, False),
        ("https://llm.example.com/v1", "max_tokens", True, False),
    ],
)
def test_a_host_decides_what_is_not_set(url: str, field: str, has_tags: bool, thinks: bool) -> None:
    made = chat(url, max_tokens=5)
    request = replace(REQUEST, messages=(*REQUEST.messages, Message("assistant", (Text("a"),))))
    sent = encode(request, **made._encoding)
    assert sent[field] == 5
    assert ("reasoning_content" in sent["messages"][-1]) == thinks
    thought = '{"choices": [{"delta": {"content": "<think>hm</think>So."}}]}'
    expected = [ReasoningDelta("hm"), TextDelta("So.")] if has_tags else [TextDelta("<think>hm</think>So.")]
    assert list(decode([("", thought)], **made._decoding)) == expected


@pytest.mark.parametrize(
    "bad",
    [{"max_tokens": 0}, {"max_tokens": 1e12}, {"effort": 1}, {"include_usage": "no"}, {"trust_done": 1}],
)
def test_a_wrong_setting_is_named(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        chat("http://127.0.0.1:1", **bad)


def test_models_are_listed() -> None:
    with Server(models=["a", "b"]) as server, closing(chat(f"{server.url}/v1")) as made:
        assert list(made.models()) == ["a", "b"]
        assert server.requests[0].path == "/v1/models"


def test_thoughts_go_back_to_the_host_they_came_from() -> None:
    delta = {"reasoning_content": "hm", "content": "So."}
    body = json.dumps({"choices": [{"delta": delta, "finish_reason": "stop"}]})
    with Server(strict="chat") as server, closing(chat(server.url)) as made:
        server.answer(lambda request: [f"data: {body}\n\n".encode()])
        *_, finished = made.stream(REQUEST)
        assert isinstance(finished, Finished)
        thought = assistant(Reasoning("hm"), Text("So."))
        list(made.stream(ask(user("Hi"), replace(thought, meta=finished.meta), user("And?"))))
        assert server.requests[1].json["messages"][1] == {
            "role": "assistant",
            "content": "So.",
            "reasoning_content": "hm",
        }


def test_a_refused_stream_option_says_what_to_set() -> None:
    with Server() as server, closing(chat(server.url)) as made:
        server.fail(400, "Unrecognized request argument supplied: stream_options")
        with pytest.raises(ProviderError, match="include_usage = false"):
            list(made.stream(REQUEST))


def test_an_error_in_the_stream_carries_the_id_of_its_request() -> None:
    with Server() as server, closing(chat(server.url)) as made:
        server.reply(b'data: {"error": {"message": "boom"}}\n\n', headers={"x-request-id": "req_5"})
        with pytest.raises(ProviderError, match="boom") as caught:
            list(made.stream(REQUEST))
    assert caught.value.request_id == "req_5"
    assert caught.value.message == "boom (request req_5)"
