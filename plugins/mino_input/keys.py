"""The keyboard as prompt_toolkit wants it: keys from descriptor 0, and not one key too many.

It hands out keys up to an Enter and keeps the rest, for the next prompt. It knows which keys were
typed before the prompt was there, and which came in a burst that no hand types: a paste on a
terminal without bracketed paste.
"""

from __future__ import annotations

import codecs
import os
from asyncio import get_running_loop
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from prompt_toolkit.application.current import get_app
from prompt_toolkit.input.base import Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

ENTER = Keys.ControlM
#: Keys after which the line is another one, and the one that needs the line drawn as it is so far.
_LAST = (ENTER, Keys.ControlC)
_ALONE = Keys.ControlI
#: What a terminal reports where it is asked, which mino never does: a colour in a paste without brackets
#: reads so.
_REPORTS = (Keys.Vt100MouseEvent, Keys.CPRResponse)
#: The data of an Enter that ends a line of a burst.
BURST = "burst"
#: What ends a paste.
_PASTED = "\x1b[201~"
_PIECE = 1 << 16


class Keyboard(Input):
    """Descriptor 0, already in raw mode."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parsed: list[KeyPress] = []
        self._parser = Vt100Parser(self._parsed.append)
        #: The pieces of a paste that has not ended yet.
        self._paste: list[str] = []
        self._tail = ""
        self._waiting: deque[KeyPress] = deque()
        #: Lines that were sent but are held, each for a prompt of its own; the last may be half a one.
        self._held: deque[list[KeyPress]] = deque()
        self._in_burst = False
        self._closed = False
        self._ready: Callable[[], None] | None = None

    # -- what the editor does with it ----------------------------------------------------------

    def typed_ahead(self, data: bytes, *, hold: bool = False) -> int:
        """Take keys that were typed one by one, though they arrive at once.

        Up behind an Enter takes that back. With `hold`, and as long as there are such lines, no
        Enter sends a line: each stands at a prompt of its own. The result is how many were held now.
        """
        ahead: list[KeyPress] = []
        for press in (*self._waiting, *self._parse(data)):
            if press.key is Keys.Up and ahead and ahead[-1].key is ENTER:
                ahead.pop()
            else:
                ahead.append(press)
        self._waiting.clear()
        if not (hold or self._held):
            self._waiting += ahead
            return 0
        *lines, rest = _lines(ahead)
        self._held += [line for line in lines if line]
        if rest:
            self._held.append(rest)
        self.next_held()
        return sum(map(bool, lines)) if hold else 0

    def next_held(self) -> None:
        """Let the next line that is held arrive."""
        if self._held:
            self._waiting += self._held.popleft()
            if self._ready:
                get_running_loop().call_soon(self._go_on)

    def take(self) -> list[KeyPress]:
        """What has arrived and was not asked for; it is gone until it is put back."""
        kept = list(self._waiting)
        self._waiting.clear()
        return kept

    def put_back(self, keys: Iterable[KeyPress]) -> None:
        """Let these keys arrive next."""
        self._waiting.extendleft(reversed(list(keys)))

    # -- what prompt_toolkit does with it ------------------------------------------------------

    def read_keys(self) -> list[KeyPress]:
        """Keys up to an Enter, a Ctrl-C or a Tab. The rest follows, unless they end the line."""
        if not self._waiting:
            self._receive()
        keys: list[KeyPress] = []
        while self._waiting and not (keys and self._waiting[0].key is _ALONE):
            keys.append(self._waiting.popleft())
            if keys[-1].key in (*_LAST, _ALONE):
                break
        if self._waiting:
            get_running_loop().call_later(0, self._go_on)  # behind what these keys set off
        return keys

    def flush_keys(self) -> list[KeyPress]:
        """What nothing followed: the escape key."""
        self._parser.flush()
        return self._take_parsed()

    def attach(self, input_ready_callback: Callable[[], None]) -> AbstractContextManager[None]:
        """Call back whenever there are keys."""
        return self._attached(input_ready_callback)

    def detach(self) -> AbstractContextManager[None]:
        """Call nobody back."""
        return self._attached(None)

    @contextmanager
    def _attached(self, ready: Callable[[], None] | None) -> Iterator[None]:
        former, self._ready = self._ready, ready
        self._listen()
        try:
            yield
        finally:
            self._ready = former
            self._listen()

    def _listen(self) -> None:
        loop = get_running_loop()
        loop.remove_reader(0)
        if self._ready is None:
            return
        if not self._closed:
            loop.add_reader(0, self._go_on)
        if self._waiting or self._closed:
            loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self._ready and not get_app().is_done:
            self._ready()

    @property
    def closed(self) -> bool:
        """Whether the terminal has hung up."""
        return self._closed

    def fileno(self) -> int:
        """Descriptor 0."""
        return 0

    def typeahead_hash(self) -> str:
        """A name for keys left over; there are none, they wait here."""
        return "mino"

    def raw_mode(self) -> AbstractContextManager[None]:
        """Nothing: the editor has set it."""
        return nullcontext()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Nothing: what is drawn above the line needs none."""
        return nullcontext()

    # -- reading -------------------------------------------------------------------------------

    def _receive(self) -> None:
        try:
            data = os.read(0, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._closed = True
            get_running_loop().remove_reader(0)
            return
        self._waiting += self._mark_burst(self._parse(data))

    def _parse(self, data: bytes) -> list[KeyPress]:
        text = self._decoder.decode(data)
        if self._parser._in_bracketed_paste:  # noqa: SLF001 (it looks through all of it at each piece)
            if data == b"\x03":  # pressed by a hand: the terminal has lost the end of the paste
                text = _PASTED
            self._paste.append(text)
            seen = self._tail + text
            self._tail = seen[-len(_PASTED) :]
            if _PASTED not in seen:
                return []
            text = "".join(self._paste)
            self._paste.clear()
        self._tail = text[-len(_PASTED) :]
        self._parser.feed(text)
        return self._take_parsed()

    def _take_parsed(self) -> list[KeyPress]:
        keys = [press for press in self._parsed if press.key not in _REPORTS]
        self._parsed.clear()
        return keys

    def _mark_burst(self, keys: list[KeyPress]) -> list[KeyPress]:
        """Mark the Enters of several lines that came at once, and of the line they end in."""
        ends = [at for at, press in enumerate(keys) if press.key is ENTER]
        after_first = keys[ends[0] + 1 :] if ends else []
        if any(press.key is not ENTER for press in after_first):
            self._in_burst = True
        elif not self._in_burst:
            return keys
        if ends:
            marked = [KeyPress(ENTER, BURST) if press.key is ENTER else press for press in keys]
            self._in_burst = after_first != [] and keys[-1].key is not ENTER
            return marked
        return keys


def _lines(keys: list[KeyPress]) -> list[list[KeyPress]]:
    """The keys of each line, and what follows the last Enter. A line of a burst is as good as pasted."""
    lines: list[list[KeyPress]] = [[]]
    for press in keys:
        if press.key is ENTER:
            if press.data == BURST:
                lines[-1] = [KeyPress(Keys.BracketedPaste, "".join(key.data for key in lines[-1]))]
            lines.append([])
        else:
            lines[-1].append(press)
    return lines
