"""What the input line is made of, each part by itself."""

import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import Pasted, Secret
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from mino_input import hidden, letters
from mino_input.choices import understand
from mino_input.completion import candidates
from mino_input.drawing import rows_above
from mino_input.keys import BURST, ENTER, Keyboard
from mino_input.past import Past
from mino_input.pasted import PasteWatch

# -- what an answer means ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "choices", "meant"),
    [
        ("yes", ["yes", "no"], "yes"),
        (" Y ", ["yes", "no"], "yes"),
        ("no", ["no", "not now"], "no"),
        ("", ["yes", "no"], "no"),
        ("  ", ["allow", "deny"], "deny"),
        ("", ["once", "always"], None),
        ("", [], None),
        ("是", ["是", "否"], "是"),
        ("", ["是", "否"], "否"),
    ],
)
def test_an_answer_means_one_choice_and_a_blank_one_means_no(said, choices, meant):
    assert understand(said, choices) == meant


@pytest.mark.parametrize(("said", "choices"), [("maybe", ["yes", "no"]), ("n", ["no", "not now"]), ("x", [])])
def test_an_answer_that_is_no_choice_or_two_means_none(said, choices):
    with pytest.raises(ValueError, match="unpack"):
        understand(said, choices)


# -- hidden characters -------------------------------------------------------------------------------

SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
HONEST = [
    "plain",
    "می\u200cخواهم",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    SCOTLAND,
    "שלום\u200f",
    "e\u0301\tx\n",
]


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_hides_nothing(text):
    assert hidden.warning(text) == ""
    assert hidden.marked(text) == text


@pytest.mark.parametrize("char", ["\u202e", "\u2066", "\U000e0041", "\u200b", "\ufeff"])
def test_a_hidden_character_is_marked_and_named(char):
    assert f"1 hidden character (U+{ord(char):04X})" in hidden.warning(f"a{char}b")
    assert hidden.marked(f"a{char}b{SCOTLAND}") == f"a\ufffdb{SCOTLAND}"


@given(st.text())
def test_marks_keep_every_place(text):
    assert len(hidden.marked(text)) == len(text)


# -- what was typed before ---------------------------------------------------------------------------


def test_entries_come_back_whole_in_order_and_once(tmp_path):
    path = tmp_path / "deep" / "past"
    past = Past(path)
    for text in ("one", "two\nlines \u2028 and\r more", "two\nlines \u2028 and\r more", "  ", "漢字"):
        past.add(text)
    assert Past(path).entries == ["one", "two\nlines \u2028 and\r more", "漢字"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert past.trouble == ""


def test_a_secret_is_remembered_but_not_kept(tmp_path):
    Secret("a test", lambda: "sk-of-this-test").reveal()
    past = Past(tmp_path / "past")
    past.add("use sk-of-this-test please")
    assert past.entries == ["use sk-of-this-test please"]
    assert not (tmp_path / "past").exists()


@pytest.mark.parametrize(
    "damage",
    [
        bytes(range(256)) * 256,
        b"\x1f\x8b\x08 gzip",
        b"null\n",
        b'"torn',
        b"[" * 9999,
        b'{"text": "x", "pasted": 1}',
        b'{"text": "x", "pasted": [[0]]}',
        b'{"text": "x", "pasted": [["a", "b"]]}',
    ],
)
def test_a_damaged_file_is_put_aside_whole_and_said_once(tmp_path, damage):
    path = tmp_path / "past"
    path.write_bytes(b'"good"\n' + damage)
    past = Past(path)
    assert past.entries == ["good"]
    assert "past was damaged; it is kept as past.damaged-1" in past.trouble
    assert (tmp_path / "past.damaged-1").read_bytes() == b'"good"\n' + damage
    past.add("new")
    again = Past(path)
    assert again.entries == ["good", "new"]
    assert again.trouble == ""


def test_an_empty_file_is_not_damaged(tmp_path):
    (tmp_path / "past").touch()
    assert Past(tmp_path / "past").trouble == ""


def test_a_place_that_cannot_be_used_is_said_and_memory_goes_on(tmp_path):
    (tmp_path / "past").mkdir()
    past = Past(tmp_path / "past")
    assert "Is a directory" in past.trouble
    past.add("text")
    assert past.entries == ["text"]


def test_only_the_end_of_a_large_file_is_read_and_nothing_of_it_is_lost(tmp_path):
    path = tmp_path / "past"
    path.write_text("".join(json.dumps(f"entry {n} " + "x" * 100) + "\n" for n in range(20_000)))
    size = path.stat().st_size
    past = Past(path)
    assert len(past.entries) == 2000
    assert past.entries[-1].startswith("entry 19999 ")
    assert past.trouble == ""
    assert path.stat().st_size == size


def test_a_huge_entry_does_not_fill_the_file(tmp_path):
    past = Past(tmp_path / "past")
    past.add("x" * 100_000)
    assert past.entries == ["x" * 100_000]
    assert not (tmp_path / "past").exists()


# -- keys --------------------------------------------------------------------------------------------


def lines_of(pieces):
    """What arrives at the keyboard piece by piece, as lines, each with whether its Enter is of a burst."""
    keyboard = Keyboard()
    lines, line = [], ""
    for piece in pieces:
        for press in keyboard._mark_burst(keyboard._parse(piece)):
            if press.key is ENTER:
                lines.append((line, press.data == BURST))
                line = ""
            else:
                line += press.data
    return lines


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"/", b"x", b"\r"], [("/x", False)]),
        ([b"/exit\r"], [("/exit", False)]),
        ([b"a\r\r"], [("a", False), ("", False)]),
        ([b"a\r/exit\r"], [("a", True), ("/exit", True)]),
        ([b"a\r/ex", b"it\r", b"/exit\r"], [("a", True), ("/exit", True), ("/exit", False)]),
        ([b"a\rb\r", b"/", b"x", b"\r"], [("a", True), ("b", True), ("/x", False)]),
        ([b"\x1b[200~a\rb\x1b[201~\r"], [("a\rb", False)]),
        (["漢".encode()[:1], "漢".encode()[1:], b"\r"], [("漢", False)]),
    ],
)
def test_lines_that_came_at_once_are_a_burst(pieces, lines):
    assert lines_of(pieces) == lines


def test_a_paste_is_one_key_wherever_its_pieces_are_cut():
    data = "\x1b[200~first\rsecond 漢\x1b[201~x".encode()
    for cut in range(1, len(data)):
        for size in (1, 3, cut):
            keyboard = Keyboard()
            pieces = [data[:cut], *(data[at : at + size] for at in range(cut, len(data), size))]
            pressed = [press.data for piece in pieces for press in keyboard._parse(piece)]
            assert pressed == ["first\rsecond 漢", "x"]


def test_a_paste_whose_end_never_comes_is_ended_by_ctrl_c():
    keyboard = Keyboard()
    pieces = [b"\x1b[200~half a", b" paste \x03 of", b" it", b"\x03", b"x"]
    pressed = [press.data for piece in pieces for press in keyboard._parse(piece)]
    assert pressed == ["half a paste \x03 of it", "x"]


# -- where something was pasted ----------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["type", "paste", "rub out", "move"]), st.integers(0, 30))))
def test_what_was_pasted_stays_known_however_the_line_is_edited(steps):
    """Typed letters are small, pasted ones large; the line says the same, wherever the cursor went."""
    buffer = Buffer()
    watch = PasteWatch(buffer)
    for step, (act, n) in enumerate(steps):
        letter = chr(ord("a") + step % 26)
        match act:
            case "type":
                buffer.insert_text(letter)
            case "paste":
                watch.insert(letter.upper() * (n % 4 + 1))
            case "rub out":
                buffer.delete_before_cursor(min(n % 3, buffer.cursor_position))
            case "move":
                buffer.cursor_position = n % (len(buffer.text) + 1)
    line = watch.line()
    known = [isinstance(line, Pasted) and line.covers(at) for at in range(len(line))]
    assert known == [letter.isupper() for letter in line]


def test_an_edit_from_outside_leaves_marked_what_it_did_not_touch():
    buffer = Buffer()
    watch = PasteWatch(buffer)
    watch.insert("@one @two")
    buffer.document = Document("see @one and @two", 3)
    line = watch.line()
    assert [line.covers(line.index(word)) for word in ("see", "@one", "@two")] == [False, True, True]
    watch.forget()
    buffer.document = Document("@one", 4)
    assert not isinstance(watch.line(), Pasted)


# -- letters -----------------------------------------------------------------------------------------

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
LETTERS = [
    "a",
    "e\u0301",
    FAMILY,
    "🇩🇪",
    "🇫🇷",
    "👍🏽",
    SCOTLAND,
    "नि",
    "한",
    "\u1112\u1161\u11ab",
    "❤️",
    "1️⃣",
    "漢",
    "\n",
    "\t",
]


@given(st.lists(st.sampled_from(LETTERS)))
def test_a_letter_is_what_a_reader_takes_for_one(chosen):
    text = "".join(chosen)
    ends, at = [], 0
    while at < len(text):
        at = letters.after(text, at)
        ends.append(at)
    begins, at = [], len(text)
    while at > 0:
        at = letters.before(text, at)
        begins.append(at)
    assert [text[start:end] for start, end in zip(reversed(begins), ends, strict=True)] == chosen


@given(st.text())
def test_every_step_over_a_letter_comes_to_an_end(text):
    for at in range(len(text)):
        assert at < letters.after(text, at) <= len(text)
        assert 0 <= letters.before(text, at + 1) <= at


# -- completion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("look at @", [("docs/", 0), ("dough", 0), ("two\\ words", 0)]),
        ("look at @do", [("docs/", 2), ("dough", 2)]),
        ("@docs/", [("a.md", 0), ("报告.md", 0)]),
        ("看@docs/报", [("报告.md", 1)]),
        ("@two\\ w", [("two\\ words", 6)]),
        ('@"two w', [('two words"', 5)]),
        ('see @"docs/a', [('a.md"', 1)]),
        ('@"doc', [("docs/", 3)]),
        ('@"two words"', []),
        ("@.", [(".hidden", 1)]),
        ("me@do", []),
        ("@nowhere/", []),
        ("/help @do", []),
    ],
)
def test_a_path_behind_an_at_sign_is_completed(tmp_path, monkeypatch, text, offered):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("dough", "two words", ".hidden", "docs/a.md", "docs/报告.md", "bell\x07"):
        (tmp_path / name).write_text("")

    class NoCommands:
        def commands(self):
            return {}

    assert [(each.text, each.replaces) for each in candidates(NoCommands(), text)] == offered


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("/set api_key sk-CANARY-0123456789", False),
        ("my password: hunter2hunter2", False),
        ("export OPENAI_API_KEY=abcd1234efgh", False),
        ("use AKIAIOSFODNN7EXAMPLE", False),
        ("how many tokens does a password field need?", True),
        ("what is the secret of sk-lasers", True),
    ],
)
def test_what_looks_like_a_key_is_not_kept(tmp_path, line, kept):
    past = Past(tmp_path / "past.jsonl")
    past.add(line)
    assert past.entries == [line]
    assert (tmp_path / "past.jsonl").exists() is kept


# -- where the line stands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "x", "columns", "above"),
    [
        (["You> words"], 10, 40, 0),
        (["You> words"], 10, 10, 0),
        (["You> words"], 10, 9, 1),
        (["You> words"], 3, 4, 0),
        (["a" * 40, "b" * 25], 25, 20, 3),
        (["a" * 40, "b" * 25], 20, 20, 2),
        (["a" * 40, "b" * 25], 25, 80, 1),
        (["a" * 40, ""], 0, 40, 1),
        (["You> " + "漢" * 7], 19, 8, 2),
        (["e\u0301" * 5], 5, 5, 0),
        (["漢" * 3], 6, 1, 3),
    ],
)
def test_rows_above_the_cursor_are_those_that_the_terminal_has_made_of_them(rows, x, columns, above):
    assert rows_above(rows, x, columns) == above
