"""What every renderer promises, on a terminal and in a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mino_core.errors import ProviderError
from mino_core.screen import Screen
from mino_core.settings import Settings
from mino_core.types import (
    Event,
    Idle,
    Notice,
    Outcome,
    ReasoningDelta,
    RefusalDelta,
    Renderer,
    RoundStarted,
    SessionEnded,
    SessionStarted,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolOutput,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)

from .canvas import Canvas
from .keys import FRESH_MODES
from .promises import promise, suite

if TYPE_CHECKING:
    import pytest

_MARK = re.compile(r"w\d{4}")
_FORBIDDEN = {
    "the alternate screen": rb"\x1b\[\?(?:47|1047|1049)h",
    "the mouse": rb"\x1b\[\?(?:9|100[0-6]|1015)h",
    "a cursor query": rb"\x1b\[\??6n",
    "clearing the scrollback": rb"\x1b\[3J",
    "clearing the screen": rb"\x1b\[2J",
    "resetting the terminal": rb"\x1bc",
}
_ERROR = ProviderError("http", "out [of] breath", status=529, request_id="req_1", retry_after=3.0)
_EVENTS: tuple[Event, ...] = (
    SessionStarted("01J", "demo", "demo-1", "mino: demo-1 (demo)\nsecond line"),
    SessionStarted("01J", "demo", "demo-1"),
    TurnStarted(1, "a [question]\nof two lines"),
    RoundStarted(1),
    Idle(),
    ReasoningDelta("hm"),
    ReasoningDelta(""),
    TextDelta(""),
    TextDelta("Hello **wor"),
    Idle(),
    Idle(),
    TextDelta("ld**\n\n```\nnever closed"),
    ToolCall("call_1", "look", '{"path": "a"}'),
    Usage(),
    Usage(1, 2, 3, 4, 5, 6),
    ToolStarted(ToolCall("call_1", "look", '{"path": "a"}')),
    ToolOutput("call_1", "some [output]\n"),
    ToolEnded("call_1", ToolResult("call_1", "done"), 0.5),
    ToolStarted(ToolCall("call_2", "look", "{not json")),
    ToolEnded("call_2", ToolResult("call_2", "no such [file]", is_error=True), 0.0),
    RoundStarted(2),
    RefusalDelta("I would "),
    RefusalDelta("rather not."),
    Notice("info", "a [notice]"),
    Notice("warning", "two\nlines"),
    Notice("error", ""),
    TurnEnded(1, "completed", usage=Usage(1, 2, 3, 4, 5, 6), seconds=1.0, first_token_seconds=0.1),
    TurnStarted(2, ""),
    TurnEnded(2, "completed", usage=Usage(), last_usage=Usage(), rounds=0),
    Notice("info", "between turns"),
    TurnStarted(3, "another"),
    TurnEnded(3, "cancelled"),
    TurnStarted(4, "another"),
    TurnEnded(4, "failed", _ERROR),
    TurnStarted(5, "another"),
    TextDelta("half an ans"),
    TurnEnded(5, "interrupted", ProviderError("stream", "the stream ended before completion")),
    TurnStarted(6, "another"),
    TurnEnded(6, "incomplete", ProviderError("length", "")),
    SessionEnded(),
    SessionEnded("mino --resume 01J"),
)


@suite
class RendererConformance:
    """Subclass it and make the renderer:

        class TestMine(RendererConformance):
            def renderer(self, settings, screen):
                return Mine(settings, screen)

    Where the letters on the screen are not simply what a person reads, override `shown`.
    """

    def renderer(self, settings: Settings, screen: Screen) -> Renderer:
        """The renderer to test."""
        raise NotImplementedError

    def shown(self, canvas: Canvas) -> str:
        """What a person reads of what was drawn, errors and notices included."""
        return canvas.text + canvas.aside.decode()

    # -- nothing breaks ------------------------------------------------------------------------

    def test_every_event_is_shown_without_a_fault(self) -> None:
        for terminal in (True, False):
            for columns, rows in ((80, 24), (20, 5), (2, 2), (1, 1)):
                with Canvas(columns, rows, terminal=terminal) as canvas:
                    self._draw(canvas, _EVENTS)

    def test_events_may_come_in_any_order(self) -> None:
        for events in (_EVENTS[::-1], _EVENTS[5:12], [SessionEnded()], []):
            with Canvas() as canvas:
                self._draw(canvas, events)

    def test_any_letters_are_shown_without_a_fault(self) -> None:
        text = "漢字かな 👩‍🚀🇩🇪 e\u0301\u0302 ة العربية \u200d\u200b\t|\t\ufffd \U0010ffff ␛[31m" * 3
        for columns in (80, 3, 1):
            with Canvas(columns) as canvas:
                self._draw(canvas, turn(text))
                self._draw(canvas, turn(*text))

    # -- nothing is lost, doubled or held back -------------------------------------------------

    def test_text_is_complete_and_in_order_under_any_chunking(self) -> None:
        text = sample()
        for size in (1, 2, 7, 64, 1000, len(text)):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            for idle_every in (1, 3, len(pieces) + 1):
                with Canvas(80, 10) as canvas:
                    self._draw(canvas, turn(*pieces, idle_every=idle_every))
                    self._in_order(canvas, text, f"in pieces of {size}, idle after each {idle_every}")

    def test_text_in_a_pipe_is_complete_and_in_order(self) -> None:
        text = sample()
        for size in (1, 7, len(text)):
            with Canvas(terminal=False) as canvas:
                self._draw(canvas, turn(*(text[at : at + size] for at in range(0, len(text), size))))
                self._in_order(canvas, text, f"into a pipe, in pieces of {size}")

    def test_a_narrow_window_loses_nothing(self) -> None:
        text = " ".join(f"w{n:04}" for n in range(40))
        for columns in (1, 2, 7, 20):
            with Canvas(columns, 8) as canvas:
                self._draw(canvas, turn(*re.findall(r".{1,9}", text)))
                self._in_order(canvas, text, f"in a window {columns} wide")

    def test_what_came_is_visible_at_idle(self) -> None:
        for terminal in (True, False):
            with Canvas(80, 10, terminal=terminal) as canvas:
                renderer = self._made(canvas)
                _show(renderer, TurnStarted(1, "question"), RoundStarted(1), Idle())
                for n in range(60):
                    _show(renderer, TextDelta(f"w{n:04}"), Idle())
                    promise(
                        _marks(self.shown(canvas))[-1:] == [f"w{n:04}"],
                        f"w{n:04} came and nothing after it, but the screen reads\n{self.shown(canvas)}",
                        "at Idle the user sees all there is: text is written then, or it looks stuck.",
                    )
                    _show(renderer, TextDelta(" " if n % 6 else "\n\n"))
                _show(renderer, TurnEnded(1, "completed"))
                _close(renderer)

    def test_letters_of_markup_are_letters(self) -> None:
        text = "[red]words[/red] [/nope] :smile: {0} %s $HOME"
        with Canvas() as canvas:
            self._draw(
                canvas, [*turn(text), Notice("info", "see [red]this[/red]"), Notice("warning", "[/x]")]
            )
            got = self.shown(canvas)
        for expected in (text, "see [red]this[/red]", "[/x]"):
            promise(
                expected in got,
                f"{expected!r} does not stand in\n{got}",
                "what others wrote is text: it must neither style nor vanish nor raise.",
            )

    def test_what_went_wrong_is_said(self) -> None:
        outcomes: tuple[Outcome, ...] = ("failed", "interrupted", "incomplete")
        for terminal in (True, False):
            for outcome in outcomes:
                with Canvas(terminal=terminal) as canvas:
                    self._draw(canvas, [*turn("some words")[:-1], TurnEnded(1, outcome, _ERROR)])
                    got = self.shown(canvas)
                promise(
                    "some words" in got and "out [of] breath" in got,
                    f"a turn ended as {outcome} with `out [of] breath`, and this was shown:\n{got}",
                    "an answer that is not whole must never look whole.",
                )

    def test_refusals_and_notices_are_shown(self) -> None:
        with Canvas() as canvas:
            events = [RefusalDelta("I would "), RefusalDelta("rather not.")]
            self._draw(canvas, [TurnStarted(1, "q"), RoundStarted(1), *events, TurnEnded(1, "completed")])
            self._draw(
                canvas, [Notice("info", "first"), Notice("warning", "second"), Notice("error", "third")]
            )
            got = self.shown(canvas)
        for expected in ("I would rather not.", "first", "second", "third"):
            promise(expected in got, f"{expected!r} was not shown:\n{got}", "it is all the user gets.")

    # -- the terminal stays what it was --------------------------------------------------------

    def test_the_terminal_is_left_as_it_was(self) -> None:
        with Canvas(80, 10) as canvas:
            renderer = self._made(canvas)
            for outcome in ("completed", "cancelled"):
                _show(renderer, *turn("**bold** and ```\ncode never closed")[:-1], TurnEnded(1, outcome))
                promise(
                    canvas.pen_is_plain,
                    f"after a turn that was {outcome}, the next letter would be styled",
                    "the prompt and what the user types come next.",
                )
                promise(
                    canvas.cursor[1] == 0,
                    f"after a turn that was {outcome}, the cursor is in column {canvas.cursor[1]}",
                    "the prompt begins at the left edge.",
                )
            _show(renderer, SessionEnded())
            _close(renderer)
            modes = canvas.private_modes
        promise(
            modes == FRESH_MODES,
            f"private modes differ from the start: {sorted(modes ^ FRESH_MODES)}",
            "the shell that follows would hide its cursor or not wrap its lines.",
        )

    def test_nothing_takes_the_terminal_over(self) -> None:
        with Canvas(40, 8) as canvas:
            self._draw(canvas, _EVENTS)
            self._draw(canvas, turn(*sample().splitlines(keepends=True)))
            raw = canvas.raw
        for name, pattern in _FORBIDDEN.items():
            promise(
                not re.search(pattern, raw),
                f"{name} is among what was written",
                "the scrollback is the user's, and keys that are typed meanwhile must arrive.",
            )

    def test_nothing_is_written_past_the_screen(self, capfd: pytest.CaptureFixture[str]) -> None:
        with Canvas() as canvas:
            self._draw(canvas, _EVENTS)
        printed = "".join(capfd.readouterr())
        promise(
            not printed,
            f"it printed {printed!r}",
            "mino shows what is printed as a notice, later; and in a pipe it is no part of the answer.",
        )

    # -- help ----------------------------------------------------------------------------------

    def _made(self, canvas: Canvas) -> Renderer:
        return self.renderer(Settings({}, path="renderer", environ={}), canvas.screen)

    def _draw(self, canvas: Canvas, events: Iterable[Event]) -> None:
        renderer = self._made(canvas)
        _show(renderer, *events)
        _close(renderer)
        canvas.screen.flush()

    def _in_order(self, canvas: Canvas, text: str, how: str) -> None:
        got = _marks(self.shown(canvas))
        expected = _marks(text)
        lost = [mark for mark in expected if mark not in got]
        doubled = sorted({mark for mark in got if got.count(mark) > 1})
        promise(
            got == expected,
            f"{how}: lost {lost}, shown more than once {doubled}; in all\n{self.shown(canvas)}",
            "an answer is read from top to bottom, and again later in the scrollback.",
        )


def turn(*pieces: str, idle_every: int = 1) -> list[Event]:
    """The events of one turn that says `pieces`, with an Idle after each so many."""
    events: list[Event] = [TurnStarted(1, "question"), RoundStarted(1), Idle()]
    for n, piece in enumerate(pieces, 1):
        events.append(TextDelta(piece))
        if n % idle_every == 0:
            events.append(Idle())
    usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
    return [*events, TurnEnded(1, "completed", usage=usage, seconds=1.0, first_token_seconds=0.2)]


def sample() -> str:
    """Markdown of every kind, with words in it that can be counted: w0001, w0002, ..."""
    numbers = iter(range(1, 1000))

    def w(count: int = 1) -> str:
        return " ".join(f"w{next(numbers):04}" for _ in range(count))

    parts = [
        f"# {w()}",
        f"{w(30)} **{w()}** and `{w()}`, {w(20)}",
        f"- {w()}\n- {w()}\n  - {w()}\n- {w(20)}",
        f"1. {w()}\n2. {w()}",
        f"```python\nif {w()}:\n    {w()}\n\n{w()}\n```",
        f"> {w(3)}\n> {w()}",
        f"| {w()} | {w()} |\n|---|---:|\n| {w()} | {w()} |\n| {w()} | {w()} |",
        f"~~~\n{w()}\n~~~",
        f"{w()}\n{w()}",
        f"***\n\n{w(4)} *{w()}* ~~{w()}~~ {w()}_{w()}",
        f"```\n{w()}\nnever closed {w()}",
    ]
    return "\n\n".join(parts)


def _marks(text: str) -> list[str]:
    return _MARK.findall("".join(text.split()))


def _show(renderer: Renderer, *events: Event) -> None:
    for event in events:
        try:
            renderer.show(event)
        except (Exception, SystemExit) as error:
            broken = f"show() raised {error!r} at {event!r}"
            raise AssertionError(f"{broken}\nWhy it matters: a renderer that raises is replaced.") from error


def _close(renderer: Renderer) -> None:
    if close := getattr(renderer, "close", None):
        close()


__all__: Sequence[str] = ["RendererConformance", "sample", "turn"]
