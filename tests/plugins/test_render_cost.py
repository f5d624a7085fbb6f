"""What an answer costs, counted and not timed: it grows with the answer and with nothing else."""

from __future__ import annotations

from functools import cache

import pytest
from mino_core import TextDelta
from render_shapes import SHAPES
from render_sheet import Sheet, cut, draw
from wcwidth import wcwidth

from mino_render.document import Document
from mino_render.look import Palette
from mino_render.page import Page
from mino_render.width import _NARROW, _WIDE

#: How often a character is read, at most, when each four of them are followed by an Idle. A word
#: or a construct without an end is read again until it is longer than the limit of its page.
_TIMES = {"one word": 120, "marks": 120, "unclosed": 180}
_DELTA = 4
PALETTE = Palette(colour=True, hyperlinks=False)


class Blank(Sheet):
    """A sheet that nobody looks at."""

    def flush(self):
        self.written += self._held
        self._held.clear()


@cache
def parsed(text, size):
    page = Page(80, 24, PALETTE)
    document = Document(page)
    for piece in cut(text, size):
        document.feed(piece)
        document.take()
    document.finish()
    return page.parsed


def size_of(text, pieces, idle_every):
    sheet = Blank()
    draw(sheet, pieces, idle_every)
    return len(sheet.raw.encode())


@pytest.mark.parametrize("shape", SHAPES)
def test_each_character_is_read_a_bounded_number_of_times(shape):
    text = SHAPES[shape]
    assert parsed(text, _DELTA) <= _TIMES.get(shape, 8) * len(text)
    assert parsed(text, len(text)) <= 1.2 * len(text) + Page(80, 24, PALETTE).limit()


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_answer_is_twice_the_work(shape):
    whole = SHAPES[shape]
    half = whole[: len(whole) // 2]
    assert parsed(whole, _DELTA) <= 2.3 * parsed(half, _DELTA) + 100


@pytest.mark.parametrize("shape", SHAPES)
def test_few_bytes_are_written_for_an_answer(shape):
    text = SHAPES[shape]
    final = size_of(text, [text], 0)
    assert size_of(text, cut(text, _DELTA), 0) <= 1.1 * final
    assert size_of(text, cut(text, _DELTA), 1) <= 2 * final


@pytest.mark.parametrize("shape", ["prose", "one paragraph", "a list", "ideographs"])
def test_the_final_bytes_are_hardly_more_than_the_text(shape):
    text = SHAPES[shape]
    assert size_of(text, cut(text, _DELTA), 0) <= 1.3 * len(text.encode())


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_open_stays_smaller_than_the_screen(shape):
    document = Document(Page(80, 24, PALETTE))
    for piece in cut(SHAPES[shape], 97):
        document.feed(piece)
        _, still_open = document.take()
        assert len(still_open) < 24
        assert sum(len(text) for row in still_open for text, _ in row.spans) < 80 * 23


def test_nothing_is_written_before_idle_but_a_burst_is():
    sheet = Blank()
    renderer = draw(sheet, [], 0)
    before = len(sheet.written)
    for _ in range(100):
        renderer.show(TextDelta("words "))
    assert len(sheet.written) == before
    for _ in range(1000):
        renderer.show(TextDelta("words "))
    assert len(sheet.written) - before == 1


def test_the_widths_that_are_known_without_a_table_are_those_of_the_table():
    for width, ranges in ((1, _NARROW), (2, _WIDE)):
        letters = [chr(n) for first, last in ranges for n in range(ord(first), ord(last) + 1)]
        assert [letter for letter in letters if wcwidth(letter) != width] == []
