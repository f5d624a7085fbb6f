"""Every event passes one door: safe text, one renderer, then the observers."""

import os

import pytest
from mino_core import (
    Finished,
    Idle,
    Notice,
    ProviderError,
    RoundStarted,
    Screen,
    SessionStarted,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolOutput,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from mino_core.session.display import Display
from mino_core.testing import Recorder

EVIL = "a\x1b]52;c;aGk=\x07\x1b[2J\x9b6n\u202eb\r\x08c"


@pytest.fixture
def terminal():
    ours, theirs = os.openpty()
    screen = Screen(theirs, theirs, {"TERM": "xterm"})
    yield screen
    os.close(theirs)
    screen.close()
    os.close(ours)


def display(screen, renderer=None, plain=None):
    shown = Display(screen, renderer or Recorder(), lambda: plain or Recorder())
    shown.show(SessionStarted("1", "p", "m"))
    return shown


@pytest.mark.parametrize(
    "event",
    [
        TextDelta(EVIL),
        Notice("info", EVIL),
        TurnStarted(1, EVIL),
        ToolCall(EVIL, EVIL, EVIL),
        ToolStarted(ToolCall(EVIL, EVIL, EVIL)),
        ToolOutput(EVIL, EVIL),
        ToolEnded(EVIL, ToolResult(EVIL, EVIL), 0.1),
        TurnEnded(1, "failed", ProviderError("http", EVIL, request_id=EVIL)),
        SessionStarted("1", EVIL, EVIL, EVIL),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_text_from_outside_reaches_a_terminal_as_it_is(terminal, event):
    recorder = Recorder()
    seen = []
    shown = display(terminal, recorder)
    shown.observers = [seen.append]
    shown.show(event)
    drawn = recorder.events[-1]
    text = repr(drawn) + (repr(drawn.error.as_json()) if isinstance(drawn, TurnEnded) else "")
    for bad in ("\\x1b", "\\x07", "\\x9b", "\\u202e", "\\r", "\\x08"):
        assert bad not in text
    assert seen == [event]


def test_a_sequence_split_over_deltas_is_as_powerless(terminal):
    recorder = Recorder()
    shown = display(terminal, recorder)
    for char in "x\x1b[2Jy\r\nz\r":
        shown.show(TextDelta(char))
    shown.show(TurnEnded(1, "completed"))
    assert recorder.text == "x␛[2Jy\nz␍"


def test_a_usage_between_the_halves_of_a_newline_does_not_part_them(terminal):
    from mino_core import Usage

    recorder = Recorder()
    shown = display(terminal, recorder)
    for event in (TextDelta("a\r"), Usage(), Idle(), TextDelta("\nb"), RoundStarted(2)):
        shown.show(event)
    assert recorder.text == "a\nb"


def test_a_newline_of_a_tool_in_two_pieces_is_one_and_the_next_tool_begins_anew(terminal):
    recorder = Recorder()
    shown = display(terminal, recorder)
    for call_id in ("1", "2"):
        shown.show(ToolStarted(ToolCall(call_id, "t", "{}")))
        for piece in ("a\r", "\nb\r"):
            shown.show(ToolOutput(call_id, piece))
    said = [event.text for event in recorder.events if isinstance(event, ToolOutput)]
    assert said == ["a", "\nb"] * 2


def test_a_pipe_gets_the_words_as_they_came(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        screen = Screen(file.fileno(), file.fileno(), {})
        recorder = Recorder()
        display(screen, recorder).show(TextDelta(EVIL))
        screen.close()
    assert recorder.text == EVIL


def test_finished_goes_to_observers_only(terminal):
    recorder = Recorder()
    seen = []
    shown = display(terminal, recorder)
    shown.observers = [seen.append]
    shown.show(Finished("stop"))
    assert not recorder.of(Finished)
    assert seen == [Finished("stop")]


def test_what_is_told_before_the_session_started_follows_it(terminal):
    recorder = Recorder()
    shown = Display(terminal, recorder, Recorder)
    shown.show(Notice("warning", "early"))
    assert not recorder.events
    started = SessionStarted("1", "p", "m")
    shown.show(started)
    assert recorder.events == [started, Notice("warning", "early")]


def test_a_failed_renderer_hands_over_what_it_had_not_shown(terminal):
    def fail(event):
        if event == TextDelta("three"):
            raise ValueError("broken pen")

    first, second = Recorder(fail), Recorder()
    shown = display(terminal, first, second)
    for event in (TextDelta("one"), Idle(), TextDelta("two"), TextDelta("three"), TextDelta("four")):
        shown.show(event)
    assert first.closed
    assert second.text == "twothreefour"
    assert "broken pen" in second.notices[0]


def test_a_print_in_a_plugin_becomes_a_notice(terminal):
    import sys

    from mino_core import outlets

    recorder = Recorder()
    shown = display(terminal, recorder)
    before = sys.stdout
    sys.stdout = outlets.LineWriter()
    try:
        print("hello\x1b[2J")
    finally:
        sys.stdout = before
    shown.show(TextDelta("x"))
    assert recorder.events[-2:] == [Notice("info", "hello␛[2J"), TextDelta("x")]


def test_printed_lines_are_shown_in_their_order(terminal, monkeypatch):
    import sys

    from mino_core import outlets

    recorder = Recorder()
    shown = display(terminal, recorder)
    monkeypatch.setattr(sys, "stdout", outlets.LineWriter())
    print("one\ntwo\nthree")
    shown.show_strays()
    assert recorder.notices == ["one", "two", "three"]
