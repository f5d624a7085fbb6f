"""Lines for a terminal: columns by width, and breaks between words."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core.printing import _cells, say, table, wrapped


class Paper(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self):
        return True


def test_columns_line_up_whatever_the_letters_are_as_wide_as():
    lines = table([("名字", "one"), ("name", "two"), ("é", "three")], indent="").splitlines()
    assert lines == ["名字  one", "name  two", "é     three"]


def test_a_long_line_is_broken_between_words_and_a_table_below_its_last_column(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert wrapped("ok  plugins  loaded: anthropic, commands") == (
        "ok  plugins  loaded:\n             anthropic,\n             commands"
    )
    assert (
        wrapped("Known servers: openai, anthropic, deepseek") == "Known servers: openai,\nanthropic, deepseek"
    )


@given(
    st.lists(st.text(st.sampled_from("abc漢é"), min_size=1, max_size=25), min_size=1, max_size=12),
    st.integers(8, 60),
)
def test_no_word_is_cut_or_lost_and_no_line_is_too_long_that_need_not_be(words, columns):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        lines = wrapped(" ".join(words)).split("\n")
    assert " ".join(lines).split() == words
    assert all(_cells(line) <= columns or len(line.split()) == 1 for line in lines)


def test_into_a_pipe_and_verbatim_lines_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    for out, verbatim, shown in (
        (io.StringIO(), False, "one two three\n"),
        (Paper(), True, "one two three\n"),
        (Paper(), False, "one two\nthree\n"),
    ):
        monkeypatch.setattr(sys, "stdout", out)
        say("one two three", verbatim=verbatim)
        assert out.getvalue() == shown
