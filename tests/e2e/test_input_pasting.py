"""Pasted text in the real mino: sent as it is, whatever it holds; it neither runs nor attaches anything."""

import json
from pathlib import Path

import pytest
from talk import Talk

BIG = "word " * 40_000


@pytest.fixture
def talk(tmp_path):
    with Talk(tmp_path) as talk:
        (Path(talk.env["HOME"]) / "notes.txt").write_text("remember the milk\n")
        (Path(talk.env["HOME"]) / "todo").write_text("buy milk\n")
        yield talk


def test_a_path_within_a_paste_attaches_nothing_while_a_typed_one_beside_it_does(talk):
    talk.answers("r1", "r2", "r3")
    terminal = talk.at_prompt()
    terminal.type("with @todo see ")
    terminal.paste("x = 1\n@notes.txt @none.txt\n")
    terminal.type(" please\r")
    talk.at_prompt()
    assert "[attached: todo (9 bytes)]" in terminal.text
    assert "there is no file" not in terminal.text
    attached = "with @todo see x = 1\n@notes.txt @none.txt\n please\n\ntodo\n```\nbuy milk\n```"
    assert talk.asked == [attached]
    terminal.press("up", "enter")  # the same again
    talk.at_prompt()
    assert talk.asked[1] == attached
    terminal.type("@")
    terminal.paste("notes.txt")  # only the name is pasted: the @ is a hand's
    terminal.press("enter")
    talk.at_prompt()
    assert "[attached: notes.txt (18 bytes)]" in terminal.text


def test_what_was_pasted_is_known_in_the_next_run(tmp_path):
    with Talk(tmp_path) as talk:
        talk.answers("ok")
        terminal = talk.at_prompt()
        terminal.paste("/exit")
        terminal.type(" @config.toml\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        kept = (talk.home / "input-history.jsonl").read_text()
        assert json.loads(kept) == {"text": "/exit @config.toml", "pasted": [[0, 5]]}
    with Talk(tmp_path) as talk:
        talk.answers("ok")
        terminal = talk.at_prompt()
        terminal.press("up", "enter")
        talk.at_prompt()
        assert talk.asked == ["/exit @config.toml"]


@pytest.mark.parametrize(
    "keys",
    [
        ("ctrl-u", "ctrl-y"),
        ("ctrl-a", "ctrl-k", "ctrl-y"),
        ("ctrl-c", "up"),
        ("ctrl-e", "backspace", "t"),
        ("ctrl-a", "space", "ctrl-e"),
    ],
)
def test_a_paste_that_is_cut_cleared_or_changed_is_still_no_command(talk, keys):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.paste("/exit")
    terminal.wait_for("You> /exit")
    terminal.press(*keys, "enter")
    talk.at_prompt()
    assert [line.strip() for line in talk.asked] == ["/exit"]


def test_a_huge_line_is_drawn_in_part_and_sent_kept_and_brought_back_whole(talk):
    talk.answers("r1", "r2")
    terminal = talk.at_prompt()
    terminal.paste(BIG)
    terminal.type("Z")
    terminal.wait_for("word Z")
    terminal.press("home")
    terminal.type("A ")
    terminal.wait_for("You> A word word")
    terminal.press("end")
    terminal.wait_for("word Z")
    drawn = len(terminal.raw)
    assert drawn < len(BIG) // 4
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == [f"A {BIG}Z"]
    assert terminal.text.replace("\n", "").count("word") == 40_000  # the scrollback has it whole
    terminal.press("up", "enter")
    talk.at_prompt()
    assert talk.asked[1] == talk.asked[0]


def test_controls_in_a_paste_are_shown_and_sent_but_reach_no_terminal(talk):
    talk.answers("ok")
    terminal = talk.at_prompt()
    text = "a\x1b[31mred\x07\x00\x9b31m \x1b]0;title\x07"
    terminal.type(f"\x1b[200~{text}\x1b[201~\r")
    talk.at_prompt()
    assert talk.asked == [text]
    assert not any(end in terminal.raw for end in (b"\x1b[31m", b"\x07", b"\x00", b"\xc2\x9b", b"\x1b]0"))


@pytest.mark.parametrize(
    "sequence",
    ["\x1b[31m", "\x1b[1;31m", "\x1b[m", "\x1b[<0;1;1M", "\x1b[M!!!", "\x1b[5;1R", "\x1b[I", "\x1b[9;9;9u"],
)
def test_sequences_outside_of_a_paste_cost_no_word(talk, sequence):
    talk.answers("ok")
    terminal = talk.at_prompt()
    terminal.type(f"one {sequence}two ")
    terminal.wait_for("two")
    terminal.type("three\r")
    talk.at_prompt()
    (asked,) = talk.asked
    assert asked.startswith("one ") and asked.endswith("two three")
    assert "plain lines" not in terminal.text


def test_what_is_searched_for_can_be_pasted(talk):
    talk.answers("r1", "r2")
    talk.at_prompt().type("the needle in the hay\r")
    terminal = talk.at_prompt()
    terminal.press("ctrl-r")
    terminal.paste("needle\n in")
    terminal.wait_for("search back: needle in")
    terminal.wait_for("You> the needle in the hay", count=2)
    terminal.press("enter", "enter")
    terminal.wait_for("r2")
    assert talk.asked == ["the needle in the hay"] * 2
