"""A text reaches the clipboard by a program, through the terminal, or is said not to."""

import base64
import os

import pytest
from mino_core import Screen, UsageError

from mino_commands.clipboard import put


@pytest.fixture
def terminal():
    outer, inner = os.openpty()
    screen = Screen(inner, inner, {"TERM": "xterm"})
    yield screen, outer
    screen.close()
    os.close(inner)
    os.close(outer)


def program(tmp_path, name, script):
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    (tools / name).write_text(f"#!/bin/sh\n{script}\n")
    (tools / name).chmod(0o755)
    return {"PATH": f"{tools}:{os.defpath}"}


def test_a_terminal_is_told_by_osc_52(terminal):
    screen, outer = terminal
    assert put(screen, "héllo\n", {}) == "through the terminal"
    expected = base64.b64encode("héllo\n".encode())
    assert os.read(outer, 1000) == b"\x1b]52;c;" + expected + b"\x07"


def test_a_program_is_used_where_its_display_is(tmp_path, terminal):
    screen, _ = terminal
    environ = program(tmp_path, "wl-copy", f'cat > "{tmp_path}/copied"')
    assert put(screen, "x", environ) == "through the terminal"
    assert put(screen, "漢字", environ | {"WAYLAND_DISPLAY": "w"}) == "with wl-copy and through the terminal"
    assert (tmp_path / "copied").read_text() == "漢字"


def test_a_program_that_stays_behind_is_not_waited_for(tmp_path, terminal):
    screen, _ = terminal
    environ = program(tmp_path, "xsel", 'cat > /dev/null\nsleep 30 &\necho "$!" > "$0.pid"')
    try:
        assert "with xsel" in put(screen, "x", environ | {"DISPLAY": ":0"})
    finally:
        os.kill(int((tmp_path / "bin/xsel.pid").read_text()), 9)


def test_a_program_that_fails_is_passed_over(tmp_path):
    environ = program(tmp_path, "xclip", "exit 1") | {"DISPLAY": ":0"}
    program(tmp_path, "xsel", f'cat > "{tmp_path}/copied"')
    with open(os.devnull, "wb") as nothing:
        screen = Screen(nothing.fileno(), nothing.fileno(), {})
        assert put(screen, "x", environ) == "with xsel"
        screen.close()


def test_without_any_way_it_is_said(tmp_path):
    with open(os.devnull, "wb") as nothing:
        screen = Screen(nothing.fileno(), nothing.fileno(), {})
        with pytest.raises(UsageError, match="no way to the clipboard"):
            put(screen, "x", {"PATH": str(tmp_path), "DISPLAY": ":0", "WAYLAND_DISPLAY": "w"})
        screen.close()


def test_more_than_a_terminal_takes_is_not_sent_to_it(terminal):
    screen, _ = terminal
    with pytest.raises(UsageError):
        put(screen, "x" * 100_000, {})
