"""How the line being edited looks, and how it reaches the screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    Dimension,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    HighlightIncrementalSearchProcessor,
    HighlightSelectionProcessor,
    Processor,
    TabsProcessor,
    Transformation,
    TransformationInput,
)
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.search import SearchDirection, SearchState
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets import SearchToolbar

from . import hidden

if TYPE_CHECKING:
    from mino_core import Screen

#: Characters of a line of which only a part is drawn, and half of that part.
_LONG, _STEP = 8000, 2000
#: Rows of the menu of completions.
_MENU = 8
#: What prompt_toolkit writes at each prompt that is not ours to change: bracketed paste stays on between
#: prompts, and whether the cursor blinks is the user's choice.
_UNWANTED = ("\x1b[?2004l", "\x1b[?12l")


def style() -> Style:
    """Only the terminal's own colours, so that they are readable on dark and on light."""
    plain = "fg:default bg:default"
    return Style(
        [
            ("prompt", "bold ansicyan"),
            ("left-out", "fg:ansibrightblack"),
            ("completion-menu", plain),
            ("completion-menu.completion.current", f"{plain} reverse"),
            ("completion-menu.meta.completion", f"{plain} fg:ansibrightblack"),
            ("completion-menu.meta.completion.current", plain),
            ("scrollbar.background", plain),
            ("scrollbar.button", "bg:ansibrightblack"),
            ("search-toolbar", "nobold"),
        ]
    )


def layout(buffer: Buffer, prompt: Callable[[], str]) -> Layout:
    """The prompt and the text; below, where it is needed, a menu or what is searched for."""

    def searched(direction: SearchDirection, words: str) -> str:
        sought = search.search_buffer.text
        found = buffer.document_for_search(SearchState(sought, direction, ignore_case=True))
        return f"{words}: " if sought.lower() in found.text.lower() else f"{words}, not found: "

    search = SearchToolbar(
        ignore_case=True,
        forward_search_prompt=lambda: searched(SearchDirection.FORWARD, "search"),
        backward_search_prompt=lambda: searched(SearchDirection.BACKWARD, "search back"),
    )
    control = BufferControl(
        buffer=buffer,
        search_buffer_control=search.control,
        input_processors=[
            _Excerpt(),
            _Marks(),
            HighlightIncrementalSearchProcessor(),
            HighlightSelectionProcessor(),
            TabsProcessor(tabstop=4, char1=" ", char2=" "),
        ],
        include_default_input_processors=False,
        preview_search=True,
    )

    def prefix(line: int, wraps: int) -> StyleAndTextTuples:
        if line == 0 and wraps == 0:
            return [("class:prompt", prompt())]
        return [("", "" if wraps else " " * get_cwidth(prompt()))]

    def height() -> Dimension:
        if buffer.complete_state is None or get_app().is_done:
            return Dimension()
        rows = buffer.document.line_count + min(_MENU, len(buffer.complete_state.completions))
        return Dimension(min=min(rows, get_app().output.get_size().rows - 1))

    text = Window(control, height=height, get_line_prefix=prefix, wrap_lines=True, dont_extend_height=True)
    menu = CompletionsMenu(max_height=_MENU, scroll_offset=1, extra_filter=has_focus(buffer))
    return Layout(
        HSplit(
            [
                FloatContainer(text, [Float(menu, xcursor=True, ycursor=True)]),
                search,
            ]
        ),
        focused_element=text,
    )


class _Excerpt(Processor):
    """Shows of a very long line only what is around the cursor: each key costs what is shown."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """That part, and how much is left out before and after it."""
        document, number = transformation_input.document, transformation_input.lineno
        line = document.lines[number]
        if not is_long(line):
            return Transformation(transformation_input.fragments)
        start = 0
        if number == document.cursor_position_row:
            start = max(0, document.cursor_position_col // _STEP - 1) * _STEP
        end = min(start + 2 * _STEP, len(line))
        before = f"[… {start:,} characters] " if start else ""
        after = f" [{len(line) - end:,} characters …]" if end < len(line) else ""
        moved = len(before) - start
        return Transformation(
            [("class:left-out", before), ("", line[start:end]), ("class:left-out", after)],
            lambda at: min(max(at, start), end) + moved,
            lambda at: min(max(at - moved, start), end),
        )


def is_long(line: str) -> bool:
    """Whether a line is so long that only a part of it is drawn."""
    return len(line) > _LONG


class _Marks(Processor):
    """Shows what is hidden in a text."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """The same text, with a mark for each hidden character."""
        fragments: StyleAndTextTuples = []
        for fragment in transformation_input.fragments:
            fragments.append((fragment[0], hidden.marked(fragment[1])))
        return Transformation(fragments)


def output(screen: Screen) -> Vt100_Output:
    """Where prompt_toolkit draws: the screen, which it asks nothing."""

    def size() -> Size:
        try:
            columns, rows = os.get_terminal_size(screen.fileno())
        except OSError:
            columns = rows = 0
        # A width from the environment that is too large would put every wrapped row in the wrong place.
        return Size(rows or screen.rows, min(columns or screen.columns, screen.columns))

    depth = ColorDepth.DEPTH_4_BIT if screen.colour else ColorDepth.DEPTH_1_BIT
    return Vt100_Output(
        cast(TextIO, _Paper(screen)),
        size,
        term=os.environ.get("TERM"),
        default_color_depth=depth,
        enable_cpr=False,
    )


def follow(app: Application[Any], screen: Screen) -> None:
    """At another width, take back the rows that the terminal has made of what was drawn."""
    if not screen.wraps_anew:
        return
    draw_anew, renderer = app._on_resize, app.renderer  # noqa: SLF001 (nothing public is told of the old rows)

    def resized() -> None:
        if (drawn := renderer.last_rendered_screen) is not None:
            at = renderer._cursor_pos  # noqa: SLF001
            rows = [_letters(drawn.data_buffer[y]) for y in range(at.y + 1)]
            up = rows_above(rows, at.x, app.output.get_size().columns)
            renderer._cursor_pos = Point(at.x, up)  # noqa: SLF001
        draw_anew()

    app._on_resize = resized  # type: ignore[method-assign]  # noqa: SLF001


def rows_above(rows: Sequence[str], x: int, columns: int) -> int:
    """How many rows stand above the cursor, which is in the last of these, once they were wrapped anew."""
    above = len(rows) - 1
    for n, row in enumerate(rows, 1):
        at = before = 0
        for width in map(get_cwidth, row):
            if n == len(rows) and before >= x:
                break
            before += width
            if at + width > columns:
                above, at = above + 1, 0
            at += width
    return above


def _letters(row: Mapping[int, Char]) -> str:
    return "".join(char.char for _, char in sorted(row.items())).rstrip(" ")


class _Paper:
    """As much of a text stream as prompt_toolkit needs, on the screen."""

    encoding = "utf-8"

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        for sequence in _UNWANTED:
            text = text.replace(sequence, "")
        self._screen.write(text)
        return len(text)

    def flush(self) -> None:
        app = get_app()
        if not (app.is_done and app.erase_when_done):  # what stands in place of the line comes in one write
            self._screen.flush()

    def fileno(self) -> int:
        return self._screen.fileno()

    def isatty(self) -> bool:
        return True
