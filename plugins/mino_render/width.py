"""How many cells text takes.

Terminals agree on letters, ideographs and single marks. They do not agree on what a joiner, a
variation selector, a flag or a skin tone makes of its neighbours: such text is *doubtful*. Here it
counts as wide as any of them draws it, so that a row never overflows.
"""

from __future__ import annotations

import re

_DOUBTFUL = re.compile("[\u200d\ufe0f\u20e3\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
#: What some terminals give no cell of its own.
_MERGED = re.compile(
    "\u200d.|(?<=[\U0001f1e6-\U0001f1ff])[\U0001f1e6-\U0001f1ff]"
    "|[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]",
    re.DOTALL,
)


#: Letters, ideographs and marks of which everybody says the same, from the first to the last.
_NARROW = (
    *((" ", "~"), ("\xa1", "\xac"), ("\xae", "\u02ff"), ("\u0391", "\u03e1")),
    *(("\u0400", "\u0482"), ("\u048a", "\u052f"), ("\u2010", "\u2027")),
)
_WIDE = (
    *(("\u3001", "\u3029"), ("\u3041", "\u3096"), ("\u30a1", "\u30ff")),
    *(("\u4e00", "\u9fff"), ("\uac00", "\ud7a3"), ("\uff01", "\uff60")),
)


class _Cells(dict[str, int]):
    def __missing__(self, char: str) -> int:
        self[char] = 1 if _among(char, _NARROW) else 2 if _among(char, _WIDE) else _told(char)
        return self[char]


def _among(char: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return any(first <= char <= last for first, last in ranges)


def _told(char: str) -> int:
    from wcwidth import wcwidth  # a large import, which most texts never need

    return 1 if char == "\ufe0f" else max(wcwidth(char), 0)


_cells = _Cells()


def cells(text: str) -> int:
    """The width of text without controls, in cells."""
    if text.isascii():
        return len(text)
    return sum(map(_cells.__getitem__, text))


def beginning(text: str, room: int) -> str:
    """As much of the text as fits into `room` cells."""
    if text.isascii():
        return text[: max(room, 0)]
    taken = 0
    for at, char in enumerate(text):
        taken += _cells[char]
        if taken > room:
            return text[:at]
    return text


def doubtful(text: str) -> bool:
    """Whether terminals disagree about this text's width."""
    return not text.isascii() and _DOUBTFUL.search(text) is not None


def narrowest(text: str) -> str:
    """Letters that take as few cells as any terminal gives to this text, or fewer."""
    return text if text.isascii() else _MERGED.sub("", text)


def place(text: str, column: int, columns: int) -> tuple[int, int]:
    """Where text that starts in `column` ends: rows further down, and the column there.

    A full row leaves the cursor in column `columns`: it moves on with the next letter.
    """
    if text.isascii():
        end = column + len(text)
        down = max(end - 1, 0) // columns
        return down, end - down * columns
    down = 0
    for char in text:
        width = _cells[char]
        if column + width > columns and column > 0 and width:
            down, column = down + 1, 0
        column += width
    return down, column
