"""However an answer is cut into pieces, and whenever it is painted, it ends up looking the same."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import (
    Idle,
    Notice,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolOutput,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from render_shapes import SHAPES
from render_sheet import Sheet, cut, cut_at_random, draw, rich

_BITS = [
    *("**bold**", "*it*", "`code`", "[l](http://x.y)", "__init__", "2*3*4", "~~s~~", "https://a.b/c_d"),
    *("C:\\new\\_x", "![i](u)", "$x_1$", "\\(a*b\\)", "<b>", "<br>", "&amp;", "&", "**", "*", "_", "`", "``"),
    *(
        "$",
        "[",
        "](",
        "]",
        "!",
        ":",
        "|",
        "\\",
        "\\*",
        "***",
        "<!--",
        "-->",
        "e\u0301",
        "👩‍🚀",
        "中文，",
        "「重点」",
    ),
    *("===", "word", "words", "-", ">", "#", "+", "10."),
]
_LINES = [
    *("\n", "\n\n", "# H\n", "- item", "\n- item\n", "\n  - sub\n", "1. one\n", "2. two\n", "> quote\n"),
    *("```py\n", "```\n", "~~~\n", "x=1 # c\n", "| a | b |\n", "|---|--:|\n", "| c | `d` |\n", "---\n"),
    *("    code\n", "\t", "  ", " ", " ", "a" * 90 + " ", "###### six ##\n"),
]
_SIZES = ((80, 24), (40, 10), (20, 30), (100, 12), (12, 8))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(_BITS + _LINES), max_size=60), st.sampled_from(_SIZES), st.integers())
def test_the_screen_does_not_depend_on_the_pieces(bits, size, seed):
    text = "".join(bits)
    whole, pieces = Sheet(*size), Sheet(*size)
    draw(whole, [text], 0)
    draw(pieces, cut_at_random(text, seed), random.Random(seed).choice((1, 1, 2, 3)))
    assert pieces.text == whole.text
    assert pieces.styled == whole.styled


_STARTS = [
    *("", "", "- ", "  - ", "1. ", "> ", "> > ", "- > ", "1. > - ", "# ", "    ", "- [x] ", "[^1]: ", "| "),
    *(
        "```\n",
        "```py\n",
        "~~~\n",
        "> ```\n",
        "| name | cell |\n|---|---|\n| ",
        "> | name | cell |\n> |--:|---|\n> | x | ",
    ),
    *("---\n", "<div>\n", "$$\n", "\n", "\n\n", "\t", "      ", "> " * 13, "**", "`", "[", "|"),
]
_FORMS = [
    *(
        "@",
        "@",
        "**@**",
        "*@*",
        "`@`",
        "~~@~~",
        "__@__",
        "$@$",
        "\\(@\\)",
        "\\[ @ \\]",
        "<b>@</b>",
        "@<br>",
        "(@)",
    ),
    *(
        "[@](http://x.y/@)",
        "![@](http://p.q/@)",
        "https://e.x/@?a=b_c",
        "<https://e.x/@>",
        "[@]",
        "[@][@]",
        "[^@]",
    ),
    *(
        "**@",
        "*@",
        "`@",
        "~~@",
        "[@",
        "[@](",
        "_@",
        "@*",
        "@**",
        "<!-- @",
        "@\\",
        "2*@*4",
        "C:\\new\\@",
        "\\*@\\*",
    ),
    *(
        "漢字@漢字",
        "「**@**」",
        "👩‍🚀@",
        "⚠️ @",
        "שלום @",
        "🇩🇪@🇫🇷",
        "e\u0301@",
        "@\u200b",
        "@ | @",
        "|@|",
        "# @",
        "&amp;@",
    ),
]


_DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(_STARTS), st.lists(st.sampled_from(_FORMS), min_size=1, max_size=20)),
    max_size=12,
)


def _lettered(lines):
    """A document, and the words of one letter in it: those are never cut."""
    text = "\n".join(start + " ".join(forms) for start, forms in lines)
    letters = [chr(0x100 + n) for n in range(text.count("@"))]
    for letter in letters:
        text = text.replace("@", letter, 1)
    return text, letters


@settings(max_examples=60, deadline=None)
@given(_DOCUMENTS, st.sampled_from(((80, 24), (40, 10), (60, 8), (40, 6))), st.integers())
def test_every_word_is_there_once_however_it_comes(lines, size, seed):
    text, letters = _lettered(lines)
    whole, pieces = Sheet(*size), Sheet(*size)
    draw(whole, [text], 0)
    draw(pieces, cut_at_random(text, seed))
    assert sorted(letter for letter in whole.text if letter in letters) == letters
    assert pieces.text == whole.text
    assert pieces.styled == whole.styled


@settings(max_examples=40, deadline=None)
@given(_DOCUMENTS, st.integers())
def test_no_word_is_lost_whatever_becomes_of_the_window(lines, seed):
    """It gets wider, lower and higher; in a narrower one it is the terminal that cuts rows."""
    text, letters = _lettered(lines)
    dice = random.Random(seed)
    sheet = Sheet(dice.choice((30, 60)), dice.choice((8, 24)))
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for piece in cut_at_random(text, seed):
        renderer.show(TextDelta(piece))
        renderer.show(Idle())
        if dice.random() < 0.1:
            sheet.resize(sheet.columns + dice.choice((0, 0, 7, 30)), dice.choice((6, 12, 40)))
            renderer.tick(dice.choice((0.2, 2.0)))
    renderer.show(TurnEnded(1, "completed"))
    assert set(letters) <= set(sheet.text)


@pytest.mark.parametrize("shape", ["prose", "small tables", "quotes", "ideographs"])
def test_long_answers_do_not_depend_on_the_pieces(shape):
    text = SHAPES[shape][:6000]
    whole = Sheet(60, 20)
    draw(whole, [text], 0)
    for size in (1, 7, 300):
        pieces = Sheet(60, 20)
        draw(pieces, cut(text, size))
        assert pieces.styled == whole.styled


def test_an_answer_taller_than_the_window_is_there_once():
    markers = [f"marker{n:02}" for n in range(40)]
    sheet = Sheet(30, 10)
    draw(sheet, [f"{marker}\n\n" for marker in markers])
    shown = [word for word in sheet.text.split() if word.startswith("marker")]
    assert shown == markers


def test_the_newest_words_are_visible_at_each_idle():
    sheet = Sheet(30, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for n in range(60):
        renderer.show(TextDelta(f"line marker{n:02}\n"))
        renderer.show(Idle())
        assert f"marker{n:02}" in "\n".join(sheet.lines)


def test_a_short_answer_is_complete_all_the_time():
    sheet = Sheet()
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for n in range(1, 5):
        renderer.show(TextDelta(f"line{n}\n"))
        renderer.show(Idle())
        assert sheet.text.split() == ["Assistant>", *(f"line{m}" for m in range(1, n + 1))]


@pytest.mark.parametrize("narrower", [(50, 20), (80, 12), (120, 24), (33, 9)])
def test_a_resize_leaves_what_is_finished_alone(narrower):
    words = [f"word{n:03}" for n in range(200)]
    sheet = Sheet(80, 20)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for n, word in enumerate(words):
        renderer.show(TextDelta(word + ("\n\n" if n % 25 == 24 else " ")))
        renderer.show(Idle())
        if n == 110:
            before = sheet.text.split("\n")
            sheet.resize(*narrower)
    renderer.show(TurnEnded(1, "completed"))
    finished = [line for line in before[:-2] if line]
    for line in finished:
        assert sheet.text.count(line[: narrower[0]].rstrip()) == 1
    shown = sheet.text.split()
    assert [word for word in words[111:] if shown.count(word) != 1] == []
    assert sheet.cursor[1] == 0


@pytest.mark.parametrize("narrower", [30, 24, 12])
def test_where_rows_are_wrapped_anew_the_open_ones_are_taken_back_whole(narrower):
    table = "| column a | column b which is wide | c |\n|---|---|---|\n"
    rows = [f"| cell {n} is long enough | and so is the second one | x |\n" for n in range(3)]
    sheet = Sheet(78, 40)
    sheet.wraps_anew = True
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    renderer.show(TextDelta("all finished\n\n" + table + rows[0] + rows[1] + "| ce"))
    renderer.show(Idle())
    sheet.wrap_anew(narrower)
    renderer.show(TextDelta("ll 2" + rows[2].removeprefix("| cell 2") + "\nEND"))
    renderer.show(TurnEnded(1, "completed"))
    final = Sheet(narrower, 40)
    draw(final, ["all finished\n\n" + table + "".join(rows) + "\nEND"])
    assert sheet.text.split("\n")[-8:] == final.text.split("\n")[-8:]
    assert sheet.text.count("│ x") == final.text.count("│ x")
    assert sheet.text.count("END") == 1


def test_a_notice_stands_above_the_row_that_is_being_written():
    sheet = Sheet(40, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for event in (
        TextDelta("some **wor"),
        Idle(),
        Notice("warning", "careful\nnow"),
        TextDelta("ds** more"),
        Idle(),
    ):
        renderer.show(event)
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text == "Warning: careful\nnow\nAssistant> some words more"


def test_waiting_is_shown_and_leaves_no_trace():
    sheet, plain = Sheet(40, 10), Sheet(40, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    renderer.tick(0.5)
    assert sheet.text == ""
    renderer.tick(1.0)
    renderer.tick(12.0)
    assert sheet.text == "… 12 s"
    renderer.show(Idle())
    assert sheet.text == ""
    renderer.show(TextDelta("some words"))
    renderer.show(Idle())
    renderer.tick(3.0)
    assert sheet.text == "Assistant> some words\n… 3 s"
    renderer.show(TextDelta(" more"))
    renderer.show(Idle())
    renderer.tick(4.0)
    renderer.show(TurnEnded(1, "completed"))
    draw(plain, ["some words", " more"])
    assert sheet.text == plain.text
    assert sheet.cursor == plain.cursor


def test_no_row_is_drawn_above_the_window():
    sheet = Sheet(40, 10)
    draw(sheet, cut(SHAPES["small tables"][:3000] + SHAPES["a nested list"][:3000], 5))
    assert all(int(up) < 10 for up in re.findall(r"\x1b\[(\d+)A", sheet.raw))
    assert "\x1b[2J" not in sheet.raw


def test_what_is_there_for_now_only_is_gone_before_another_program_draws():
    sheet = Sheet(40, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for event in (TextDelta("some words"), Idle()):
        renderer.show(event)
    renderer.tick(3.0)
    sheet.write(sheet.passing)
    sheet.flush()
    assert sheet.text == "Assistant> some words"
    renderer.tick(4.0)
    renderer.show(ToolStarted(ToolCall("1", "t", "{}")))
    assert sheet.passing == ""
    renderer.show(ToolOutput("1", "one\ntwo\nthree"))
    sheet.write(sheet.passing)
    sheet.flush()
    assert sheet.text.endswith("[t {}]")


def test_what_takes_away_the_waiting_is_known_before_the_waiting_is_seen():
    class Seen(Sheet):
        def flush(self):
            if "…" in "".join(self._held):
                seen.append(self.passing)
            super().flush()

    seen = []
    renderer = rich(Seen(40, 10))
    renderer.show(TurnStarted(1, "q"))
    renderer.tick(3.0)
    assert seen == ["\r\x1b[J"]


def test_what_another_program_drew_over_is_painted_again_and_nothing_else():
    sheet = Sheet(40, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for event in (TextDelta("a finished block\n\nsome **wor"), Idle()):
        renderer.show(event)
    sheet.write("\n[1]+  Stopped\n$ fg\n")
    sheet.flush()
    sheet.visits += 1
    renderer.tick(0.2)
    assert sheet.text == ("Assistant> a finished block\n\nsome wor\n[1]+  Stopped\n$ fg\nsome wor")
    for event in (TextDelta("ds** more"), Idle()):
        renderer.show(event)
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text.endswith("[1]+  Stopped\n$ fg\nsome words more")


def test_a_question_about_a_tool_stands_below_what_was_said():
    sheet = Sheet(40, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for event in (TextDelta("I look."), Idle(), ToolCall("1", "look", "{}"), Notice("info", "Run look {}?")):
        renderer.show(event)
    assert sheet.text == "Assistant> I look.\nRun look {}?"
    assert sheet.cursor == (2, 0)


def test_a_running_tool_shows_its_last_lines_until_it_ends():
    sheet = Sheet(20, 10)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    renderer.show(ToolStarted(ToolCall("1", "build", "{}")))
    renderer.show(ToolOutput("1", "one\ntwo\nthr"))
    assert sheet.text == "[build {}]\none\ntwo\nthr"
    renderer.show(ToolOutput("1", "ee\n\nfour, which is\tlonger than the window 漢字\n"))
    assert sheet.text == "[build {}]\ntwo\nthree\nfour, which is    l"
    renderer.show(ToolEnded("1", ToolResult("1", "built"), 0.1))
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text == "[build {}]\n[build done in 0.1…]"


def test_the_wait_for_more_takes_nothing_from_what_is_open():
    sheet = Sheet(12, 4)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for event in (TextDelta("one two three four five six"), Idle()):
        renderer.show(event)
    for second in (1, 2, 3):
        renderer.tick(second)
    sheet.resize(10, 4)
    renderer.tick(0.1)
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text.split() == ["Assistant>", "one", "two", "three", "four", "five", "six"]


def test_a_table_is_drawn_as_one_while_it_grows():
    sheet = Sheet(40, 12)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    for text in ("Look:\n\n| a | b |\n|---|---|\n", "| one | 二 |\n", "| a longer cell | x |\n| th"):
        renderer.show(TextDelta(text))
        renderer.show(Idle())
        if text.startswith("| one"):
            assert sheet.text.split("\n")[2:] == ["a   │ b", "────┼───", "one │ 二"]
    assert sheet.text.split("\n")[2:] == [
        "a             │ b",
        "──────────────┼───",
        "one           │ 二",
        "a longer cell │ x",
        "| th",
    ]
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text.split("\n")[2:] == [
        "a             │ b",
        "──────────────┼───",
        "one           │ 二",
        "a longer cell │ x",
        "th            │",
    ]


@pytest.mark.parametrize(("delimiter", "cell"), [("--:", "  20"), (":-:", " 20"), ("---", "20")])
def test_the_last_column_of_a_long_table_stays_beside_the_others(delimiter, cell):
    rows = "".join(f"| row {n} | {n} |\n" for n in range(10, 30))
    sheet = Sheet(80, 40)
    draw(sheet, cut(f"| a | b |\n|---|{delimiter}|\n{rows}", 5))
    assert max(len(line) for line in sheet.text.split("\n")[1:]) < 20
    assert f"│ {cell}" in sheet.text


@pytest.mark.parametrize("narrow", ["", "\U0001f1e9\U0001f1ea\U0001f3fd"])
@pytest.mark.parametrize("start", ["```py\n", "> a\n\n", "- ", "| a |\n|---|\n| x |\n\n# "])
def test_no_row_is_lost_however_wide_a_terminal_draws_what_is_joined(monkeypatch, narrow, start):
    from mino_core.testing import paper

    counted = paper.wcwidth
    monkeypatch.setattr(paper, "wcwidth", lambda char: min(counted(char), 1 if char in narrow else 2))
    text = start + "".join(f"w{n:02} 👩‍🚀 *w{n:02} `🇩🇪 ⚠️ 👍🏽 " for n in range(40))
    whole, pieces = Sheet(40, 12), Sheet(40, 12)
    draw(whole, ["before\n\n", text], 0)
    draw(pieces, ["before\n\n", *text])
    assert pieces.text == whole.text
    shown = pieces.text.replace("\n", "")
    assert shown.count("w00") == shown.count("w39") == 2


def test_a_label_that_stands_alone_is_not_drawn_again_when_a_line_becomes_a_table():
    text = "| a | b |\n|---|--:|\n"
    for start in ("", "- - - - - - "):
        whole, pieces = Sheet(20, 30), Sheet(20, 30)
        draw(whole, [start + text], 0)
        draw(pieces, cut(start + text, 3))
        assert pieces.text == whole.text
        assert whole.text.count("Assistant>") == 1


_LONG = " ".join(f"w{n:03}" for n in range(300))
_LONG_LINES = {
    "a table's row": f"| a | b |\n|---|---|\n| x | {_LONG} |\n| y | z |\n",
    "its eleventh row": "| a | b |\n|---|---|\n" + "| x | y |\n" * 8 + f"| x | {_LONG} |\n| y | z |\n",
    "a table's header": f"| a | {_LONG} |\n|---|---|\n| x | y |\n",
    "the name of a language": f"```{_LONG}\ncode\n```\n",
    "code": f"```py\n{_LONG}\nx = 1\n```\n",
    "code with joined letters": f"```py\n👩‍🚀 {_LONG[:700]}\nx = 1\n```\n",
    "indented code": f"    👩‍🚀 {_LONG}\n",
    "dashes": "- " * 900 + "x\n",
    "a heading": f"# {_LONG}\n",
    "flags": "🇩🇪" * 300,
}


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (30, 5)])
@pytest.mark.parametrize("line", _LONG_LINES)
def test_a_line_longer_than_the_window_is_there_once(line, size):
    text = _LONG_LINES[line]
    whole, pieces = Sheet(*size), Sheet(*size)
    draw(whole, [text], 0)
    draw(pieces, cut(text, 7))
    assert pieces.text == whole.text
    assert pieces.styled == whole.styled
