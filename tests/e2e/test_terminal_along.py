"""What goes along with a message, in the real mino on a real terminal: files and what commands said."""

from pathlib import Path

import pytest
from talk import Talk


@pytest.fixture
def talk(tmp_path):
    with Talk(tmp_path, SHELL="/bin/sh") as talk:
        folder = Path(talk.env["HOME"])
        (folder / "notes.txt").write_text("remember the milk\n")
        (folder / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        yield talk


def test_tab_completes_a_path_and_the_file_goes_along(talk):
    talk.answers("fine")
    terminal = talk.at_prompt()
    terminal.type("what is in @no")
    terminal.press("tab")
    terminal.wait_for("@notes.txt")
    terminal.type("?\r")
    talk.at_prompt()
    assert "[attached: notes.txt (18 bytes)]" in terminal.text
    assert talk.asked == ["what is in @notes.txt?\n\nnotes.txt\n```\nremember the milk\n```"]


def test_a_picture_goes_along_as_one(talk):
    talk.answers("fine")
    talk.at_prompt().type("look: @p.png\r")
    terminal = talk.at_prompt()
    assert "[attached: p.png (8 bytes, image/png)]" in terminal.text
    said, picture = talk.asked[0]
    assert said == {"type": "text", "text": "look: @p.png"}
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


def test_a_pasted_path_attaches_nothing(talk):
    talk.answers("fine")
    terminal = talk.at_prompt()
    terminal.paste("@notes.txt")
    terminal.press("enter")
    talk.at_prompt()
    assert talk.asked == ["@notes.txt"]


def test_a_command_of_the_shell_is_shown_and_goes_along_once(talk):
    talk.answers("fine", "yes")
    talk.at_prompt().type("!cat notes.txt; printf '\\033[2Jred'; exit 2\r")
    terminal = talk.at_prompt()
    assert "\nremember the milk\n␛[2Jred\n[it ended with 2 and said 2 lines" in terminal.text
    assert b"\x1b[2J" not in terminal.raw
    assert not talk.server.requests
    terminal.type("why?\r")
    talk.at_prompt()
    terminal.type("and?\r")
    talk.at_prompt()
    assert talk.asked[0].startswith("why?\n\n$ cat notes.txt")
    assert "remember the milk" in talk.asked[0]
    assert talk.asked[1] == "and?"


def test_ctrl_c_ends_a_command_and_gives_the_prompt_back(talk):
    terminal = talk.at_prompt()
    terminal.type("!echo begun; exec cat /dev/zero >/dev/null\r")
    terminal.wait_for("\nbegun")
    terminal.press("ctrl-c")
    talk.at_prompt()
    assert "The command was stopped." in terminal.text
    talk.ends_by("ctrl-d")
