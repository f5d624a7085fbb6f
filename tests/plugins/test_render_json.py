"""The renderer `json`: one object a line, one line an event."""

from __future__ import annotations

import json

from mino_core import (
    Idle,
    ProviderError,
    SessionStarted,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Usage,
)
from mino_core.testing import Canvas

from mino_render.json_lines import JsonLines


def lines(*events):
    with Canvas(terminal=False) as canvas:
        renderer = JsonLines(canvas.screen)
        for event in events:
            renderer.show(event)
        renderer.close()
        assert canvas.aside == b""
        return [json.loads(line) for line in canvas.raw.decode().split("\n")[:-1]]


def test_an_event_is_one_line_of_its_type_and_fields():
    assert lines(SessionStarted("01J", "demo", "m"), TurnStarted(1, "a\nb\u2028c"), TextDelta("漢\x1b")) == [
        {
            "type": "session_started",
            "id": "01J",
            "provider": "demo",
            "model": "m",
            "banner": "",
            "quiet": False,
        },
        {"type": "turn_started", "turn": 1, "prompt": "a\nb\u2028c"},
        {"type": "text_delta", "text": "漢\x1b"},
    ]


def test_what_is_nested_is_an_object_too():
    call = lines(ToolCall("1", "look", "{}"), ToolEnded("1", ToolResult("1", "done"), 0.5))[1]
    assert call == {
        "type": "tool_ended",
        "call_id": "1",
        "result": {"call_id": "1", "content": "done", "is_error": False},
        "seconds": 0.5,
    }


def test_the_end_of_a_turn_tells_the_error_and_the_usage():
    error = ProviderError("http", "busy", status=529, request_id="r", retry_after=3.0)
    (ended,) = lines(TurnEnded(2, "failed", error, Usage(1, None, None, 2, None, 3), seconds=1.0))
    assert ended["type"] == "turn_ended"
    assert ended["outcome"] == "failed"
    assert ended["error"] == {
        "kind": "http",
        "message": "busy",
        "status": 529,
        "request_id": "r",
        "retry_after": 3.0,
    }
    assert ended["usage"]["input_tokens"] == 1
    assert ended["usage"]["cache_read_tokens"] is None
    assert lines(TurnEnded(1, "completed"))[0]["error"] is None


def test_idle_writes_what_waits_and_is_no_line():
    with Canvas(terminal=False) as canvas:
        renderer = JsonLines(canvas.screen)
        renderer.show(TextDelta("a"))
        assert canvas.raw == b""
        renderer.show(Idle())
        assert canvas.raw == b'{"type":"text_delta","text":"a"}\n'


def test_half_of_a_pair_survives_as_an_escape():
    assert lines(TextDelta("x\ud83dy")) == [{"type": "text_delta", "text": "x\ud83dy"}]
