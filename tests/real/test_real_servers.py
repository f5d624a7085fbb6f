"""Servers that nobody here wrote, asked as a session asks: llmock, aimock and llama.cpp.

What they send is judged by the same rules as any answer, and llmock judges us in turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from mino_core import Message, Request, Text, TextDelta, Tool, ToolResult
from mino_core.testing import home, run
from pointed import DIALECTS as KINDS
from real_servers import AIMOCK, LLMOCK, call, node_with, python_with, running
from wire.wire_harness import DIALECTS, Result, made_for, result_of

pytestmark = pytest.mark.real

dialects = pytest.mark.parametrize("dialect", DIALECTS)
WEATHER = Tool(
    "get_weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    str,
)
KEY = "sk-test-0123456789"
MODELS = {"chat": "gpt-4o", "responses": "gpt-4o", "messages": "claude-3-5-sonnet-20241022"}
QUESTION = "Explain in one sentence what an HTTP request is."


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def asked(dialect: str, url: str, *said: Message, tools: tuple[Tool, ...] = (), **settings: Any) -> Result:
    """What a session would keep of one answer."""
    options, model = settings.pop("options", {}), settings.pop("model", MODELS[dialect])
    with closing(made_for(dialect, url, **{"api_key": KEY, **settings})) as made:
        return result_of(made.stream(Request(model, "Be brief.", said, tools, options)))


# -- llmock ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llmock_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    python = python_with(pytestconfig.cache, "llmock", LLMOCK)
    argv = [str(python.with_name("llmock")), "serve", "--port", "0"]
    with running(argv, tmp_path_factory.mktemp("llmock"), r"running on (http://[\d.:]+)") as url:
        yield url


@pytest.fixture
def llmock(llmock_server: str) -> str:
    """The server, with nothing to do and nothing remembered."""
    call(f"{llmock_server}/_llmock/reset", "POST", {})
    return llmock_server


def at(llmock: str, dialect: str) -> str:
    return f"{llmock}/anthropic" if dialect == "messages" else f"{llmock}/v1"


def misbehave(llmock: str, **behavior: Any) -> None:
    call(f"{llmock}/_llmock/scenario", "POST", {"behaviors": [behavior]})


def blamed(llmock: str) -> set[str]:
    """What llmock finds to blame in how it was asked."""
    return {finding["code"] for finding in call(f"{llmock}/_llmock/verdict")["findings"]}


@dialects
def test_llmock_answers_with_usage(llmock: str, dialect: str) -> None:
    result = asked(dialect, at(llmock, dialect), user("Say hello."))
    assert (result.outcome, result.error) == ("completed", "")
    assert result.text.strip()
    assert result.usage is not None
    assert min(result.usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")) > 0
    assert blamed(llmock) == set()


@pytest.mark.parametrize("base", ["groq/openai", "mistral", "xai", "together", "perplexity", "ai21"])
def test_llmock_speaks_chat_with_the_accents_of_others(llmock: str, base: str) -> None:
    result = asked("chat", f"{llmock}/{base}/v1", user("Say hello."), model="some-model")
    assert (result.outcome, bool(result.text)) == ("completed", True)
    assert result.usage is not None
    assert blamed(llmock) == set()


@dialects
def test_llmock_calls_a_tool_and_takes_its_result(llmock: str, dialect: str) -> None:
    first = asked(dialect, at(llmock, dialect), user("Weather in Paris?"), tools=(WEATHER,))
    (wanted,) = first.tool_calls
    assert (first.outcome, wanted["name"], set(wanted["arguments"])) == ("completed", "get_weather", {"city"})
    told = Message("tool", (ToolResult(wanted["id"], "sunny"),))
    said = (user("Weather in Paris?"), first.message, told)
    second = asked(dialect, at(llmock, dialect), *said, tools=(WEATHER,))
    assert (second.outcome, bool(second.text)) == ("completed", True)
    assert blamed(llmock) == set()


@dialects
@pytest.mark.parametrize(
    ("kind", "outcome", "words"),
    [
        ("disconnect", "interrupted", "the connection broke before the answer was complete"),
        ("truncate", "interrupted", "the stream ended before completion"),
        ("malformed", "failed", "malformed JSON"),
        ("stall", "interrupted", "`read_timeout` can be raised"),
    ],
)
def test_llmock_breaks_streams_and_asking_again_helps(
    llmock: str, dialect: str, kind: str, outcome: str, words: str
) -> None:
    for chunks in (0, 1, 4, 6):
        question = user(f"Tell me {chunks} things.")
        whole = asked(dialect, at(llmock, dialect), question)
        misbehave(llmock, type="stream_fault", kind=kind, after_chunks=chunks, stall_seconds=5)
        broken = asked(dialect, at(llmock, dialect), question, read_timeout=1)
        assert (broken.outcome, words in broken.error) == (outcome, True), (chunks, broken.error)
        assert whole.text.startswith(broken.text)
        again = asked(dialect, at(llmock, dialect), question)
        assert (again.outcome, again.text) == ("completed", whole.text)
    # All of a short stream may be on its way before we close: then it cannot see that we stopped.
    assert blamed(llmock) <= ({"malformed_chunk_ignored"} if kind == "malformed" else set())


@dialects
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_llmock_refuses_for_now_and_says_for_how_long(llmock: str, dialect: str, status: int) -> None:
    misbehave(llmock, type="fail", status=status, retry_after=0.1, message="not now")
    refused = asked(dialect, at(llmock, dialect), user("Say hello."))
    assert refused.outcome == "failed"
    assert f"HTTP {status} from 127.0.0.1: " in refused.error
    assert "not now; ask again in 0.1 s" in refused.error
    Event().wait(0.2)  # what it asked for
    assert asked(dialect, at(llmock, dialect), user("Say hello.")).outcome == "completed"
    assert blamed(llmock) == set()


@dialects
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_llmock_refuses_for_good_and_is_asked_once(llmock: str, dialect: str, status: int) -> None:
    misbehave(llmock, type="fail", status=status, message="never")
    refused = asked(dialect, at(llmock, dialect), user(f"Is it {status}?"))
    assert (refused.outcome, "never" in refused.error) == ("failed", True)
    assert call(f"{llmock}/_llmock/verdict")["attempts"] == 1
    assert blamed(llmock) == set()


@dialects
@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_llmock_stops_early(llmock: str, dialect: str, reason: str) -> None:
    misbehave(llmock, type="reply", text="Half of", finish_reason=reason)
    result = asked(dialect, at(llmock, dialect), user("Say hello."))
    # Its Responses dialect says `completed` where a filter stopped; nothing on the wire tells.
    mute = dialect == "responses" and reason == "content_filter"
    assert (result.outcome, result.text) == ("completed" if mute else "incomplete", "Half of")


@dialects
@pytest.mark.parametrize("fault", ["malformed_arguments", "unknown_tool"])
def test_llmock_makes_calls_that_cannot_be_run(llmock: str, dialect: str, fault: str) -> None:
    misbehave(llmock, type="tool_fault", kind=fault)
    result = asked(dialect, at(llmock, dialect), user("Weather?"), tools=(WEATHER,))
    names = [one["name"] for one in result.tool_calls]
    assert names == ([] if fault == "malformed_arguments" else ["llmock_unknown_tool"])


@dialects
def test_llmock_lists_its_models(llmock: str, dialect: str) -> None:
    with closing(made_for(dialect, at(llmock, dialect), api_key=KEY)) as made:
        assert len(list(made.models())) > 2


@dialects
def test_the_program_itself_talks_to_llmock(llmock: str, dialect: str, tmp_path: Path) -> None:
    toml = f"""
[session]
provider = "demo"
[providers.demo]
kind = "{KINDS[dialect]}"
base_url = "{at(llmock, dialect)}"
model = "{MODELS[dialect]}"
api_key = "env:DEMO_KEY"
"""
    env = home(tmp_path, toml, DEMO_KEY=KEY)
    done = run(["-p", "Say hello."], env)
    assert (done.code, bool(done.out.strip())) == (0, True), done.err
    misbehave(llmock, type="stream_fault", kind="truncate", after_chunks=5)
    cut = run(["-p", "Say hello."], env)
    assert (cut.code, "the stream ended before completion" in cut.err) == (5, True)
    misbehave(llmock, type="fail", status=429, retry_after=0.1)
    assert run(["-p", "Say hello, please."], env).code == 3
    assert KEY not in done.err + cut.err


# -- aimock ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def aimock(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    modules = node_with(pytestconfig.cache, "aimock", AIMOCK)
    argv = [str(modules / ".bin/llmock"), "-p", "0", "-f", str(Path(__file__).with_name("aimock.json"))]
    with running(argv, tmp_path_factory.mktemp("aimock"), r"listening on (http://[\d.:]+)") as url:
        yield url


def ask_aimock(aimock: str, dialect: str, *said: Message, **rest: Any) -> Result:
    return asked(dialect, aimock if dialect == "messages" else f"{aimock}/v1", *said, **rest)


@dialects
def test_aimock_answers_in_every_script_with_usage(aimock: str, dialect: str) -> None:
    result = ask_aimock(aimock, dialect, user("Say hello"))
    assert (result.outcome, result.text) == ("completed", "Hello there. 你好，世界！ 😀")
    assert result.usage is not None
    assert (result.usage["input_tokens"], result.usage["output_tokens"]) == (21, 5)


@dialects
def test_aimock_thinks_and_its_thoughts_are_no_answer(aimock: str, dialect: str) -> None:
    result = ask_aimock(aimock, dialect, user("Please think"))
    assert (result.outcome, result.text, result.reasoning) == ("completed", "42.", "Let me think about it.")
    again = ask_aimock(aimock, dialect, user("Please think"), result.message, user("Say hello"))
    assert again.outcome == "completed"


@dialects
def test_aimock_is_sent_the_whole_conversation(aimock: str, dialect: str) -> None:
    first = ask_aimock(aimock, dialect, user("Say hello"))
    second = ask_aimock(aimock, dialect, user("Say hello"), first.message, user("What is my name?"))
    assert second.text == "Your name is Ada."
    before, after = (json.dumps(entry["body"]) for entry in call(f"{aimock}/__aimock/journal")[-2:])
    assert "Say hello" in before
    assert all(words in after for words in ("Be brief.", "Say hello", "Hello there.", "What is my name?"))


@dialects
def test_aimock_calls_two_tools_at_once(aimock: str, dialect: str) -> None:
    question = user("the weather in both")
    result = ask_aimock(aimock, dialect, question, tools=(WEATHER,))
    assert [one["arguments"]["city"] for one in result.tool_calls] == ["Paris", "Rome"]
    told = [Message("tool", (ToolResult(one["id"], "sunny"),)) for one in result.tool_calls]
    again = ask_aimock(aimock, dialect, question, result.message, *told, user("Say hello"), tools=(WEATHER,))
    assert again.outcome == "completed"


@dialects
@pytest.mark.parametrize(
    ("question", "outcome", "words"),
    [
        ("fail500", "failed", "boom"),
        ("fail429", "failed", "slow down"),
        ("a long story", "incomplete", "output limit"),
        ("cut me", "interrupted", ""),
        ("what nobody foresaw", "failed", "HTTP 404"),
        ("slowly", "completed", ""),
    ],
)
def test_aimock_ends_in_every_way(aimock: str, dialect: str, question: str, outcome: str, words: str) -> None:
    result = ask_aimock(aimock, dialect, user(question))
    assert (result.outcome, words in result.error) == (outcome, True), result.error


# -- llama.cpp -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama(model_cache: Path) -> Iterator[tuple[str, str]]:
    """The address and the key of the embedded model's server."""
    from mino_local import weights
    from mino_local.engine import Engine

    engine = Engine(weights.location({"XDG_CACHE_HOME": str(model_cache)}), 2048, 1)
    try:
        yield engine.url(120), engine.key
    finally:
        engine.close()


def ask_llama(llama: tuple[str, str], dialect: str, *said: Message, **rest: Any) -> Result:
    url, key = llama
    options = {"temperature": 0, **rest.pop("options", {})}
    limit = {"max_tokens": rest.pop("limit", 60)}
    base = url if dialect == "messages" else f"{url}/v1"
    return asked(
        dialect, base, *said, **{"api_key": key, "model": "local", "options": options, **limit, **rest}
    )


@dialects
def test_llama_answers_with_usage(llama: tuple[str, str], dialect: str) -> None:
    result = ask_llama(llama, dialect, user(QUESTION))
    assert (result.outcome, "HTTP" in result.text) == ("completed", True), (result.text, result.error)
    assert result.usage is not None
    assert result.usage["input_tokens"] > 20
    assert 5 < result.usage["output_tokens"] <= 60


@dialects
def test_llama_says_the_same_in_every_dialect(llama: tuple[str, str], dialect: str) -> None:
    assert ask_llama(llama, dialect, user(QUESTION)).text == ask_llama(llama, "chat", user(QUESTION)).text


@dialects
def test_llama_stops_at_the_limit(llama: tuple[str, str], dialect: str) -> None:
    result = ask_llama(llama, dialect, user(QUESTION), limit=3)
    # Its Responses dialect calls a cut answer completed; nothing on the wire tells but the count.
    assert result.outcome == ("completed" if dialect == "responses" else "incomplete")
    assert result.usage is not None
    assert result.usage["output_tokens"] == 3


@dialects
def test_llama_refuses_a_wrong_key_and_a_question_that_is_too_long(
    llama: tuple[str, str], dialect: str
) -> None:
    refused = ask_llama(llama, dialect, user(QUESTION), api_key="sk-wrong-0123456789")
    assert (refused.outcome, "the key came from api_key" in refused.error) == ("failed", True)
    assert "sk-wrong" not in refused.error
    too_long = ask_llama(llama, dialect, user("word " * 4000))
    assert (too_long.outcome, "exceed_context_size_error" in too_long.error) == ("failed", True)


@dialects
def test_llama_can_be_left_in_the_middle_and_asked_again(llama: tuple[str, str], dialect: str) -> None:
    url, key = llama
    base = url if dialect == "messages" else f"{url}/v1"
    with closing(made_for(dialect, base, api_key=key)) as made:
        request = Request("local", "", (user("Write a long story about the sea."),))
        for delta in (stream := made.stream(request)):
            if isinstance(delta, TextDelta):
                stream.close()
                break
        for n in range(6):  # a server that closes after each answer must never be raced
            short = replace(request, messages=(user(f"Say {n}."),), options={"temperature": 0})
            limit = "max_output_tokens" if dialect == "responses" else "max_tokens"
            result = result_of(made.stream(replace(short, options={limit: 5})))
            assert result.outcome in ("completed", "incomplete"), result.error


@dialects
def test_llama_may_begin_with_half_a_letter(llama: tuple[str, str], dialect: str) -> None:
    """At a high temperature emoji come, token by token, each a part of a character."""
    for seed in range(4):
        hot = {"temperature": 1.4, "seed": seed}
        result = ask_llama(llama, dialect, user("Answer with many emoji only: 😀🎉🌍"), options=hot, limit=24)
        assert result.outcome in ("completed", "incomplete"), result.error
        assert not any("\ud800" <= char <= "\udfff" for char in result.text)
