"""The bridge against the real `llm`, with the models of `llm-echo` and a few of our own."""

import json
from base64 import b64encode

import llm
import pytest
from llm.parts import StreamEvent
from mino_core import (
    Finished,
    Image,
    Message,
    ProviderError,
    Reasoning,
    ReasoningDelta,
    Request,
    Settings,
    Text,
    TextDelta,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)
from mino_core.testing import run
from mino_llm.provider import NOT_TOLD, Llm

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No keys and no settings of the person who runs this."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    monkeypatch.delenv("LLM_ECHO_NEEDS_KEY_KEY", raising=False)


def user(*parts):
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def model(*parts, meta=None):
    return Message(
        "assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts), meta or {}
    )


def request(*messages, name="echo", instructions="Be brief.", **more):
    return Request(name, instructions, messages or (user("hi"),), **more)


def deltas(asked, **settings):
    return list(Llm(Settings(settings)).stream(asked))


def text(found):
    return "".join(delta.text for delta in found if isinstance(delta, TextDelta))


def echoed(asked, **settings):
    """What the model was given, as it says itself."""
    return json.loads(text(deltas(asked, **settings)))


def test_a_question_is_answered_and_counted():
    found = deltas(request())
    assert json.loads(text(found))["prompt"] == "hi"
    assert json.loads(text(found))["system"] == "Be brief."
    (usage,) = [delta for delta in found if isinstance(delta, Usage)]
    assert usage.input_tokens == 3
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    assert usage.cache_read_tokens is None


def test_it_is_honest_about_how_the_answer_ended():
    assert deltas(request())[-1] == Finished("stop", "", NOT_TOLD)
    assert "cut short" in Llm.note


def test_earlier_turns_are_there_for_models_that_read_responses():
    asked = request(user("one"), model("first answer"), user("two"), model("second answer"), user("three"))
    assert echoed(asked)["previous"] == [{"prompt": "one"}, {"prompt": "two"}]


def test_earlier_turns_are_there_for_models_that_read_messages(own):
    deltas(request(user("one"), model("first answer"), user("two"), name="own"))
    shown = [(m.role, [part.text for part in m.parts]) for m in own.prompts[0].messages]
    assert shown == [
        ("system", ["Be brief."]), ("user", ["one"]), ("assistant", ["first answer"]), ("user", ["two"]),
    ]  # fmt: skip


def test_reasoning_is_told_apart_and_options_arrive():
    found = deltas(request(options={"thinking": True}))
    thought = "".join(delta.text for delta in found if isinstance(delta, ReasoningDelta))
    assert thought.startswith("First I consider")
    assert "First I consider" not in text(found)


@pytest.mark.parametrize(("options", "words"), [({"no_such": 1}, "no_such"), ({"thinking": "x"}, "thinking")])
def test_options_that_a_model_does_not_know_are_one_sentence(options, words):
    with pytest.raises(ProviderError, match=words) as told:
        deltas(request(options=options))
    assert told.value.kind == "config"
    assert "\n" not in told.value.message


def test_images_arrive():
    asked = request(user("look", Image("image/png", b64encode(PNG).decode())))
    (shown,) = echoed(asked)["attachments"]
    assert shown["type"] == "image/png"


def test_an_image_for_a_model_that_takes_none_is_one_sentence(own):
    with pytest.raises(ProviderError, match="does not support attachments"):
        deltas(request(user("look", Image("image/png", b64encode(PNG).decode())), name="own"))


# -- tools -------------------------------------------------------------------------------------

LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}}, print)


def test_a_tool_is_called_and_its_result_goes_back():
    wish = {"prompt": "x", "tool_calls": [{"name": "look", "arguments": {"path": "é"}}]}
    found = deltas(request(user(json.dumps(wish)), tools=(LOOK,)))
    (call,) = [delta for delta in found if isinstance(delta, ToolCall)]
    assert (call.name, call.parsed) == ("look", {"path": "é"})
    assert found[-1].reason == "tool_calls"
    asked = request(
        user("look at it"), model(call), Message("tool", (ToolResult(call.id, "is a file"),)), tools=(LOOK,)
    )
    told = echoed(asked)
    assert told["tool_results"] == [{"name": "look", "output": "is a file", "tool_call_id": call.id}]
    assert told["previous"] == [{"prompt": "look at it"}]


def test_a_model_without_tools_is_not_told_of_any(own):
    assert text(deltas(request(name="own", tools=(LOOK,)))) == "said"
    assert own.prompts[0].tools == []


# -- keys --------------------------------------------------------------------------------------


def test_a_key_of_ours_goes_first_then_the_one_that_llm_keeps(tmp_path, monkeypatch):
    asked = request(name="echo-needs-key")
    with pytest.raises(ProviderError, match=r"llm keys set echo-needs-key.*or set api_key") as told:
        deltas(asked)
    assert told.value.kind == "auth"
    monkeypatch.setenv("LLM_ECHO_NEEDS_KEY_KEY", "from-the-variable")
    assert echoed(asked)["key"] == "from-the-variable"
    (tmp_path / "keys.json").write_text('{"echo-needs-key": "kept-by-llm"}')
    assert echoed(asked)["key"] == "kept-by-llm"
    assert echoed(asked, api_key="our-own-key")["key"] == "our-own-key"


# -- models of our own: what echo cannot show --------------------------------------------------


class Own(llm.Model):
    """Plays a script; `prompts` are those that came."""

    model_id = "own"
    can_stream = True

    def __init__(self):
        self.prompts, self.script, self.told, self.closed = [], ["said"], None, False

    def execute(self, prompt, stream, response, conversation=None):
        self.prompts.append(prompt)
        response.response_json = self.told
        try:
            for item in self.script:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.closed = True


@pytest.fixture
def own(monkeypatch):
    made = Own()
    real = llm.get_model
    monkeypatch.setattr(llm, "get_model", lambda name: made if name == "own" else real(name))
    return made


@pytest.mark.parametrize(
    ("told", "reason", "raw"),
    [
        ({"finish_reason": "length"}, "length", "length"),
        ({"choices": [{"finish_reason": "stop"}]}, "stop", "stop"),
        ({"stop_reason": "max_tokens"}, "length", "max_tokens"),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length", "MAX_TOKENS"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "filter", "SAFETY"),
        ({"object": "response", "status": "completed"}, "stop", "completed"),
        (
            {
                "object": "response",
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            "length",
            "max_output_tokens",
        ),
        ({"finish_reason": "something_new"}, "filter", "something_new"),
        ({"finish_reason": None}, "stop", ""),
        (None, "stop", ""),
        ({"choices": []}, "stop", ""),
    ],
)
def test_where_a_plugin_leaves_the_reason_behind_it_holds(own, told, reason, raw):
    own.told = told
    ended = deltas(request(name="own"))[-1]
    assert (ended.reason, ended.raw_reason) == (reason, raw)
    assert ended.detail == ("" if raw else NOT_TOLD)


class Overloaded(Exception):
    status_code = 529


def test_a_failure_before_the_first_word_and_one_after_it(own):
    own.script = [Overloaded("too many")]
    with pytest.raises(ProviderError, match="too many") as told:
        deltas(request(name="own"))
    assert (told.value.kind, told.value.status) == ("http", 529)
    own.script = ["half an ans", ConnectionResetError("gone")]
    with pytest.raises(ProviderError, match="ConnectionResetError: gone") as told:
        deltas(request(name="own"))
    assert told.value.kind == "stream"


def test_closing_the_stream_closes_the_models(own):
    own.script = ["one", "two"]
    stream = Llm(Settings({})).stream(request(name="own"))
    assert next(stream) == TextDelta("one")
    stream.close()
    assert own.closed


def test_what_has_to_go_back_as_it_came_does(own):
    signed = {"anthropic": {"signature": "abc"}}
    own.script = [
        StreamEvent(type="reasoning", chunk="hm", provider_metadata=signed),
        StreamEvent(type="text", chunk="said"),
    ]
    ended = deltas(request(name="own"))[-1]
    reply = model(Reasoning("hm"), "said", meta=ended.meta)
    deltas(request(user("hi"), reply, user("more"), name="own"))
    thought, said = own.prompts[1].messages[2].parts
    assert (thought.text, thought.provider_metadata, said.text) == ("hm", signed, "said")
    json.dumps(ended.meta)


def test_another_model_gets_the_words_and_no_signature(own):
    reply = model(
        Reasoning("hm"), "said", meta={"llm": {"model": "other", "messages": [{"role": "assistant"}]}}
    )
    deltas(request(user("hi"), reply, user("more"), name="own"))
    assert [part.text for part in own.prompts[0].messages[2].parts] == ["said"]


def test_an_unknown_model_is_one_sentence():
    with pytest.raises(ProviderError, match="llm has no model 'nothing'; `mino models llm` lists them"):
        deltas(request(name="nothing"))


# -- in mino -----------------------------------------------------------------------------------


def test_mino_answers_with_it(mino_home):
    done = run(["--provider", "llm", "--model", "echo", "-s", "Be.", "-p", "hi"], mino_home)
    assert done.code == 0
    assert json.loads(done.out)["prompt"] == "hi"
    assert json.loads(done.out)["system"] == "Be."
    assert "echo" in run(["models", "llm"], mino_home).out.split()
    done = run(["plugins", "check", "llm"], mino_home)
    assert (done.code, done.err) == (0, "")


def test_mino_starts_without_importing_llm(mino_home):
    listed = json.loads(run(["plugins", "info", "llm", "--json"], mino_home).out)
    assert listed[0]["import_ms"] < 50
