"""The terminal and the canvas: what is drawn, what is typed, what is left behind."""

import signal
import sys
import termios
import threading
from xml.etree import ElementTree

import pytest
from mino_core.testing import Canvas, Terminal, home

ECHO = r"""
import os, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?2004hready ")
while (keys := os.read(0, 1000)) != b"q":
    os.write(1, repr(keys).encode() + b"\r\n")
os.write(1, b"\x1b[?2004l")
termios.tcsetattr(0, termios.TCSANOW, before)
sys.exit(7)
"""


@pytest.fixture
def environ(tmp_path):
    return home(tmp_path)


def python(code):
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_program_on_a_terminal_is_driven_to_its_end(environ):
    with Terminal(python(ECHO), environ, columns=40, rows=10) as terminal:
        terminal.wait_for("ready")
        assert terminal.modes != terminal.modes_at_start
        assert terminal.private_modes == {7, 25, 2004}
        terminal.type("é漢")
        terminal.wait_for(repr("é漢".encode()))
        terminal.press("q")
        assert terminal.wait_exit() == 7
        assert terminal.modes == terminal.modes_at_start
        assert terminal.private_modes == {7, 25}
        assert terminal.raw.startswith(b"\x1b[?2004hready ")
        assert terminal.raw.endswith(b"\x1b[?2004l")


def test_what_a_program_leaves_changed_is_seen_after_its_end(environ):
    code = "import tty; tty.setraw(0); print('\\x1b[?25l\\x1b[?1000;1006h', end='')"
    with Terminal(python(code), environ) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.modes != terminal.modes_at_start
        assert not terminal.modes[3] & termios.ICANON
        assert terminal.private_modes == {7, 1000, 1006}


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("enter", b"\r"),
        ("up", b"\x1b[A"),
        ("ctrl-c", b"\x03"),
        ("alt-enter", b"\x1b\r"),
        ("shift-tab", b"\x1b[Z"),
        ("x", b"x"),
    ],
)
def test_keys_send_what_a_keyboard_sends(environ, key, sent):
    with Terminal(python(ECHO), environ) as terminal:
        terminal.wait_for("ready")
        terminal.press(key)
        terminal.wait_for(repr(sent))


def test_keys_without_a_name_are_refused(environ):
    with (
        Terminal(python(ECHO), environ) as terminal,
        pytest.raises(ValueError, match="no key is called 'entre'"),
    ):
        terminal.press("entre")


def test_a_paste_is_bracketed_where_the_program_asked_for_it(environ):
    with Terminal(python(ECHO), environ) as terminal:
        terminal.wait_for("ready")
        terminal.paste("a\nb\x1b[201~c")
        terminal.wait_for(repr(b"\x1b[200~a\rb[201~c\x1b[201~"))
    with Terminal(["cat"], environ) as terminal:
        terminal.paste("plain\n")
        terminal.wait_for("plain", count=2)


def test_a_question_of_the_program_is_answered_as_a_terminal_does(environ):
    with Terminal(python(ECHO.replace("ready ", "ready \\x1b[6n")), environ) as terminal:
        terminal.wait_for(repr(b"\x1b[1;7R"))


def test_everything_that_scrolled_away_is_kept(environ):
    with Terminal(["seq", "3000"], environ, rows=10) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.text.splitlines() == [str(n) for n in range(1, 3001)]
        assert terminal.lines[:9] == [str(n) for n in range(2992, 3001)]
        assert len(terminal.scrollback) == 2991


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_that_ends_the_program_is_told(environ, signum):
    with Terminal(["sleep", "100"], environ) as terminal:
        terminal.signal(signum)
        assert terminal.wait_exit() == -signum


def test_ctrl_c_interrupts_the_foreground(environ):
    with Terminal(["sleep", "100"], environ) as terminal:
        terminal.press("ctrl-c")
        assert terminal.wait_exit() == -signal.SIGINT


def test_a_new_size_reaches_the_program(environ):
    code = (
        "import os, signal\n"
        "size = lambda *_: os.write(1, b'size %d %d' % os.get_terminal_size())\n"
        "signal.signal(signal.SIGWINCH, size)\n"
        "os.write(1, b'ready ')\n"
        "while True: signal.pause()"
    )
    with Terminal(python(code), environ) as terminal:
        terminal.wait_for("ready")
        terminal.resize(33, 7)
        terminal.wait_for("size 33 7")


def test_a_paused_terminal_holds_the_program_back(environ):
    with Terminal(python("print('x' * 300_000); print('end')"), environ) as terminal:
        terminal.pause()
        with pytest.raises(AssertionError, match="waited for 'end'"):
            terminal.wait_for("end", timeout=0.1)
        terminal.resume()
        terminal.wait_for("end")


def test_a_program_that_is_not_there_ends_with_127(environ):
    with Terminal(["no-such-program"], environ) as terminal:
        assert terminal.wait_exit() == 127
        assert "No such file" in terminal.text


def test_a_failure_shows_the_screen_and_does_not_wait_for_the_dead(environ):
    with (
        Terminal(["echo", "farewell"], environ, columns=20, rows=2) as terminal,
        pytest.raises(AssertionError) as failure,
    ):
        terminal.wait_for("never")
    assert "waited for 'never' to be shown, but the program has ended" in str(failure.value)
    assert "|farewell" in str(failure.value)


def test_what_still_runs_is_killed_at_the_end(environ, tmp_path):
    before = threading.enumerate()

    def left():  # what runs the tests may have threads of its own, and they are not Thread
        return [t for t in threading.enumerate() if t not in before and type(t) is threading.Thread]

    with Terminal(["sh", "-c", "sleep 100 & echo $!; wait"], environ) as terminal:
        assert left()
        terminal.wait_until(lambda: terminal.text.strip().isdigit())
    assert not left()
    with (
        Terminal(["sleep", "100"], environ) as terminal,
        pytest.raises(AssertionError, match="the program still runs"),
    ):
        terminal.wait_exit(0.05)
    assert not left()


# -- paper -------------------------------------------------------------------------------------


def drawn(*pieces, columns=20, rows=4):
    with Canvas(columns, rows) as canvas:
        for piece in pieces:
            canvas.screen.write(piece)
            canvas.screen.flush()
        return canvas.text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\u200db\ufe0fc", "a\u200db\ufe0fc"),  # marks without a width
        ("e\u0301", "é"),
        ("漢" * 11, "漢" * 10 + "\n漢"),
        ("x" + "漢" * 10, "x" + "漢" * 9 + "\n漢"),  # no half cells at the edge
        ("\x1b[38:2::1:2:3mred\x1b[m", "red"),
        ("\x1b[>1uprotocol\x1b[<u", "protocol"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPstring\x1b\\after", "after"),
        ("\x1b[?2026$p\x1b[22;2tafter", "after"),
        ("\x1b[?2026hframe\x1b[?2026l", "frame"),
    ],
)
def test_paper_reads_like_a_terminal(written, read):
    assert drawn(written) == read
    assert drawn(*written) == read


def test_clearing_the_scrollback_clears_it():
    assert drawn("1\n2\n3\n4\n5\n6\n", "\x1b[3J") == "4\n5\n6"


def test_a_smaller_window_keeps_what_no_longer_fits():
    with Canvas(20, 6) as canvas:
        canvas.screen.write("1\n2\n3\n4\n5")
        canvas.screen.flush()
        canvas.resize(20, 3)
        assert canvas.screen.rows == 3
        assert canvas.scrollback == ["1", "2"]
        assert canvas.lines == ["3", "4", "5"]
        assert canvas.cursor == (2, 1)
        canvas.resize(30, 5)
        assert canvas.text == "1\n2\n3\n4\n5"


def test_a_canvas_in_a_pipe_keeps_what_went_aside_apart():
    with Canvas(50, terminal=False) as canvas:
        assert not canvas.screen.is_terminal
        assert canvas.screen.columns == 50
        canvas.screen.write("answer\n")
        canvas.screen.aside("notice\n")
        assert (canvas.raw, canvas.aside) == (b"answer\n", b"notice\n")


def test_a_canvas_takes_more_than_a_pipe_holds():
    with Canvas(80, 5) as canvas:
        canvas.screen.write("line\n" * 50_000)
        canvas.screen.flush()
        assert canvas.raw.count(b"line") == 50_000


def test_a_styled_pen_is_noticed():
    with Canvas() as canvas:
        assert canvas.pen_is_plain
        canvas.screen.write("\x1b[1mbold")
        canvas.screen.flush()
        assert not canvas.pen_is_plain


# -- pictures ----------------------------------------------------------------------------------


def test_a_picture_holds_the_letters_and_their_colours(environ, tmp_path):
    code = (
        "print('above')\n"
        "print('\\x1b[1;31mred <漢>\\x1b[m \\x1b[7mplain\\x1b[m \\x1b[38;2;1;2;3mtrue\\x1b[m')"
    )
    with Terminal(python(code), environ, columns=30, rows=3) as terminal:
        terminal.wait_exit()
        terminal.svg(tmp_path / "screen.svg")
    picture = ElementTree.parse(tmp_path / "screen.svg").getroot()
    texts = {text.text: text.attrib for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert list(texts) == ["above", "red <", "漢", ">", "plain", "true"]
    assert texts["red <"]["font-weight"] == "bold"
    assert float(texts["漢"]["textLength"]) == pytest.approx(2 * 8.4)
    assert texts["true"]["fill"] == "#010203"
    assert float(texts["plain"]["x"]) == pytest.approx(12 + 9 * 8.4)


def test_faint_letters_are_fainter_and_a_light_picture_is_light(environ, tmp_path):
    code = "print('\\x1b[2mfaint\\x1b[22m not \\x1b[48;2;1;2;3mon\\x1b[m')"
    with Terminal(python(code), environ, columns=30, rows=3) as terminal:
        terminal.wait_exit()
        terminal.svg(tmp_path / "dark.svg")
        terminal.svg(tmp_path / "light.svg", light=True)
    inks = {}
    for name in ("dark", "light"):
        picture = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
        texts = {text.text: text.attrib for text in picture.iter("{http://www.w3.org/2000/svg}text")}
        inks[name] = [texts[word]["fill"] for word in ("faint", "not", "on")]
        assert inks[name][0] != inks[name][1] == inks[name][2]
    assert inks["dark"] != inks["light"]
