"""What a screen can do, and what may not reach it."""

import os
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core.screen import Sanitiser, Screen, ScreenGone, sanitise


def in_pieces(text, cuts):
    sanitiser = Sanitiser()
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    return "".join(map(sanitiser.feed, pieces)) + sanitiser.end()


SUSPECTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\r\n\t\x07\x08\x9b\x9d\u202e\u2066\u2028\U000e0041\U0001f3f4\U000e0067\U000e007f\u200d"
        ),
    )
)


@given(SUSPECTS, st.lists(st.integers(0, 40)))
def test_a_text_comes_out_the_same_however_it_is_split(text, cuts):
    assert in_pieces(text, cuts) == sanitise(text)


@given(SUSPECTS)
def test_no_control_reaches_the_terminal(text):
    for char in sanitise(text):
        assert char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs")
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Cn", "Zl", "Zp"))))
def test_ordinary_text_passes_unchanged(text):
    assert sanitise(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",  # Persian with ZWNJ
        "👨‍👩‍👧‍👦",  # a family, with ZWJ
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
        "שלום עולם",
        "\u200fRTL mark\u200e",
        "tabs\tand\nnewlines",
        "🇨🇳 漢字 e\u0301",
    ],
)
def test_legitimate_marks_pass(text):
    assert sanitise(text) == text
    assert in_pieces(text, range(len(text))) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("a\r\r\nb", "a␍\nb"),
        ("\x9b2J", "\ufffd2J"),
        ("\U000e0041x", "\ufffdx"),
        ("flag \U0001f3f4x\U000e0067", "flag \U0001f3f4x\ufffd"),
        ("\ud83d", "\ufffd"),
        ("\u2028", "\n"),
        ("\x7f", "␡"),
    ],
)
def test_suspects_become_marks(text, shown):
    assert sanitise(text) == shown


def screen_on(path, **environ):
    with path.open("wb") as file:
        return Screen(file.fileno(), 2, environ, "utf-8")


def test_nothing_is_written_before_flush_and_then_all_at_once(tmp_path):
    path = tmp_path / "out"
    screen = screen_on(path)
    screen.write("a")
    screen.write("b")
    assert path.read_text() == ""
    screen.flush()
    assert path.read_text() == "ab"


def test_text_that_the_encoding_lacks_is_replaced(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        screen = Screen(file.fileno(), 2, {}, "ascii")
    screen.write("π ≈ 3 — 漢\n• a │ b\n──┼──")
    screen.flush()
    assert (tmp_path / "out").read_bytes() == b"? ? 3 ? ?\n* a | b\n--+--"


def test_a_reader_that_left_is_told_by_screen_gone():
    reading, writing = os.pipe()
    screen = Screen(writing, 2, {})
    os.close(reading)
    screen.write("x")
    with pytest.raises(ScreenGone):
        screen.flush()
    os.close(writing)


def test_a_closed_standard_error_does_not_stop_the_answer(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with (tmp_path / "out").open("wb") as file:
        screen = Screen(file.fileno(), writing, {}, "utf-8")
        screen.aside("Warning: nobody reads this\n")
        screen.write("answer")
        screen.close()
    os.close(writing)
    assert (tmp_path / "out").read_text() == "answer"


@pytest.mark.parametrize(
    ("answer", "both"), [("words", "words\naside\nmore"), ("words\n", "words\naside\nmore")]
)
def test_what_is_aside_has_a_row_of_its_own_in_a_file_with_the_answer(tmp_path, answer, both):
    with (tmp_path / "both").open("wb") as file:
        screen = Screen(file.fileno(), file.fileno(), {}, "utf-8")
        screen.write(answer)
        screen.aside("aside\n")
        screen.write("more")
        screen.close()
    assert (tmp_path / "both").read_text() == both


@pytest.mark.parametrize(("into", "told"), [("a pipe", b"\r\naside\r\n"), ("a file", b"aside\r\n")])
def test_behind_a_pipe_there_may_be_the_same_terminal(tmp_path, into, told):
    ours, theirs = os.openpty()
    with (tmp_path / "out").open("wb") as file:
        reading, writing = os.pipe()
        screen = Screen(writing if into == "a pipe" else file.fileno(), theirs, {}, "utf-8")
        screen.write("words")
        screen.aside("aside\n")
        screen.close()
    assert os.read(ours, 100) == told
    for fd in (ours, theirs, reading, writing):
        os.close(fd)


def test_a_full_pipe_is_waited_for_and_nothing_is_lost():
    import threading

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    got = []

    def drain():
        while piece := os.read(reading, 4096):
            got.append(piece)

    reader = threading.Thread(target=drain)
    screen = Screen(writing, 2, {}, "utf-8")
    os.close(writing)
    screen.write("x" * 1_000_000)
    reader.start()
    screen.close()
    reader.join()
    os.close(reading)
    assert len(b"".join(got)) == 1_000_000


def on_terminal(**environ):
    ours, theirs = os.openpty()
    try:
        return Screen(theirs, theirs, environ)
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize(
    ("environ", "can_move", "colour"),
    [
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "CLICOLOR": "0"}, True, False),
        ({"TERM": "xterm", "CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, True, True),
        ({"TERM": "xterm", "CLICOLOR": "1", "FORCE_COLOR": "0"}, True, True),
        ({"TERM": "dumb"}, False, False),
        ({}, True, True),
        ({"TERM": ""}, True, True),
        ({"TERM": "foo-bar"}, True, True),
    ],
)
def test_what_a_terminal_can_do(environ, can_move, colour):
    screen = on_terminal(**environ)
    assert (screen.is_terminal, screen.can_move, screen.colour) == (True, can_move, colour)
    screen.close()


@pytest.mark.parametrize(
    ("environ", "links"),
    [
        ({"TERM": "xterm"}, False),
        ({"TERM": "xterm", "VTE_VERSION": "7200"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm", "TERM_PROGRAM": "iTerm.app", "TMUX": "x"}, False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_links_are_drawn_where_the_terminal_is_known_to(environ, links):
    screen = on_terminal(**environ)
    assert screen.hyperlinks is links
    screen.close()


@pytest.mark.parametrize(
    ("environ", "wraps"),
    [
        ({"TERM": "xterm"}, False),
        ({"TERM": "xterm", "VTE_VERSION": "7200"}, True),
        ({"TERM": "foot"}, True),
        ({"TERM": "tmux-256color", "TMUX": "x"}, True),
        ({"TERM": "screen", "TMUX": "x", "STY": "x"}, False),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1", "NVIM": "x"}, False),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, False),
    ],
)
def test_rows_are_wrapped_anew_where_the_terminal_is_known_to(environ, wraps):
    screen = on_terminal(**environ)
    assert screen.wraps_anew is wraps
    screen.close()


def test_a_pipe_has_no_colour_and_a_size(tmp_path):
    screen = screen_on(tmp_path / "out", TERM="xterm")
    assert (screen.is_terminal, screen.can_move, screen.colour) == (False, False, False)
    assert (screen.columns, screen.rows) == (80, 24)
    screen.close()


def test_columns_and_lines_of_the_environment_win(tmp_path):
    screen = screen_on(tmp_path / "out", COLUMNS="33", LINES="7")
    assert (screen.columns, screen.rows) == (33, 7)
    screen.close()
    screen = screen_on(tmp_path / "out", COLUMNS="0", LINES="no")
    assert (screen.columns, screen.rows) == (80, 24)
    screen.close()
