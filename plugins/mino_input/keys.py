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
#: The data of an Enter that ends a line of a burst.
BURST = "burst"
_PIECE = 1 << 16


class Keyboard(Input):
    """Descriptor 0, already in raw mode."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parsed: list[KeyPress] = []
        self._parser = Vt100Parser(self._parsed.append)
        self._waiting: deque[KeyPress] = deque()
        self._in_burst = False
        self._closed = False
        self._ready: Callable[[], None] | None = None

    # -- what the editor does with it ----------------------------------------------------------

    def typed_ahead(self, data: bytes) -> None:
        """Take keys that were typed one by one, though they arrive at once."""
        self._waiting += self._parse(data)

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
        self._parser.feed(self._decoder.decode(data))
        return self._take_parsed()

    def _take_parsed(self) -> list[KeyPress]:
        keys = list(self._parsed)
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
