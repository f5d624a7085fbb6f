"""Emphasis: which runs of `*`, `_` and `~` open it, which close it, and which are just letters."""

from __future__ import annotations

import re
import unicodedata

from .look import BOLD, ITALIC, STRUCK

_IDENTIFIER = re.compile(r"\w+\Z")
_CJK = re.compile("[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003fffd]")
_STRENGTH = {("*", 1): ITALIC, ("*", 2): BOLD, ("_", 1): ITALIC, ("_", 2): BOLD, ("~", 2): STRUCK}


class Item:
    """A stretch of text, or a run of delimiters, with the attributes it has so far."""

    __slots__ = (
        "bits",
        "both",
        "closes",
        "count",
        "delimiter",
        "end",
        "hidden",
        "is_text",
        "link",
        "opens",
        "reach",
        "start",
        "text",
    )

    def __init__(self, text: str, start: int, bits: int = 0, link: str = "") -> None:
        self.text = text
        self.start = start
        self.bits = bits
        self.link = link
        self.is_text = False
        self.delimiter = ""
        self.count = 0
        self.end = self.reach = 0
        self.opens = self.closes = self.both = self.hidden = False

    @property
    def shown(self) -> str:
        """What is left to be read of it."""
        if not self.delimiter:
            return self.text
        return "" if self.hidden else self.delimiter * self.count

    @property
    def is_plain(self) -> bool:
        """Whether it is the text itself, outside of every construct."""
        return self.is_text and not self.bits and not self.link


class Delimiters:
    """The runs among `items` that may yet open or close something."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self.live: list[int] = []
        #: From where to where the constructs reach that are closed, these and others.
        self.closed: list[tuple[int, int]] = []

    def add(self, item: Item, run: str, previous: str, following: str) -> None:
        """A run between two characters. A `hidden` item ends the text so far: it is not shown yet."""
        item.delimiter, item.count = run[0], len(run)
        left = _is_left(previous, following)
        right = _is_left(following, previous)
        item.both = left and right
        if run[0] == "_":
            item.opens = left and (not right or _is_punctuation(previous))
            item.closes = right and (not left or _is_punctuation(following))
        else:
            item.opens = left and not (previous.isascii() and previous.isalnum())
            item.closes = right
        self.live.append(len(self._items))
        self._items.append(item)

    def resolve(self, bottom: int) -> list[Item]:
        """Match the live runs from `bottom` on; returns those that opened and were not closed."""
        items, openers = self._items, list[int]()
        for at in self.live[bottom:]:
            item = items[at]
            while item.closes and item.count and self._match(item, at, openers):
                pass
            if item.count and item.opens:
                openers.append(at)
        return [items[at] for at in openers]

    def _match(self, closer: Item, at: int, openers: list[int]) -> bool:
        """Close the nearest opener that this run can close."""
        items = self._items
        for n in range(len(openers) - 1, -1, -1):
            opener = items[openers[n]]
            if closer.end > opener.reach:
                return False
            size = 2 if min(opener.count, closer.count) >= 2 else 1
            bits = _STRENGTH.get((closer.delimiter, size))
            if opener.delimiter != closer.delimiter or bits is None or _is_uneven(opener, closer):
                continue
            inside = items[openers[n] + 1 : at]
            if closer.delimiter == "_" and size == 2 and _is_identifier(inside):
                closer.closes = False
                del openers[n:]
                return False
            for item in inside:
                item.bits |= bits
            self.closed.append((opener.start, closer.end))
            opener.count -= size
            closer.count -= size
            del openers[n + (opener.count > 0) :]
            return True
        return False

    def foresee(self, opener: Item) -> None:
        """Show what is not yet closed as if it were, where that is nearly always what comes."""
        if opener.delimiter == "_" or opener.count < 2:
            return
        opener.hidden = True
        bits = _STRENGTH[opener.delimiter, 2]
        for item in self._items:
            if item.start > opener.start:
                item.bits |= bits


def _is_left(previous: str, following: str) -> bool:
    """Whether a run between these two leans on what follows it (CommonMark's left-flanking)."""
    if not following or following.isspace():
        return False
    if not _is_punctuation(following):
        return True
    return not previous or previous.isspace() or _is_punctuation(previous) or _CJK.match(previous) is not None


def _is_punctuation(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] in "PS"


def _is_uneven(opener: Item, closer: Item) -> bool:
    """CommonMark's rule of three: `*foo**bar*` is not closed in its middle."""
    if not (opener.both or closer.both):
        return False
    total = opener.end - opener.start + closer.end - closer.start
    return total % 3 == 0 and ((opener.end - opener.start) % 3 != 0 or (closer.end - closer.start) % 3 != 0)


def _is_identifier(inside: list[Item]) -> bool:
    return _IDENTIFIER.match("".join(item.shown for item in inside)) is not None
