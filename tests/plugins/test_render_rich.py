"""The renderer `rich`: Markdown on a terminal."""

from __future__ import annotations

import re

import pytest
from mino_core import (
    Idle,
    Notice,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    RoundStarted,
    SessionStarted,
    Settings,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from mino_core.testing import Canvas, RendererConformance
from render_sheet import Sheet, cut, draw, rich

from mino_render import mino_renderers


class TestRichKeepsEveryPromise(RendererConformance):
    def renderer(self, settings, screen):
        return mino_renderers()["rich"](settings, screen)


def shown(text, columns=80, rows=24, **options):
    """The rows of an answer below its label."""
    sheet = Sheet(columns, rows, **options)
    draw(sheet, cut("# T\n\n" + text, 3))
    return sheet.text.split("\n")[3:]


def look_of(text, word, **options):
    """Of the first letter of `word`: colour, bold, italic, underlined, struck."""
    sheet = Sheet(**options)
    draw(sheet, cut(text, 3))
    for row in sheet.styled:
        letters = "".join(cell[1] for cell in row)
        if word in letters:
            return row[letters.index(word)][2:]
    raise AssertionError(f"{word!r} is not shown")


PLAIN = ("default", False, False, False, False)


# -- no letter is lost ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "__init__ and snake_case and 2*3*4",
        "C:\\new\\_x and \\d+\\.\\d+",
        "[red]words[/red] :smile: {0} %s",
        "<details><summary>More</summary>",
        "<!-- a comment -->",
        "a footnote[^1] and [a reference][b]",
        "[^1]: what it says",
        "[b]: https://example.com/b",
        "\\(a_1 * b_1\\) and $x_i*y_i*z$ cost $5",
        "$$a_1*b*c$$",
        "*args and **kwargs",
        "a < b and c > d && e",
        "1986 was a great year",
    ],
)
def test_what_is_no_markup_stays_as_it_is(text):
    assert shown(text) == [text]


def test_single_newlines_are_line_breaks():
    assert shown("line1\nline2\nline3") == ["line1", "line2", "line3"]


def test_html_blocks_are_readable():
    text = '<div class="a_b_c">\n  <p>inside</p>\n</div>'
    assert "".join(shown(text)).replace(" ", "") == text.replace("\n", "").replace(" ", "")


def test_emphasis_works_between_ideographs_and_their_punctuation():
    assert shown("这是**“重点”**内容，**注意：**后面") == ["这是“重点”内容，注意：后面"]
    assert look_of("**注意：**后面", "注") == ("default", True, False, False, False)
    assert look_of("**注意：**后面", "后") == PLAIN


def test_inline_markup_is_drawn_and_not_shown():
    text = "**bold** *italic* ~~struck~~ `code` ***both*** plain"
    assert shown(text) == ["bold italic struck code both plain"]
    assert look_of(text, "bold") == ("default", True, False, False, False)
    assert look_of(text, "italic") == ("default", False, True, False, False)
    assert look_of(text, "struck") == ("default", False, False, False, True)
    assert look_of(text, "code") == ("magenta", False, False, False, False)
    assert look_of(text, "both") == ("default", True, True, False, False)
    assert look_of(text, "plain") == PLAIN


def test_an_entity_never_becomes_a_control():
    sheet = Sheet()
    draw(sheet, ["a &amp; b &copy; &#27;[31m &#x202e; c"])
    assert sheet.text == "Assistant> a & b © &#27;[31m &#x202e; c"
    assert "\x1b[31m" not in sheet.raw


# -- links ---------------------------------------------------------------------------------------


def test_without_hyperlinks_the_target_is_visible():
    text = "see [docs](https://example.com/a?b=1), https://example.org/x_y and <https://example.net>."
    assert shown(text, columns=120) == [
        "see docs (https://example.com/a?b=1), https://example.org/x_y and https://example.net."
    ]


def test_the_title_of_a_link_is_not_lost():
    text = """[a](https://example.com "one 'two'") ![b](<x y> 'three') [c](z (four)) [](u "five")"""
    assert shown(text, columns=200) == [
        """a (https://example.com "one 'two'") b (x y 'three') c (z (four)) u ("five")"""
    ]
    assert shown('[a](https://example.com "one")', hyperlinks=True) == ['a ("one")']


def test_with_hyperlinks_the_label_leads_to_exactly_the_target():
    sheet = Sheet(hyperlinks=True)
    draw(sheet, ["see [docs](https://example.com/a?b=1) (https://example.org/x)."])
    assert re.findall(r"\x1b\]8;;([^\x1b]+)\x1b\\", sheet.raw) == [
        "https://example.com/a?b=1",
        "https://example.org/x",
    ]
    assert sheet.text == "Assistant> see docs (https://example.org/x)."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[https://good.example](https://evil.example/x)", "https://good.example (evil.example)"),
        ("[good.example](https://evil.example/x)", "good.example (evil.example)"),
        ("[good.example](https://good.example/x)", "good.example"),
        ("[x](https://good.example@evil.example/)", "x"),
        ("[a.b](https://good.example@evil.example/)", "a.b (evil.example)"),
        ("[x](file:///etc/passwd)", "x (file:///etc/passwd)"),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("[x](docs/page.md)", "x (docs/page.md)"),
        ("![a picture](https://example.com/p.png)", "a picture"),
    ],
)
def test_a_link_that_misleads_or_cannot_be_opened_shows_where_it_goes(text, expected):
    sheet = Sheet(hyperlinks=True)
    draw(sheet, cut(text, 4))
    assert sheet.text == "Assistant> " + expected
    assert all(
        target.startswith("https://") for target in re.findall(r"\x1b\]8;;([^\x1b]+)\x1b\\", sheet.raw)
    )


def test_an_endless_address_is_text():
    address = "https://example.com/" + "a" * 100_000
    sheet = Sheet(hyperlinks=True)
    draw(sheet, [f"[x]({address})"])
    assert "\x1b]8" not in sheet.raw
    assert address in sheet.text.replace("\n", "")


# -- blocks --------------------------------------------------------------------------------------


def test_code_has_nothing_around_it_and_no_newline_where_it_wraps():
    code = ["def f():", "    return 1", "", "x = '" + "y" * 100 + "'"]
    sheet = Sheet(40, 24)
    draw(sheet, cut("```python\n" + "\n".join(code) + "\n```\n", 5))
    written = re.sub(r"\x1b\[[0-9;]*m", "", sheet.raw)
    final = Sheet(40, 24)
    draw(final, ["```python\n" + "\n".join(code) + "\n```\n"], 0)
    assert "\n".join(["╭─ python", *code, "╰─"]) in re.sub(r"\x1b\[[0-9;]*m", "", final.raw)
    assert "y" * 100 in written
    assert final.text == sheet.text


def test_fences_nested_longer_tilde_and_never_closed():
    first = "````md\n```py\ninner\n```\n````\nAFTER1 **b** `` ` ``\n~~~\ntilde\n~~~\n```\nnever closed"
    sheet = Sheet()
    renderer = rich(sheet)
    for text in (first, "**bold** AFTER2"):
        renderer.show(TurnStarted(1, "q"))
        for piece in cut(text, 4):
            renderer.show(TextDelta(piece))
            renderer.show(Idle())
        renderer.show(TurnEnded(1, "completed"))
    assert sheet.text.split("\n") == [
        "Assistant>",
        *("╭─ md", "```py", "inner", "```", "╰─"),
        "AFTER1 b `",
        *("╭─", "tilde", "╰─"),
        *("╭─", "never closed", "╰─"),
        "Assistant> bold AFTER2",
    ]


def test_code_is_coloured_and_carries_its_state_from_line_to_line():
    text = "```python\nx = '''one\ntwo'''\ny = 3\n```"
    assert look_of(text, "two")[0] == "green"
    assert look_of(text, "3")[0] == "cyan"
    assert look_of("```js\n/* one\ntwo */ let x\n```", "two")[2] is True
    assert look_of("```js\n/* one\ntwo */ let x\n```", "let")[0] == "magenta"
    assert look_of("```nosuchlanguage\nlet\n```", "let") == PLAIN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3. c\n4. d", ["3. c", "4. d"]),
        ("1. a\n   - x\n\n   ```\n   y\n   ```\n2. b", ["1. a", "   • x", "", "╭─", "y", "╰─", "2. b"]),
        ("1. a\n   1. x\n   2. y\n2. b", ["1. a", "   1. x", "   2. y", "2. b"]),
        ("1. a\n1. b\n1. c", ["1. a", "2. b", "3. c"]),
        ("1. a\n3. c\n", ["1. a", "3. c"]),
        ("1) a\n2) b", ["1) a", "2) b"]),
        ("9. a\n10. b\n    more", ["9. a", "10. b", "    more"]),
        ("- a\n- b\n\n- c", ["• a", "• b", "", "• c"]),
        ("- [ ] open\n- [x] done", ["• [ ] open", "• [x] done"]),
        ("- \n- b", ["•", "• b"]),
        ("> " * 13 + "x\n\n1. a\n   - b", ["│ " * 12 + "> x", "", "1. a", "   • b"]),
    ],
)
def test_lists_keep_their_numbers_and_their_levels(text, expected):
    assert shown(text) == expected


def test_rows_of_an_item_and_of_a_quote_are_indented():
    assert shown("- " + "word " * 6, columns=20) == ["• word word word", "  word word word"]
    assert shown("> " + "word " * 6, columns=20) == ["│ word word word", "│ word word word"]
    assert shown("> a\n>\n> - b\n\nc") == ["│ a", "│", "│ • b", "", "c"]


def test_headings_and_rules():
    assert shown("## Two ##\n\nsetext\n===\nthen\n\n---\nend") == [
        "Two",
        "",
        "setext",
        "then",
        "",
        "─" * 40,
        "end",
    ]
    assert look_of("# One", "One") == ("default", True, False, True, False)
    assert look_of("## Two", "Two") == ("default", True, False, False, False)


def test_tables_align_whatever_their_letters():
    text = (
        "| Name | 数量 | Price |\n|:-----|:----:|------:|\n| 苹果 | 3 | 1.20 |\n"
        "| e\u0301te\u0301 | 12 | 30 |\n"
        "| ⚠️ | 1 | 4 |\n| w\u2060o\u200br | 5 | 6 |\n| 👩‍🚀🇩🇪 | 7 | 8 |\n"
    )
    sheet = Sheet(40, 24)
    draw(sheet, cut("# T\n\n" + text, 3))
    places = [[x for x, char, *_ in row if char in "│┼"] for row in sheet.styled[3:]]
    assert len(places) == 7
    assert len({tuple(place) for place in places}) == 1
    assert sheet.text.split("\n")[3:6] == [
        "Name     │ 数量 │ Price",
        "─────────┼──────┼──────",
        "苹果     │  3   │  1.20",
    ]


def test_long_cells_are_wrapped_in_their_column():
    text = "| a | b |\n|---|---|\n| " + "word " * 10 + "| x |\n"
    rows = shown(text, columns=30)
    assert " ".join(" ".join(row.split("│")[0] for row in rows[2:]).split()) == " ".join(["word"] * 10)
    assert all(len(row) <= 30 for row in rows)


def test_a_table_too_wide_for_columns_becomes_a_list():
    header = " | ".join(f"head{n}" for n in range(8))
    rows = shown(f"| {header} |\n|{'---|' * 8}\n| {header.replace('head', 'cell')} |\n", columns=20)
    assert rows[:8] == [f"head{n}: cell{n}" for n in range(8)]


def test_a_bar_in_a_sentence_makes_no_table_and_extra_cells_are_kept():
    assert shown("this | that\nmore") == ["this | that", "more"]
    assert shown("| a | b |\n|---|---|\n| 1 | 2 | 3 |\nafter") == [
        "a │ b",
        "──┼──────",
        "1 │ 2 | 3",
        "after",
    ]


def test_wide_letters_at_the_edge():
    sheet = Sheet(21, 8)
    draw(sheet, cut("漢" * 200, 7))
    assert sheet.text.count("漢") == 200
    assert set(sheet.text) <= set("Assistant> 漢\n")
    assert all(len(row) <= 10 or row.startswith("A") for row in sheet.text.split("\n"))


def test_an_address_is_left_whole_for_the_terminal_to_wrap():
    address = "https://example.com/" + "abc/" * 20
    sheet = Sheet(40, 24)
    draw(sheet, [f"Look at {address} and go on."], 0)
    assert address in re.sub(r"\x1b\[[0-9;]*m", "", sheet.raw)


# -- terminals -----------------------------------------------------------------------------------


def test_without_colour_there_is_none_and_code_keeps_its_ticks():
    sheet = Sheet(colour=False)
    renderer = rich(sheet)
    renderer.show(TurnStarted(1, "q"))
    text = "**b** `code` [l](http://x.y)\n\n```python\ndef f(): 1\n```\n> quote\n\n| a |\n|---|\n"
    for piece in cut(text, 3):
        renderer.show(TextDelta(piece))
        renderer.show(Idle())
    renderer.show(Notice("error", "bad"))
    renderer.show(TurnEnded(1, "failed", ProviderError("http", "broke")))
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", sheet.raw) for code in found.split(";")}
    assert codes <= {"", "1", "2", "3", "4", "9"}
    assert "b `code` l (http://x.y)" in sheet.text


def test_only_the_sixteen_colours_are_used():
    sheet = Sheet()
    draw(sheet, ["```python\nclass A(B):\n    def f(self): return 'x' + 1  # c\n```\n`c`"])
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", sheet.raw) for code in found.split(";")}
    assert codes <= {"", *map(str, (1, 2, 3, 4, 9)), *map(str, range(30, 38))}


def test_a_dumb_terminal_gets_plain_text():
    with Canvas(environ={"TERM": "dumb"}) as canvas:
        renderer = mino_renderers()["rich"](Settings({}), canvas.screen)
        for event in (TurnStarted(1, "q"), TextDelta("**bold** words"), Idle(), TurnEnded(1, "completed")):
            renderer.show(event)
        assert b"\x1b" not in canvas.raw
        assert canvas.text.startswith("Assistant> **bold** words")


def test_a_pipe_gets_colour_only_where_it_is_forced():
    for forced in ({}, {"FORCE_COLOR": "1"}):
        with Canvas(terminal=False, environ=forced) as canvas:
            renderer = mino_renderers()["rich"](Settings({}), canvas.screen)
            for event in (TurnStarted(1, "q"), TextDelta("**bold**"), Idle(), TurnEnded(1, "completed")):
                renderer.show(event)
            assert canvas.raw == (b"\x1b[1mbold\x1b[m\n" if forced else b"**bold**")


@pytest.mark.parametrize("size", [(1, 1), (1, 24), (80, 1), (2, 2), (3, 5)])
def test_tiny_windows_do_no_harm(size):
    sheet = Sheet(*size)
    text = (
        "# H\n\n漢字 **b** [l](http://x.y)\n\n1. a\n   - b\n\n> q\n\n"
        "| a | b |\n|---|---|\n| 漢 | 2 |\n\n```py\nx\n```\n"
    )
    draw(sheet, cut(text, 2))
    assert sheet.cursor[1] == 0


# -- the turn ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", ["x", "x\n", "x\n\n\n", "```\ncode\n```", "```\ncode", "- x\n\n", "| a |\n|--|\n"]
)
def test_the_next_prompt_begins_on_a_row_of_its_own(answer):
    sheet = Sheet()
    draw(sheet, [answer])
    row, column = sheet.cursor
    assert column == 0
    assert sheet.lines[row - 1] != ""
    assert sheet.lines[row] == ""


def test_a_turn_from_the_banner_to_the_usage():
    sheet = Sheet(72, 24)
    renderer = rich(sheet, usage=True)
    call = ToolCall("1", "look", '{"path": "a"}')
    for event in (
        SessionStarted("01J", "demo", "m", "mino: m (demo)\nleave with /exit"),
        TurnStarted(1, "q"),
        RoundStarted(1),
        Idle(),
        ReasoningDelta("I should *look*."),
        TextDelta("I look."),
        Idle(),
        call,
        ToolStarted(call),
        ToolEnded("1", ToolResult("1", "one\ntwo"), 0.25),
        RoundStarted(2),
        TextDelta("It is **there**."),
        Idle(),
        TurnEnded(1, "failed", ProviderError("http", "it broke"), Usage(10, 4, None, 5, None, 15)),
    ):
        renderer.show(event)
    assert sheet.text.split("\n") == [
        "mino: m (demo)",
        "leave with /exit",
        "I should look.",
        "Assistant> I look.",
        '[look {"path": "a"}]',
        "[look done in 0.2 s: one two]",
        "It is there.",
        "Error: it broke",
        "[tokens: input 10, output 5, total 15, cached 4; first token n/a]",
    ]


@pytest.mark.parametrize("name", ["plain", "rich"])
def test_a_call_that_was_not_allowed_is_told_by_its_name(name):
    with Canvas() as canvas:
        renderer = mino_renderers()[name](Settings({}), canvas.screen)
        refused = ToolResult("1", "the call was not allowed", is_error=True)
        for event in (TurnStarted(1, "q"), ToolCall("1", "look", "{}"), ToolEnded("1", refused, 0.0)):
            renderer.show(event)
        assert "[look failed in 0.0 s: the call was not allowed]" in canvas.text


def test_a_refusal_is_announced_once():
    sheet = Sheet()
    renderer = rich(sheet)
    for event in (TurnStarted(1, "q"), RefusalDelta("I would "), Idle(), RefusalDelta("rather not."), Idle()):
        renderer.show(event)
    renderer.close()
    assert sheet.text == "Assistant> Model refused: I would rather not."


def test_reasoning_is_dim_and_can_be_hidden():
    for choice in ("show", "hide"):
        sheet = Sheet()
        renderer = rich(sheet, reasoning=choice)
        for event in (
            TurnStarted(1, "q"),
            ReasoningDelta("thought"),
            TextDelta("answer"),
            TurnEnded(1, "completed"),
        ):
            renderer.show(event)
        assert sheet.text == ("thought\n" if choice == "show" else "") + "Assistant> answer"
        assert ("\x1b[2mthought\x1b[m" in sheet.raw) is (choice == "show")


def test_a_quiet_session_has_no_usage_line():
    sheet = Sheet()
    renderer = rich(sheet, usage=True)
    for event in (SessionStarted("1", "p", "m", quiet=True), TurnStarted(1, "q"), TextDelta("a")):
        renderer.show(event)
    renderer.show(TurnEnded(1, "completed"))
    assert sheet.text == "Assistant> a"


def test_nothing_heavy_is_imported_before_the_first_turn():
    import subprocess
    import sys

    code = (
        "import sys, mino_render, mino_render.rich_terminal\n"
        "print([name for name in ('wcwidth', 'pygments', 'unicodedata', 'rich') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\n"
