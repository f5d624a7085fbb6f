"""Every failure of the wire as one sentence: what happened, the server's own words, what to do."""

from __future__ import annotations

import re

from mino_core.secret import mask

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")


def plain(text: str, limit: int) -> str:
    """Foreign words fit for one line: no control characters, known secrets masked, bounded."""
    text = _ESCAPE.sub("", mask(text[: 20 * limit]))
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
