"""What the marks inside a paragraph look like, as expressions that never look far."""

from __future__ import annotations

import re

SPECIAL = re.compile(r"[\\`*_~\[\]<&$]|https?://|(?<! ) ++(?=\n)")
ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_WORD = re.compile("[!-~]*")
LETTER_AFTER_BACKSLASH = re.compile(r"\\[A-Za-z0-9]")
AUTOLINK = re.compile(r"<((?:https?://|mailto:)[!-;=?-~]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>")
TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
OPEN_TAG = re.compile(r"<(?:[A-Za-z/!][^<>]*)?\Z|<!--")
BREAK_TAG = re.compile(r"<br\s*/?>\n?", re.IGNORECASE)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
OPEN_ENTITY = re.compile(r"&#?[A-Za-z0-9]{0,32}\Z")
DOLLARS = re.compile(r"\$(?=[^\s$])(?:[^$\n\\]|\\.)*(?<=\S)\$(?![\d$])")
#: How far dollars reach, and the word around a backslash.
SHORT = 200
URL = re.compile(r"https?://[!-;=?-Z_a-z{|}~]*")
TARGET = re.compile(
    r"\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))"
    r"(?:\s+(\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_PARENTHESIS = re.compile(r"\\.|[()]")
RUN = re.compile(r"`+|\*+|_+|~+")
TICKS = re.compile("`+")


def word_at(text: str, at: int) -> str:
    """The ASCII letters and signs around a place, up to the next space on either side."""
    back = _WORD.match(text[max(0, at - SHORT) : at][::-1])
    ahead = _WORD.match(text, at, at + SHORT)
    assert back
    assert ahead
    return back.group()[::-1] + ahead.group()


def is_open(text: str, start: int) -> bool:
    """Whether the parenthesis at `start` is not closed before the end."""
    depth = 0
    for found in _PARENTHESIS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0:
            return False
    return True
