"""The renderer `plain`: verbatim in a pipe; each word once, and no escapes, on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import (
    ConfigError,
    Idle,
    Notice,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    Settings,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Usage,
)
from mino_core.testing import Canvas, RendererConformance

from mino_render import mino_renderers
from mino_render.plain import Plain


class TestPlainKeepsEveryPromise(RendererConformance):
    def renderer(self, settings, screen):
        return Plain(settings, screen)


def drawn(canvas, *events, **table):
    renderer = Plain(Settings(table), canvas.screen)
    for event in events:
        renderer.show(event)
    return renderer


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.text(), st.just(None))))
def test_a_pipe_gets_the_bytes_of_the_model_and_nothing_else(pieces):
    with Canvas(terminal=False) as canvas:
        said = [Idle() if piece is None else TextDelta(piece) for piece in pieces]
        drawn(canvas, TurnStarted(1, "q"), *said, TurnEnded(1, "completed"))
        text = "".join(piece or "" for piece in pieces)
        assert canvas.raw == text.encode("utf-8", "replace")


def test_reasoning_notices_and_usage_stay_out_of_the_pipe():
    with Canvas(terminal=False) as canvas:
        drawn(
            canvas,
            TurnStarted(1, "q"),
            ReasoningDelta("secret thought"),
            TextDelta("answer"),
            Notice("warning", "careful"),
            RefusalDelta(" no"),
            TurnEnded(1, "failed", ProviderError("http", "it broke"), Usage(1, None, None, 2, None, 3)),
        )
        assert canvas.raw == b"answer no"
        aside = canvas.aside.decode()
        assert aside.splitlines() == [
            "Warning: careful",
            "Model refused:",
            "Error: it broke",
            "[tokens: input 1, output 2, total 3, cached n/a; first token n/a]",
        ]


def test_a_terminal_gets_each_word_once_and_no_escape():
    with Canvas(environ={"TERM": "dumb"}) as canvas:
        drawn(
            canvas,
            TurnStarted(1, "q"),
            TextDelta("one "),
            Idle(),
            TextDelta("two\nthree"),
            Idle(),
            TurnEnded(1, "completed", first_token_seconds=1.5),
        )
        assert canvas.lines[:3] == [
            "Assistant> one two",
            "three",
            "[tokens: input n/a, output n/a, total n/a, cached n/a; first token 1.50 s]",
        ]
        assert b"\x1b" not in canvas.raw


@pytest.mark.parametrize("answer", ["x", "x\n", "x\n\n\n", "```\ncode\n```", "x\n \n"])
def test_the_next_prompt_begins_on_a_row_of_its_own(answer):
    with Canvas() as canvas:
        drawn(canvas, TurnStarted(1, "q"), TextDelta(answer), Idle(), TurnEnded(1, "completed"), usage=False)
        row, column = canvas.cursor
        assert column == 0
        assert canvas.lines[row - 1] != ""


def test_settings_hide_reasoning_and_usage():
    with Canvas() as canvas:
        said = ReasoningDelta("thought"), TextDelta("answer"), TurnEnded(1, "completed")
        drawn(canvas, TurnStarted(1, "q"), *said, usage=False, reasoning="hide")
        assert canvas.text == "Assistant> answer"
    with Canvas() as canvas:
        drawn(canvas, TurnStarted(1, "q"), *said, usage=False)
        assert canvas.text == "Thinking: thought\nAssistant> answer"


def test_a_wrong_setting_is_told():
    with Canvas() as canvas, pytest.raises(ConfigError, match="must be 'show' or 'hide', not 'maybe'"):
        drawn(canvas, reasoning="maybe")


def test_a_refusal_is_announced_once():
    with Canvas() as canvas:
        drawn(
            canvas, TurnStarted(1, "q"), RefusalDelta("I would "), Idle(), RefusalDelta("rather not."), Idle()
        )
        assert canvas.text == "Assistant> Model refused: I would rather not."


@pytest.mark.parametrize("name", ["plain", "rich"])
def test_what_mino_says_itself_is_broken_at_words_and_what_it_quotes_is_not(name):
    with Canvas(16, 10) as canvas:
        renderer = mino_renderers()[name](Settings({}), canvas.screen)
        renderer.show(
            Notice(
                "warning",
                "一个很长的提示 of two scripts\n  and an indented second line\n/name  what it is for",
            )
        )
        renderer.show(Notice("info", "a  file with lines of its own", verbatim=True))
        renderer.close()
        assert canvas.text == "\n".join(
            [
                "Warning: 一个很",
                "长的提示 of two",
                "scripts",
                "  and an",
                "  indented",
                "  second line",
                "/name  what it",
                "       is for",
                "a  file with lin",
                "es of its own",
            ]
        )
        assert b"lines of its own" in canvas.raw
