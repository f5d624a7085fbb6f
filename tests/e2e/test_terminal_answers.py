"""An answer in the real mino on a real terminal: what stands there while it comes, and afterwards."""

import json
import os
import re
import signal

import pytest
from mino_core import ReasoningDelta, ToolCall
from mino_core.testing import CUT, HANG, Terminal, chat, mino
from talk import Talk, is_stopped

CANARY = "sk-CANARY-0123456789"


def asks(talk, question="q"):
    """Ask, and wait for the next prompt; returns the terminal."""
    talk.at_prompt().type(f"{question}\r")
    return talk.at_prompt()


# -- rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        chat("x"),
        chat("x\n"),
        chat("x\n\n\n"),
        chat("x\n```\ncode\n```"),
        chat("x\n```\ncode"),
        chat("x", CUT),
        chat("x" * 30),
    ],
    ids=["nothing", "a newline", "newlines", "a fence", "an open fence", "a cut", "a full row"],
)
def test_the_next_prompt_has_a_row_of_its_own_whatever_the_answer_ends_with(tmp_path, reply):  # RI-08
    with Talk(tmp_path, "[renderer]\nusage = false\n", columns=30, rows=12) as talk:
        talk.server.reply(*reply)
        terminal = asks(talk)
        rows = terminal.text.split("\n")
        assert rows[-1] == "You>"
        assert rows[-2] != "" or rows[-3] != ""
        assert terminal.cursor[1] == 5


def test_an_answer_taller_than_the_window_is_there_once_and_its_newest_words_are_seen(tmp_path):
    """MD-01, MD-02."""
    import threading

    gates = [threading.Event() for _ in range(3)]
    marks = [f"marker{n:02} with words of a paragraph" for n in range(40)]
    pieces = []
    for n, mark in enumerate(marks):
        pieces.append(mark + "\n\n")
        if n in (5, 20, 35):
            pieces.append(gates[(5, 20, 35).index(n)])
    with Talk(tmp_path, columns=30, rows=10) as talk:
        talk.server.reply(*chat(*pieces))
        talk.at_prompt().type("q\r")
        for n, gate in zip((5, 20, 35), gates, strict=True):
            talk.terminal.wait_for(f"marker{n:02}")
            assert f"marker{n:02}" in "\n".join(talk.terminal.lines)
            gate.set()
        terminal = talk.at_prompt()
        shown = [word for word in terminal.text.split() if word.startswith("marker")]
        assert shown == [f"marker{n:02}" for n in range(40)]
        assert b"\x1b[2J" not in terminal.raw
        assert b"\x1b[3J" not in terminal.raw
        assert b"\x1b[?1049h" not in terminal.raw


def test_wide_letters_at_the_edge_are_all_there(tmp_path):  # UW-02
    text = "漢" * 200
    with Talk(tmp_path, "[renderer]\nusage = false\n", columns=21, rows=8) as talk:
        talk.server.reply(*chat(*(text[at : at + 7] for at in range(0, 200, 7))))
        terminal = asks(talk)
        answer = terminal.text.split("Assistant>")[1].removesuffix("You>")
        assert answer.replace("\n", "") == text
        assert max(len(row) for row in answer.split("\n")) <= 10


@pytest.mark.parametrize("columns", [12, 70])
def test_a_new_size_in_the_middle_of_an_answer_leaves_every_word_in_its_place(tmp_path, gate, columns):
    words = [f"word{n:03}" for n in range(60)]
    first = "- one\n- two\n\n```py\nx = 1\n```\n\n" + " ".join(words[:30])
    with Talk(tmp_path, columns=40, rows=12) as talk:
        talk.server.reply(*chat(first, gate, " " + " ".join(words[30:])))
        talk.at_prompt().type("q\r")
        talk.terminal.wait_for("word029")
        talk.terminal.resize(columns, 12)
        gate.set()
        shown = talk.at_prompt().text.split()
        # a terminal may cut what is too wide for it; what came afterwards is whole
        assert [word for word in shown if word.startswith("word") and word >= "word030"] == words[30:]
        assert shown.count("x") == shown.count("one") == 1


def test_ctrl_z_paints_only_what_was_open_again(tmp_path, gate):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat("A finished paragraph.\n\nsome **op", gate, "en** words"))
        talk.at_prompt().type("q\r")
        terminal = talk.terminal
        terminal.wait_for("some op")
        terminal.wait_for("… ")
        terminal.press("ctrl-z")
        terminal.wait_until(lambda: is_stopped(terminal.pid))
        terminal.wait_until(lambda: "…" not in terminal.text)
        assert terminal.modes == terminal.modes_at_start
        drawn = len(terminal.raw)
        terminal.signal(signal.SIGCONT)
        terminal.wait_until(lambda: b"op" in terminal.raw[drawn:])  # at once, though nothing has come
        assert b"finished" not in terminal.raw[drawn:]
        gate.set()
        talk.at_prompt()
        assert terminal.text.count("A finished paragraph.") == 1
        assert terminal.text.count("some open words") == 1
        talk.ends_by("ctrl-d")


def test_waiting_is_told_and_gone_without_a_trace(tmp_path, gate):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat(gate, "words"))
        talk.at_prompt().type("q\r")
        talk.terminal.wait_until(lambda: re.search(r"^… \d+ s$", talk.terminal.text, re.MULTILINE))
        gate.set()
        terminal = talk.at_prompt()
        assert "…" not in terminal.text
        assert "You> q\nAssistant> words\n[tokens" in terminal.text


# -- colours -----------------------------------------------------------------------------------------


def colours(raw):
    """The SGR parameters in these bytes that choose a colour."""
    found = re.findall(rb"\x1b\[([0-9;]*)m", raw)
    numbers = {int(number) for each in found for number in each.split(b";") if number}
    return {n for n in numbers if 30 <= n <= 48 or 90 <= n <= 107}


def markdown(tmp_path, **environ):
    """All that is written for an answer with code and an error."""
    with Talk(tmp_path, **environ) as talk:
        talk.answers("# T\n\n`code` and **bold**\n\n```python\ndef f(): return 'x'\n```")
        talk.server.fail(500)
        asks(talk, "one")
        talk.terminal.type("two\r")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        return talk.terminal.raw


def test_no_color_leaves_bold_and_no_colour(tmp_path):  # TE-02
    raw = markdown(tmp_path, NO_COLOR="1")
    assert colours(raw) == set()
    assert b"\x1b[1m" in raw


def test_an_empty_no_color_is_none(tmp_path):  # TE-03
    assert colours(markdown(tmp_path, NO_COLOR=""))


def test_only_colours_of_the_terminals_own_theme_are_used(tmp_path):
    """Light and dark terminals both stay legible: no background, no 256 colours, no black or white."""
    assert colours(markdown(tmp_path)) <= {31, 32, 33, 34, 35, 36, 39, 90, 91, 92, 93, 94, 95, 96}


# -- plain -------------------------------------------------------------------------------------------


def test_plain_draws_each_block_once_and_moves_nothing(tmp_path, gate):
    """For screen readers: no motion, no ticking; the words as they came (MD-14)."""
    text = "# A *title*\n\n| a | b |\n|---|---|\n| `c` | d |\n\n- item"
    with Talk(tmp_path, args=["--plain"]) as talk:
        talk.server.reply(*chat("# A *title*", gate, text.removeprefix("# A *title*")))
        talk.at_prompt().type("q\r")
        talk.terminal.wait_for("Assistant> # A *title*")
        gate.set()
        terminal = talk.at_prompt()
        assert text in terminal.text
        assert b"\x1b" not in terminal.raw
        assert b"\r" not in terminal.raw.replace(b"\r\n", b"")
        terminal.type("/exit\r")
        assert terminal.wait_exit() == 0


# -- reasoning, tools --------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["show", "hide"])
def test_thoughts_are_dim_or_hidden_and_never_part_of_the_answer(tmp_path, setting):
    with Talk(tmp_path, f'[renderer]\nreasoning = "{setting}"\n') as talk:
        talk.server.reply(*chat(ReasoningDelta("a thought"), "the answer"))
        terminal = asks(talk)
        assert ("a thought" in terminal.text) is (setting == "show")
        assert "Assistant> the answer" in terminal.text
        if setting == "show":
            assert b"\x1b[2ma thought" in terminal.raw
        terminal.type("/show 2\r")
        terminal.wait_for("a thought", count=2 if setting == "show" else 1)


TOOL = '''
from mino_core import ToolContext, Verdict, hookimpl

def peek(path: str, context: ToolContext) -> str:
    """Look into a file."""
    context.output("opening\\nreading\\n")
    open(path).read()
    return "line one\\n" + "word " * 60 + "\\nthe last line"

@hookimpl
def mino_tools():
    return {"peek": peek}

@hookimpl
def mino_approve(call):
    return Verdict(allowed=True)
'''


def test_a_tool_takes_two_quiet_rows_and_show_has_the_whole(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Talk(tmp_path, plugin=TOOL) as talk:
        talk.server.reply(*chat("I look.", ToolCall("1", "peek", f'{{"path": "{pipe}"}}')))
        talk.answers("Seen.")
        talk.at_prompt().type("q\r")
        talk.terminal.wait_for("reading")
        pipe.write_text("")
        terminal = talk.at_prompt()
        rows = terminal.text.split("\n")
        assert "opening" not in terminal.text
        assert [row for row in rows if row.startswith("[peek ")] == [rows[4], rows[5]]
        assert rows[3] == "Assistant> I look."
        assert rows[6] == "Seen."
        assert "the last line" not in terminal.text
        terminal.type("/show 2\r")
        talk.at_prompt()
        shown = "".join(terminal.text.split())  # a long path is broken where the window ends
        assert f"path:{pipe}Itsaid:lineone" in shown
        assert "the last line" in terminal.text


def test_copy_hands_the_source_to_the_terminal(tmp_path):
    import base64

    source = "# T\n\n```py\nx = 1\n```"
    with Talk(tmp_path) as talk:
        talk.answers(source)
        asks(talk).type("/copy\r")
        talk.terminal.wait_for("Copied")
        copied = talk.terminal.raw.partition(b"\x1b]52;c;")[2].partition(b"\x07")[0]
        assert base64.b64decode(copied).decode() == source


# -- signals, and a server that does harm ------------------------------------------------------------


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_in_mid_answer_leaves_the_terminal_and_the_words(tmp_path, signum):  # SG-02
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat("some partial words", HANG))
        talk.at_prompt().type("q\r")
        talk.terminal.wait_for("partial words")
        talk.terminal.signal(signum)
        assert talk.terminal.wait_exit() == -signum
        assert talk.terminal.modes == talk.terminal.modes_at_start
        assert talk.terminal.private_modes == {7, 25}
        kept = "".join(path.read_text() for path in talk.home.glob("history/*/*.jsonl"))
        assert "some partial words" in kept


FAILING = """
from mino_core import TextDelta, hookimpl

class Failing:
    def __init__(self):
        self.n = 0

    def show(self, event):
        self.n += isinstance(event, TextDelta)
        if self.n == 3:
            raise RuntimeError("a " + "CANARY"[:0] + "fault")

@hookimpl
def mino_renderers():
    return {"failing": lambda settings, screen: Failing()}
"""


def test_a_renderer_that_fails_costs_no_word(tmp_path):  # SG-04
    with Talk(tmp_path, '[renderer]\nname = "failing"\n', plugin=FAILING) as talk:
        talk.server.reply(*chat("one ", "two ", "three ", "four"))
        terminal = asks(talk)
        told = " ".join(terminal.text.split())
        assert "RuntimeError: a fault" in told and "from here on the text is plain" in told
        assert "one two three four" in terminal.text
        talk.ends_by("ctrl-d")


def test_too_many_requests_are_told_at_once_and_nothing_is_asked_again(tmp_path):  # CC-04
    with Talk(tmp_path) as talk:
        talk.server.fail(429, "slow down", "chat", {"retry-after": "30"})
        terminal = asks(talk)
        assert "Error: " in terminal.text
        assert "slow down" in terminal.text
        assert len(talk.server.requests) == 1


EVIL = (
    "\x1b]52;c;aGk=\x07 \x1b]0;title\x07 \x1b]8;;http://evil.example\x1b\\x\x1b]8;;\x1b\\ \x1b[2J\x1b[10A"
    "\x1b[6n \x1bP1$q\x1b\\ \x1b_app\x1b\\ \x1bc \x0e\x0f\x07 over\rwrite \x08 \x9b31m"
    " \u202eevil\u2066 \U000e0041"
)


def powers(raw):
    """What there is in `raw` of EVIL that a terminal would obey."""
    sequences = ("]52", "]0", "]8", "[2J", "[10A", "[6n", "P", "_", "c")
    marks = "\x07\x08\x0e\x0f\x9b\u202e\u2066\U000e0041"
    return [text for text in (*(f"\x1b{each}" for each in sequences), *marks, "over\r") if text in raw]


@pytest.mark.parametrize("plain", [False, True])
def test_nothing_from_outside_drives_the_terminal(tmp_path, plain):  # SE-01, SE-04
    forms = [
        EVIL,
        f"`{EVIL}`",
        f"```\n{EVIL}\n```",
        f"| a |\n|---|\n| {EVIL} |",
        f"[{EVIL}](http://a.b/{EVIL})",
    ]
    honest = "می‌خواهم 👨‍👩‍👧 \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f שלום"
    text = "\n\n".join([*forms, honest])
    with Talk(tmp_path, args=["--plain"] if plain else []) as talk:
        talk.server.reply(*chat(*(text[at : at + 3] for at in range(0, len(text), 3)), "\n\nEND"))
        talk.answers("yes")
        terminal = asks(talk)
        raw = terminal.raw.decode()
        assert powers(raw) == []
        for words in (*honest.split(), "END"):
            assert words in raw
        assert terminal.text.count("title") == len(forms) + 1
        terminal.type("still here\r")
        talk.at_prompt()
        assert talk.asked[-1] == "still here"


DOORS = f"""
from mino_core import hookimpl

EVIL = {EVIL!r}

def peek(path: str) -> str:
    print("printed", EVIL)
    return EVIL

def doors(session, rest):
    session.notify(EVIL)
    session.question(EVIL, ["yes" + EVIL, "no"])
    raise ValueError(EVIL)

@hookimpl
def mino_tools():
    return {{"peek": peek}}

@hookimpl
def mino_commands():
    return {{"doors": doors}}
"""


def test_no_door_lets_a_sequence_through(tmp_path):
    """Thoughts, calls, questions, results, what is printed, notices, errors, titles, file names, settings."""
    with Talk(tmp_path, plugin=DOORS) as talk:
        arguments = json.dumps({"path": EVIL})
        talk.server.reply(*chat(ReasoningDelta(EVIL), "I look.", ToolCall("1" + EVIL, "peek", arguments)))
        talk.answers("Seen.")
        talk.server.fail(500, EVIL)
        terminal = talk.at_prompt()
        terminal.type("q\r")
        terminal.wait_for("in this session]")
        rows = terminal.text.split("\n")
        assert any(row.endswith("I look.") for row in rows)  # the question has rows of its own
        assert rows[-1].startswith("[yes/no")
        terminal.type("y\r")
        talk.at_prompt().type("q\r")
        talk.at_prompt().type("/show 1\r")
        talk.at_prompt().type("/doors\r")
        terminal.wait_for("/no]")
        terminal.type("no\r")
        talk.at_prompt()
        terminal.press("ctrl-d")
        assert terminal.wait_exit() == 0
        assert powers(terminal.raw.decode()) == []
        titled = {"id": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "time": "2026-01-01T00:00:00Z", "turn": 2}
        for path in talk.home.glob("history/*/*.jsonl"):
            path.write_text(path.read_text() + json.dumps({**titled, "type": "titled", "title": EVIL}) + "\n")
        for arguments in (
            ["history", "list"],
            ["history", "search", "look"],
            ["-p", "x", "-a", EVIL.replace("/", "")],
            ["--provider", EVIL],
            ["-e", EVIL, "-p", "x"],
            ["config", "show"],
        ):
            if arguments[0] == "config":
                config = talk.home / "config.toml"
                config.write_text(config.read_text() + f"\n[{json.dumps(EVIL[:-1])}]\nx = 1\n")
            with Terminal(mino(*arguments), talk.env) as other:
                other.wait_exit()
                assert other.text
                assert powers(other.raw.decode()) == []


def test_a_link_that_pretends_shows_where_it_goes(tmp_path):  # SE-12
    links = "[https://good.example](https://evil.example/x) [f](file:///etc/passwd) [j](javascript:alert(1))"
    with Talk(tmp_path, FORCE_HYPERLINK="1") as talk:
        talk.answers(links)
        terminal = asks(talk)
        assert "evil.example" in terminal.text
        assert "file:///etc/passwd" in terminal.text
        assert b"\x1b]8;;https://evil.example/x\x1b\\" in terminal.raw
        assert b"]8;;file" not in terminal.raw
        assert b"]8;;javascript" not in terminal.raw


# -- size --------------------------------------------------------------------------------------------


def test_many_tiny_pieces_and_one_endless_line(tmp_path):  # PF-05, PF-07
    words = "abcdefghi " * 300
    with Talk(tmp_path, "[renderer]\nusage = false\n") as talk:
        talk.server.reply(*chat(*words, "END"))
        talk.answers("x" * 200_000 + "END")
        terminal = asks(talk, "one")
        assert terminal.text.split("Assistant> ")[1].split() == [*["abcdefghi"] * 300, "END", "You>"]
        terminal.type("two\r")
        terminal.wait_for("END", count=2)
        assert terminal.text.count("x" * 80) >= 2400
