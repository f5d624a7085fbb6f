"""A terminal's screen as a picture (SVG), to look at and to put into a page."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyte.screens import Char

    from .paper import Line

_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 12
_LETTERS = (
    *("black", "red", "green", "brown", "blue", "magenta", "cyan", "white"),
    *("brightblack", "brightred", "brightgreen", "brightbrown", "brightblue"),
    *("brightmagenta", "brightcyan", "brightwhite", "faint"),
)


class Theme(NamedTuple):
    """The colours of a terminal."""

    paper: str
    ink: str
    colours: dict[str, str]


def _theme(paper: str, ink: str, colours: str) -> Theme:
    return Theme(paper, ink, {"default": ink, **dict(zip(_LETTERS, colours.split(), strict=True))})


DARK = _theme(
    "#1d1f21",
    "#d4d4d4",
    "#3b3f45 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #d4d4d4"
    " #7f848e #ff7b86 #b5e890 #ffd68a #82c4ff #dd9bf0 #7fd8e3 #ffffff #8b8f94",
)
LIGHT = _theme(
    "#ffffff",
    "#24292f",
    "#24292f #cf222e #116329 #7d4e00 #0969da #8250df #1b7c83 #6e7781"
    " #57606a #a40e26 #1a7f37 #633c01 #218bff #a475f9 #3192aa #8c959f #717981",
)
_FONT = 'font-family="\'DejaVu Sans Mono\',Menlo,Consolas,monospace" font-size="14" xml:space="preserve"'


class _Style(NamedTuple):
    ink: str
    paper: str
    more: str


def svg(rows: Sequence[Line], columns: int, theme: Theme = DARK) -> str:
    """The rows, drawn in the colours of a theme, `columns` wide."""
    width, height = columns * _WIDTH + 2 * _MARGIN, len(rows) * _HEIGHT + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" {_FONT}>',
        f'<rect width="100%" height="100%" rx="8" fill="{theme.paper}"/>',
    ]
    for y, row in enumerate(rows):
        for style, x, cells, text in _runs(row, theme):
            left, top = _MARGIN + x * _WIDTH, _MARGIN + y * _HEIGHT
            if style.paper != theme.paper:
                size = f'width="{cells * _WIDTH:g}" height="{_HEIGHT}"'
                lines.append(f'<rect x="{left:g}" y="{top}" {size} fill="{style.paper}"/>')
            if words := text.strip(" "):
                left += (len(text) - len(text.lstrip(" "))) * _WIDTH
                length = (cells - len(text) + len(words)) * _WIDTH
                place = f'x="{left:g}" y="{top + 14}" textLength="{length:g}"'
                lines.append(f'<text {place} fill="{style.ink}"{style.more}>{escape(words)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _runs(row: Line, theme: Theme) -> Iterator[tuple[_Style, int, int, str]]:
    """The stretches of one style and one width: where each begins, its cells, and its letters."""
    cells = [(x, row[x]) for x in range(max(row, default=-1) + 1)]
    wide = {x for x, cell in cells if not cell.data}
    wide |= {x - 1 for x in wide}

    def look(each: tuple[int, Char]) -> tuple[_Style, bool]:
        return _style(each[1], theme), each[0] in wide

    for (style, _), run in groupby(cells, look):
        taken = list(run)
        yield style, taken[0][0], len(taken), "".join(cell.data for _, cell in taken)


def _style(cell: Char, theme: Theme) -> _Style:
    ink = theme.colours.get(cell.fg, f"#{cell.fg}")
    paper = theme.paper if cell.bg == "default" else theme.colours.get(cell.bg, f"#{cell.bg}")
    if cell.reverse:
        ink, paper = paper, ink
    more = ' font-weight="bold"' if cell.bold else ""
    more += ' font-style="italic"' if cell.italics else ""
    drawn = ["underline"] * cell.underscore + ["line-through"] * cell.strikethrough
    more += f' text-decoration="{" ".join(drawn)}"' if drawn else ""
    return _Style(ink, paper, more)
