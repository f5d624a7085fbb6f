"""File descriptor 1: writing to it, what it can do, and what may not reach it.

The renderer owns the screen. Everything that is not the answer (errors, notices, the usage line,
prompts) goes through `aside`, which keeps it out of a pipe.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

#: Terminals that are known to draw OSC 8 links, by a variable that they set.
_LINKING_VARIABLES = (
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "KONSOLE_VERSION",
    "WT_SESSION",
    "GHOSTTY_RESOURCES_DIR",
)
_LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"})
_LINKING_TERMS = ("xterm-kitty", "alacritty", "foot", "xterm-ghostty", "contour")
#: Terminals that wrap anew what stands in them when their width changes, the row of the cursor too; and
#: programs between them and us that do not.
_WRAPPING_VARIABLES = (
    "TMUX",
    "KITTY_WINDOW_ID",
    "ALACRITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "GHOSTTY_RESOURCES_DIR",
)
_BETWEEN = ("STY", "VIM_TERMINAL", "NVIM", "INSIDE_EMACS")
_LOOK_ALIKES = str.maketrans("─│┼╭╰•…", "-|+++*~")
_DUMB = frozenset({"dumb", "unknown"})


class ScreenGone(BaseException):
    """Our output goes nowhere any more. Not an Exception: it is no fault of the renderer's.

    `reason` says why in words; it is empty where the reader has left, which needs no word.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        left = error.errno in (errno.EPIPE, errno.EIO, errno.ECONNRESET)
        self.reason = "" if left else error.strerror or str(error)


class Screen:
    """Standard output, through a descriptor of our own.

    `is_terminal` says whether it is one, `can_move` whether that terminal understands escape
    sequences, `colour` and `hyperlinks` whether they are wanted there, `wraps_anew` whether it is
    known to wrap old rows anew in a window of another width. `columns` and `rows` are read at each
    use, since windows change.
    """

    def __init__(
        self,
        out: int = 1,
        err: int = 2,
        environ: Mapping[str, str] | None = None,
        encoding: str | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._fd = os.dup(out)
        self._err = err
        self._err_is_terminal = os.isatty(err)
        self._is_mid_row = False
        self._encoding = encoding or getattr(sys.__stdout__, "encoding", None) or "utf-8"
        self._held: list[str] = []
        self.is_terminal = os.isatty(self._fd)
        self.can_move = self.is_terminal and self._environ.get("TERM", "") not in _DUMB
        self.colour = self._wants_colour()
        self.hyperlinks = self.can_move and self._draws_links()
        self.wraps_anew = self.can_move and self._wraps_anew()
        #: How often another program had the terminal meanwhile: what was open there is gone.
        self.visits = 0
        #: Takes away what is there for now only, before another program has the terminal.
        self.passing = ""

    def _wants_colour(self) -> bool:
        env = self._environ
        if env.get("NO_COLOR"):
            return False
        if any(env.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
            return True
        return self.can_move and env.get("CLICOLOR") != "0"

    def _draws_links(self) -> bool:
        env = self._environ
        if forced := env.get("FORCE_HYPERLINK"):
            return forced != "0"
        if env.get("TMUX") or env.get("TERM", "").startswith("screen"):
            return False
        return (
            self._is_recent_vte()
            or any(env.get(name) for name in _LINKING_VARIABLES)
            or env.get("TERM_PROGRAM") in _LINKING_PROGRAMS
            or env.get("TERM", "").startswith(_LINKING_TERMS)
        )

    def _wraps_anew(self) -> bool:
        env = self._environ
        if any(env.get(name) for name in _BETWEEN):
            return False
        known = self._is_recent_vte() or env.get("TERM", "").startswith("foot")
        return known or any(env.get(name) for name in _WRAPPING_VARIABLES)

    def _is_recent_vte(self) -> bool:
        version = self._environ.get("VTE_VERSION", "")
        return version.isdigit() and int(version) >= 5000

    @property
    def columns(self) -> int:
        """The width in cells, at least 1."""
        return self._size("COLUMNS", 0, 80)

    @property
    def rows(self) -> int:
        """The height in cells, at least 1."""
        return self._size("LINES", 1, 24)

    def _size(self, variable: str, axis: int, default: int) -> int:
        told = self._environ.get(variable, "")
        if told.isdecimal() and int(told) > 0:
            return int(told)
        try:
            return os.get_terminal_size(self._fd)[axis] or default
        except OSError:
            return default

    def fileno(self) -> int:
        """The descriptor itself, for a library that asks for one."""
        return self._fd

    def write(self, text: str) -> None:
        """Remember text; `flush` writes it in one go."""
        self._held.append(text)

    def forget(self) -> None:
        """Drop what is remembered: somebody else will write it."""
        self._held.clear()

    def flush(self) -> None:
        """Write what is remembered; ScreenGone where nobody reads any more."""
        if not self._held:
            return
        text = "".join(self._held)
        self._held.clear()
        self._is_mid_row = not text.endswith("\n")
        try:
            _write_all(self._fd, self._encoded(text))
        except OSError as error:
            raise ScreenGone(error) from error

    def aside(self, text: str) -> None:
        """Write what is not the answer: on a terminal with the answer, else to standard error."""
        if self.is_terminal:
            self.write(text)
            self.flush()
            return
        self.flush()
        if self._is_mid_row and self._share_a_row():
            text = "\n" + text
            self._is_mid_row = False
        if self._err_is_terminal:  # the session makes text safe for the terminal it knows, which is ours
            text = sanitise(text)
        try:
            _write_all(self._err, self._encoded(text))
        except OSError:
            pass  # the reader of standard error has gone; the answer still has one

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode(self._encoding)
        except UnicodeEncodeError:  # lines and corners have look-alikes, other letters have none
            return text.translate(_LOOK_ALIKES).encode(self._encoding, "replace")

    def _share_a_row(self) -> bool:
        """Whether what is aside may come to stand in the answer's last row.

        In one file, or where a program between us and the terminal hands the answer on.
        """
        try:
            out, err = os.fstat(self._fd), os.fstat(self._err)
        except OSError:
            return False
        return os.path.samestat(out, err) or (self._err_is_terminal and stat.S_ISFIFO(out.st_mode))

    def close(self) -> None:
        """Write what is left and give the descriptor back."""
        try:
            self.flush()
        finally:
            os.close(self._fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # someone made the shared terminal non-blocking
            select.select([], [fd], [])


# -- what may not reach a terminal -------------------------------------------------------------

_FLAG, _TAG_END = "\U0001f3f4", "\U000e007f"
_SUSPECT = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff]"
)
_UNKNOWN = "\ufffd"


@cache
def _suspect() -> re.Pattern[str]:
    """What may not pass. Compiling it takes as long as a small import, so it waits for a text in doubt."""
    import re

    return re.compile(_SUSPECT)


def _is_plain(text: str) -> bool:
    """Whether nothing in a text is suspect, for certain: all that is suspect is unprintable to Python."""
    return text.replace("\n", "").isprintable()


class Sanitiser:
    """Text from outside, made safe for a terminal, whatever way it is split.

    Controls become visible marks (ESC is shown as U+241B), so a sequence loses its power and no
    letter is lost. Bidirectional overrides, stray tag characters and lone surrogates become
    U+FFFD. Tab, newline, joiners, flags and right-to-left scripts pass. CR LF is a newline.
    """

    def __init__(self) -> None:
        self._after_cr = False
        self._in_flag = False

    def feed(self, text: str) -> str:
        """The next piece, made safe. A CR at its end waits for the next piece."""
        if not (self._after_cr or self._in_flag) and (_is_plain(text) or not _suspect().search(text)):
            self._in_flag = text.endswith(_FLAG)
            return text
        return "".join(map(self._mark, text))

    def end(self) -> str:
        """What still waits, at the end of the text."""
        waiting, self._after_cr = self._after_cr, False
        self._in_flag = False
        return "\u240d" if waiting else ""

    def _mark(self, char: str) -> str:
        before = ""
        if self._after_cr:
            self._after_cr = False
            if char == "\n":
                return char
            before = "\u240d"
        if "\U000e0020" <= char <= _TAG_END:
            if self._in_flag:
                self._in_flag = char != _TAG_END
                return before + char
            return before + _UNKNOWN
        self._in_flag = char == _FLAG
        if char == "\r":
            self._after_cr = True
            return before
        if not _suspect().match(char):
            return before + char
        if char < " ":
            return before + chr(0x2400 + ord(char))
        if char == "\x7f":
            return before + "\u2421"
        return before + ("\n" if char in "\u2028\u2029" else _UNKNOWN)


def sanitise(text: str) -> str:
    """One whole text made safe for a terminal."""
    sanitiser = Sanitiser()
    return sanitiser.feed(text) + sanitiser.end()
