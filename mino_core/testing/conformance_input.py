"""What every way to read a line promises, in a process and on a terminal of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from .home import home
from .keys import FRESH_MODES
from .promises import promise, suite
from .terminal import Terminal

#: Seconds that a line may take from the keyboard to the program.
_PATIENCE = 20.0


@suite
class InputConformance:
    """Subclass it and say where the factory is, so that another process can make the input:

        class TestMine(InputConformance):
            factory = "mino_mine.editor:Mine"

    `edits` says whether it reads keys itself (an editor) or leaves lines to the kernel.
    """

    factory: str
    edits: ClassVar[bool] = True

    # -- on a terminal -------------------------------------------------------------------------

    def test_typed_lines_are_read(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path) as (terminal, told):
            for line in ("hello", "é 漢字 👩‍🚀", "  blanks  ", ""):
                terminal.type(line)
                terminal.press("enter")
                _told(terminal, told, f"line {json.dumps(line)}", "what is typed is what is read.")
                terminal.wait_for("You>", count=2)

    def test_keys_typed_before_the_prompt_are_read(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path, "ahead") as (terminal, told):
            terminal.wait_until(told.exists)
            terminal.type("early\r" if self.edits else "early\n")
            _told(terminal, told, 'line "early"', "people type ahead; no key may be lost.")

    def test_the_end_of_input_is_eof(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path) as (terminal, told):
            terminal.press("ctrl-d")
            _told(terminal, told, "end", "Ctrl-D on an empty line leaves.")
            terminal.wait_exit()
            promise(
                terminal.modes == terminal.modes_at_start and terminal.private_modes == FRESH_MODES,
                f"the terminal is not what it was: private modes {sorted(terminal.private_modes)}",
                "the shell that follows would not show what is typed.",
            )
            promise(
                terminal.cursor[1] == 0,
                f"after Ctrl-D the cursor is in column {terminal.cursor[1]}",
                "whatever comes next begins at the left edge.",
            )

    def test_ctrl_c_is_raised_or_clears_the_line(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path) as (terminal, told):
            terminal.press("ctrl-c")
            _told(terminal, told, "interrupt", "Ctrl-C on an empty line is the shell's to answer.")
            terminal.wait_for("You>", count=2)
            promise(
                _asks_anew(terminal),
                f"after Ctrl-C the next line of the screen reads {terminal.lines[terminal.cursor[0]]!r}",
                "whatever comes next, a farewell or a prompt, begins at the left edge.",
            )
            terminal.type("abandoned")
            terminal.wait_for("abandoned")
            terminal.press("ctrl-c")
            terminal.wait_until(lambda: _lines(told).count("interrupt") == 2 or _asks_anew(terminal))
            terminal.type("kept")
            terminal.press("enter")
            terminal.wait_until(lambda: any("kept" in line for line in _lines(told)))
        promise(
            'line "kept"' in _lines(told),
            f"after Ctrl-C in a line, the next one was read as {_lines(told)}",
            "what was abandoned must not be sent.",
        )

    def test_a_paste_does_not_submit_itself(self, tmp_path: Path) -> None:
        if not self.edits:
            return
        with self._terminal(tmp_path) as (terminal, told):
            terminal.paste("one\ntwo\n/three")
            terminal.wait_for("/three")
            promise(
                not _lines(told), f"a paste was submitted: {_lines(told)}", "pasted text is looked at first."
            )
            terminal.press("enter")
            _told(terminal, told, 'line "one\\ntwo\\n/three"', "a paste is one prompt, line ends and all.")

    def test_a_question_takes_only_one_of_its_choices(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path) as (terminal, told):
            terminal.type("ask Sure?")
            terminal.press("enter")
            terminal.wait_for("Sure?", count=2)
            terminal.type("yes")
            terminal.press("enter")
            _told(terminal, told, 'answer "yes"', "the answer to a question is one of its choices.")

    def test_enter_alone_is_not_yes(self, tmp_path: Path) -> None:
        with self._terminal(tmp_path) as (terminal, told):
            terminal.type("ask Sure?")
            terminal.press("enter")
            terminal.wait_for("Sure?", count=2)
            terminal.press("enter")
            terminal.wait_until(lambda: len(_lines(told)) > 1 or terminal.text.count("Sure?") > 2)
        promise(
            'answer "yes"' not in _lines(told),
            "Enter alone was taken for yes",
            "an Enter that was meant for something else must not allow anything.",
        )

    # -- in a pipe -----------------------------------------------------------------------------

    def test_lines_come_from_a_pipe(self, tmp_path: Path) -> None:
        if self.edits:
            return
        told = tmp_path / "told"
        given = "one\r\nzwei \u2028 drei\n\nask Sure?\nyes\nlast without an end".encode() + b"\xff"
        done = subprocess.run(
            self._argv(told),
            input=given,
            env=_environ(tmp_path),
            capture_output=True,
            check=False,
            timeout=60,
        )
        expected = ["one", "zwei \u2028 drei", "", "ask Sure?"]
        promise(
            [json.loads(line[5:]) for line in _lines(told)[:4]] == expected and _lines(told)[-1] == "end",
            f"of {given!r} this was read: {_lines(told)}; {done.stderr.decode()}",
            "`mino -i` runs scripts; only LF and CR LF end a line.",
        )

    # -- help ----------------------------------------------------------------------------------

    def _argv(self, told: Path, *ahead: str) -> list[str]:
        quiet = "quiet" if self.edits else "echo"
        return [sys.executable, "-m", "mino_core.testing.reading", self.factory, str(told), quiet, *ahead]

    @contextmanager
    def _terminal(self, tmp_path: Path, *ahead: str) -> Iterator[tuple[Terminal, Path]]:
        told = tmp_path / "told"
        with Terminal(self._argv(told, *ahead), _environ(tmp_path)) as terminal:
            if not ahead:
                terminal.wait_for("You>")
            yield terminal, told


def _environ(tmp_path: Path) -> dict[str, str]:
    """With what this process can import, so that a factory beside a test is found."""
    return home(tmp_path, PYTHONPATH=":".join(filter(None, sys.path)))


def _lines(told: Path) -> list[str]:
    return told.read_text(encoding="utf-8").splitlines() if told.exists() else []


def _asks_anew(terminal: Terminal) -> bool:
    """Whether the prompt stands there with nothing behind it."""
    return terminal.lines[terminal.cursor[0]].strip() == "You>"


def _told(terminal: Terminal, told: Path, expected: str, why: str) -> None:
    try:
        terminal.wait_until(lambda: expected in _lines(told), _PATIENCE)
    except AssertionError as error:
        raise AssertionError(
            f"expected {expected}, but got {_lines(told)}: {error}\nWhy it matters: {why}"
        ) from None
