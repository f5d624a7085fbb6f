"""Characters in a text that nobody sees: a paste may carry words that way, or turn its order round."""

from __future__ import annotations

import re
from collections import Counter

MARK = "\ufffd"
#: Zero-width blanks and operators, overrides of the direction, and tags; not the joiners and marks
#: that scripts and emoji need. A black flag may be followed by tags: that is how some flags are written.
_HIDDEN = (
    "(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)"
    "|[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def found(text: str) -> Counter[str]:
    """How often each hidden character stands in a text."""
    return Counter(match[0] for match in re.finditer(_HIDDEN, text) if match["flag"] is None)


def marked(text: str) -> str:
    """The same text, as long, with a mark for each hidden character."""
    if text.isascii():
        return text
    return re.sub(_HIDDEN, lambda match: match["flag"] or MARK, text)


def warning(text: str) -> str:
    """What to say of a pasted text; nothing where nothing is hidden in it."""
    counts = found(text)
    if not counts:
        return ""
    names = ", ".join(f"U+{ord(char):04X}" for char, _ in counts.most_common(3))
    many = counts.total()
    characters = "1 hidden character" if many == 1 else f"{many} hidden characters"
    kept = "it is" if many == 1 else "they are"
    more = ", …" if len(counts) > 3 else ""
    return f"the pasted text has {characters} ({names}{more}); {kept} kept, and shown as {MARK}"
