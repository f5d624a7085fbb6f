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
_PAPER, _INK = "#1d1f21", "#d4d4d4"
_COLOURS = {
    "black": "#3b3f45",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#d4d4d4",
    "brightblack": "#7f848e",
    "brightred": "#ff7b86",
    "brightgreen": "#b5e890",
    "brightbrown": "#ffd68a",
    "brightblue": "#82c4ff",
    "brightmagenta": "#dd9bf0",
    "brightcyan": "#7fd8e3",
    "brightwhite": "#ffffff",
}
_FONT = 'font-family="\'DejaVu Sans Mono\',Menlo,Consolas,monospace" font-size="14" xml:space="preserve"'


class _Style(NamedTuple):
    ink: str
    paper: str
    more: str


def svg(rows: Sequence[Line], columns: int) -> str:
    """The rows, drawn in their colours, `columns` wide."""
    width, height = columns * _WIDTH + 2 * _MARGIN, len(rows) * _HEIGHT + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" {_FONT}>',
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>',
    ]
    for y, row in enumerate(rows):
        for style, x, cells, text in _runs(row):
            left, top = _MARGIN + x * _WIDTH, _MARGIN + y * _HEIGHT
            if style.paper != _PAPER:
                size = f'width="{cells * _WIDTH:g}" height="{_HEIGHT}"'
                lines.append(f'<rect x="{left:g}" y="{top}" {size} fill="{style.paper}"/>')
            if words := text.strip(" "):
                left += (len(text) - len(text.lstrip(" "))) * _WIDTH
                length = (cells - len(text) + len(words)) * _WIDTH
                place = f'x="{left:g}" y="{top + 14}" textLength="{length:g}"'
                lines.append(f'<text {place} fill="{style.ink}"{style.more}>{escape(words)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _runs(row: Line) -> Iterator[tuple[_Style, int, int, str]]:
    """The stretches of one style: where each begins, how many cells it has, and its letters."""
    cells = [(x, row[x]) for x in range(max(row, default=-1) + 1)]
    for style, run in groupby(cells, lambda cell: _style(cell[1])):
        taken = list(run)
        yield style, taken[0][0], len(taken), "".join(cell.data for _, cell in taken)


def _style(cell: Char) -> _Style:
    ink, paper = _colour(cell.fg, _INK), _colour(cell.bg, _PAPER)
    if cell.reverse:
        ink, paper = paper, ink
    more = ' font-weight="bold"' if cell.bold else ""
    more += ' font-style="italic"' if cell.italics else ""
    drawn = ["underline"] * cell.underscore + ["line-through"] * cell.strikethrough
    more += f' text-decoration="{" ".join(drawn)}"' if drawn else ""
    return _Style(ink, paper, more)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return _COLOURS.get(name, f"#{name}")
