"""What a strict server of each dialect refuses, and a server that counts what it was sent.

Real servers differ in what they let pass; a body without any of these faults passes everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mino_core.types import Usage

from .steps import Step
from .streams import Dialect, stream

if TYPE_CHECKING:
    from .connection import Received

Json = Mapping[str, Any]

_COMMON = {"model", "stream", "tools", "tool_choice", "temperature", "top_p", "metadata", "service_tier"}
_KNOWN = {
    "chat": {
        *("messages", "stream_options", "max_tokens", "max_completion_tokens", "reasoning_effort", "stop"),
        *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "n", "seed"),
        *("response_format", "parallel_tool_calls", "store", "user", "verbosity", "prompt_cache_key"),
    },
    "responses": {
        *(
            "input",
            "instructions",
            "store",
            "max_output_tokens",
            "reasoning",
            "text",
            "include",
            "background",
        ),
        *("parallel_tool_calls", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
        *("stream_options", "truncation", "safety_identifier", "previous_response_id", "max_tool_calls"),
    },
    "messages": {
        *("messages", "max_tokens", "system", "thinking", "output_config", "stop_sequences", "top_k"),
        *("cache_control", "speed", "container", "mcp_servers", "context_management"),
    },
}


def problems(dialect: Dialect, body: bytes) -> list[str]:
    """A sentence for each thing wrong with a request's body; none where nothing is."""
    try:
        text = body.decode()
        value = json.loads(text)
    except ValueError as error:
        return [f"the body is no JSON in UTF-8: {error}"]
    if not isinstance(value, dict):
        return ["the body is no object"]
    check = {"chat": _chat, "responses": _responses, "messages": _messages}[dialect]
    try:
        return [*_everywhere(dialect, value), *check(value)]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return [f"the body has another shape than a {dialect} request: {error!r}"]


def counting(dialect: Dialect, *texts: str) -> Callable[[Received], list[Step]]:
    """An answer for `Server.answer` that says `texts` and counts every word it was sent and says.

    Input tokens are the words of the instructions and of all messages, output tokens those of the
    answer. So where a conversation is sent whole,
    input(n) = input(n-1) + output(n-1) + question(n).
    """

    def answer(request: Received) -> list[Step]:
        came = sum(len(text.split()) for text in said(request.json))
        gone = sum(len(text.split()) for text in texts)
        usage = Usage(input_tokens=came, output_tokens=gone, total_tokens=came + gone)
        return stream(dialect, *texts, usage=usage)

    return answer


def said(body: Json) -> Iterator[str]:
    """The words in a request's body, in order: instructions, then every message's texts."""
    for whole in (body.get("system"), body.get("instructions"), body.get("input"), body.get("messages")):
        yield from _texts(whole)


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case {"content": content}:
            yield from _texts(content)
        case {"text": str(text)} | {"refusal": str(text)} | {"output": str(text)}:
            yield text


# -- the rules of all three --------------------------------------------------------------------


def _everywhere(dialect: Dialect, body: Json) -> Iterator[str]:
    for key in sorted(set(body) - _COMMON - _KNOWN[dialect]):
        yield f"{key}: unknown field"
    if not isinstance(body.get("model"), str) or not body["model"].strip():
        yield "model: must be a name"
    if "tools" in body and not body["tools"]:
        yield "tools: must not be empty"
    if any(map(_halved, _strings(body))):
        yield "the body holds half a surrogate pair"
    if dialect != "responses" and not body["messages"]:
        yield "messages: must not be empty"


def _halved(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _blank(at: str, content: object) -> Iterator[str]:
    """Faults of one message's content: a text, or parts."""
    if isinstance(content, str):
        if not content.strip():
            yield f"{at}: content must not be blank"
        return
    if not isinstance(content, list) or not content:
        yield f"{at}: content must be a text or a list of parts"
        return
    for part in content:
        if "text" in str(part["type"]) and not part["text"].strip():
            yield f"{at}: a text part must not be blank"


# -- chat completions --------------------------------------------------------------------------


def _chat(body: Json) -> Iterator[str]:
    waiting: set[str] = set()  # tool calls that still need their result
    before = ""
    for n, message in enumerate(body["messages"]):
        at, role = f"messages[{n}]", message["role"]
        calls = message.get("tool_calls")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            yield f"{at}: unknown role {role!r}"
        if role in ("system", "developer") and n > 0:
            yield f"{at}: {role} must come first, and once"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{at}: answers no tool call"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            yield f"{at}: tool calls {sorted(waiting)} were not answered"
            waiting = set()
        if role == before and role in ("user", "assistant"):
            yield f"{at}: {role} follows {role}; roles must alternate"
        if None in message.values() and not (calls and message.get("content") is None):
            yield f"{at}: must not hold null"
        if calls:
            waiting = {call["id"] for call in calls}
            if len(waiting) < len(calls):
                yield f"{at}: two tool calls share an id"
            for call in calls:
                yield from _name(at, call["function"]["name"])
                yield from _arguments(at, call["function"]["arguments"])
        if not (calls and message.get("content") is None) and role != "tool":
            yield from _blank(at, message.get("content"))
        before = role
    if waiting:
        yield f"tool calls {sorted(waiting)} were not answered"
    if before == "assistant":
        yield "the last message must not be the assistant's"


def _name(at: str, name: str) -> Iterator[str]:
    if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", name):
        yield f"{at}: {name!r} cannot be the name of a tool"


def _arguments(at: str, arguments: str) -> Iterator[str]:
    try:
        whole = isinstance(json.loads(arguments), dict)
    except ValueError:
        whole = False
    if not whole:
        yield f"{at}: the arguments of a tool call must be an object in JSON"


# -- responses ---------------------------------------------------------------------------------


def _responses(body: Json) -> Iterator[str]:
    items = body["input"]
    if isinstance(items, str):
        yield from _blank("input", items)
        return
    if not items:
        yield "input: must not be empty"
    called: set[str] = set()
    answered: set[str] = set()
    for n, item in enumerate(items):
        at = f"input[{n}]"
        match item.get("type", "message"):
            case "message":
                yield from _item_message(at, item)
            case "function_call":
                if item["call_id"] in called - answered:
                    yield f"{at}: two function calls share an id"
                called.add(item["call_id"])
                yield from _name(at, item["name"])
                yield from _arguments(at, item["arguments"])
                if len(item.get("id", "")) > 64:
                    yield f"{at}: id is longer than 64"
            case "function_call_output":
                if item["call_id"] not in called:
                    yield f"{at}: answers no function call"
                answered.add(item["call_id"])
            case "reasoning":
                if not item.get("encrypted_content") and body.get("store") is False:
                    yield f"{at}: reasoning without encrypted_content cannot be found again"
                if "status" in item and item["status"] is None:
                    yield f"{at}: status must not be null"
            case other:
                yield f"{at}: unknown type {other!r}"
    if lost := called - answered:
        yield f"function calls {sorted(lost)} were not answered"


def _item_message(at: str, item: Json) -> Iterator[str]:
    role, content = item["role"], item["content"]
    if role not in ("user", "assistant", "system", "developer"):
        yield f"{at}: unknown role {role!r}"
    yield from _blank(at, content)
    if isinstance(content, list):
        fitting = (
            {"output_text", "refusal"} if role == "assistant" else {"input_text", "input_image", "input_file"}
        )
        for part in content:
            if part["type"] not in fitting:
                yield f"{at}: {part['type']} does not fit the role {role}"


# -- messages ----------------------------------------------------------------------------------


def _messages(body: Json) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: must be a number from 1 up"
    if "system" in body:
        yield from _blank("system", body["system"])
    if json.dumps(body).count('"cache_control"') > 4:
        yield "cache_control: more than 4 marks"
    before = "assistant"
    calls: list[str] = []  # what the message before asked for
    used: set[str] = set()
    for n, message in enumerate(body["messages"]):
        at, role, content = f"messages[{n}]", message["role"], message["content"]
        if role not in ("user", "assistant"):
            yield f"{at}: unknown role {role!r}"
        if role == before:
            yield f"{at}: {'user must come first' if n == 0 else 'roles must alternate'}"
        yield from _blank(at, content)
        blocks = content if isinstance(content, list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(calls):
            yield f"{at}: tool results for {sorted(results)}, but the calls were {sorted(calls)}"
        kinds = [block["type"] == "tool_result" for block in blocks]
        if sorted(kinds, reverse=True) != kinds:
            yield f"{at}: tool results must come first"
        for block in blocks:
            if block["type"] == "thinking" and not block.get("signature"):
                yield f"{at}: thinking without its signature"
            if block["type"] == "tool_use":
                yield from _name(at, block["name"])
                if not isinstance(block["input"], dict):
                    yield f"{at}: the input of a tool call must be an object"
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(used | set(calls)) < len(used) + len(calls):
            yield f"{at}: two tool calls share an id"
        used |= set(calls)
        before = role
    if before == "assistant":
        yield "the last message must be the user's"
