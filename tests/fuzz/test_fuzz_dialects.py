"""Broken streams through the reader and the decoders: words or a sentence, and never a false success."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from broken_streams import broken, cut_up
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import Finished, Message, ProviderError, Request, Text, Tool, ToolResult
from mino_core.testing.strict import problems
from mino_core.transport.bodies import encoded
from mino_core.transport.foreign import fit
from mino_core.transport.sse import read_events
from wire.wire_harness import DIALECTS, decoder, result_of

USER = Message("user", (Text("hi"),))

dialects = pytest.mark.parametrize("dialect", DIALECTS)


@dialects
@settings(deadline=None)
@given(st.data())
def test_a_broken_stream_is_words_or_a_sentence(dialect: str, data: st.DataObject) -> None:
    body, options = data.draw(broken(dialect))
    decode = decoder(dialect, **options)
    deltas: list[Any] = []
    try:
        for delta in decode(read_events([body])):
            deltas.append(delta)  # noqa: PERF402 (what came before an error counts)
    except ProviderError as error:
        assert not any(isinstance(delta, Finished) for delta in deltas)
        told = fit(error).message
        assert told.strip()
        assert told.isprintable()
        assert len(told) < 300
    assert not any(isinstance(delta, Finished) for delta in deltas[:-1])
    for delta in deltas:
        getattr(delta, "text", "").encode()  # no half of a pair is left
    pieces = cut_up(data.draw, body)
    assert result_of(decode(read_events(pieces))) == result_of(decode(read_events([body])))


@dialects
@settings(deadline=None)
@given(st.data())
def test_a_stream_that_loses_its_terminals_is_never_complete(dialect: str, data: st.DataObject) -> None:
    body, options = data.draw(broken(dialect))
    result = result_of(decoder(dialect, **options)(_unfinished(list(read_events_of(body)))))
    assert result.outcome in ("interrupted", "failed")
    assert not result.tool_calls


@dialects
@settings(deadline=None)
@given(st.data())
def test_what_came_of_a_broken_stream_can_be_sent_again(dialect: str, data: st.DataObject) -> None:
    """The next request is one that a strict server takes."""
    body, options = data.draw(broken(dialect))
    result = result_of(decoder(dialect, **options)(read_events([body])))
    package, module, _ = DIALECTS[dialect]
    encode = import_module(f"{package}.{module}_request").encode
    told = [Message("tool", (ToolResult(call["id"], "done"),)) for call in result.tool_calls]
    message = result.message
    if result.outcome != "completed":  # then a session keeps no calls
        message, told = (
            Message("assistant", tuple(p for p in message.parts if hasattr(p, "text")), message.meta),
            [],
        )
    now = Tool("now", "Tells the time.", {"type": "object", "properties": {}}, str)
    sent = encoded(encode(Request("demo", "Be brief.", (USER, message, *told, USER), (now,))))
    assert problems(dialect, sent) == []  # type: ignore[arg-type]


def read_events_of(body: bytes) -> list[tuple[str, str]]:
    try:
        return list(read_events([body]))
    except ProviderError:
        return []


def _unfinished(events: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The events without any that can end an answer well."""
    marks = ('"finish_reason"', '"stop_reason"', "response.completed", "response.done", "response.incomplete")
    return [
        (name, data)
        for name, data in events
        if not any(mark in data or mark in name for mark in marks)
        and not name.startswith("\0")
        and json.dumps(data)
    ]
