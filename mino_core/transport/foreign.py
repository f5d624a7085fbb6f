"""Foreign words, fit to be part of a sentence: on one line, bounded, without controls and known secrets."""

from __future__ import annotations

import re

from mino_core.errors import ProviderError
from mino_core.secret import mask

#: Characters of a whole sentence.
LIMIT = 290
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


def plain(text: str, limit: int = LIMIT) -> str:
    """Foreign words fit for one line: no control characters, known secrets masked, bounded."""
    text = mask(_ESCAPE.sub("", text))[: 4 * limit]
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def title_of(page: str) -> str:
    """What an HTML page calls itself; empty where the text is no such page."""
    if not page.lstrip().startswith("<"):
        return ""
    from html import unescape

    found = _TITLE.search(page)
    return plain(unescape(found[1]), 120) if found else "an HTML page"


def fit(error: ProviderError, identity: str = "") -> ProviderError:
    """The same error, fit for one line whatever it quotes, with the id of its request."""
    error.request_id = error.request_id or identity
    tail = f" (request {error.request_id})" if error.request_id else ""
    if tail.strip() in error.message:
        tail = ""
    error.message = plain(error.message, LIMIT - len(tail)) + tail
    error.args = (error.message,)
    return error
