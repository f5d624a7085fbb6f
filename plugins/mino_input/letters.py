"""What a reader takes for one letter: a base and its marks, an emoji of several parts, a flag."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
#: Neither of these begins a letter, though Unicode does not call them marks.
_ADDED = frozenset({_JOINER, *map(chr, range(0x1F3FB, 0x1F400)), *map(chr, range(0xE0020, 0xE0080))})
#: Below this no sign is one that a joiner joins to another, as it does emoji.
_SIGNS = "\u2190"


def before(text: str, at: int) -> int:
    """Where the letter begins that ends at `at`."""
    at -= 1
    while at > 0 and _goes_on(text, at):
        at -= 1
    return max(at, 0)


def after(text: str, at: int) -> int:
    """Where the letter ends that begins at `at`."""
    at += 1
    while at < len(text) and _goes_on(text, at):
        at += 1
    return min(at, len(text))


def _goes_on(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the letter of the one before it."""
    char, former = text[at], text[at - 1]
    if char < "\u0300":
        return False
    if char in _ADDED or unicodedata.category(char) in ("Mn", "Mc", "Me"):
        return former != "\n"
    if former == _JOINER:
        return char >= _SIGNS
    if "\u1160" <= char <= "\u11ff":  # the vowel or the end of a Korean syllable
        return "\u1100" <= former <= "\u11ff" or "\uac00" <= former <= "\ud7a3"
    return _is_flag(char) and _flags_before(text, at) % 2 == 1


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    first = at
    while first > 0 and _is_flag(text[first - 1]):
        first -= 1
    return at - first
