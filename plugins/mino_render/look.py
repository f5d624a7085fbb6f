"""How letters look: a handful of attributes and sixteen colours, so that any theme stays legible."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

BOLD, ITALIC, STRUCK, CODE, UNDERLINED, DIM, LABEL, ERROR = (1 << n for n in range(8))

_ATTRIBUTES = ((BOLD, "1"), (DIM, "2"), (ITALIC, "3"), (UNDERLINED, "4"), (STRUCK, "9"))
#: Magenta and red read well on black and on white; the others are left to code.
_COLOURS = ((CODE, "35"), (LABEL, "36"), (ERROR, "31"))


class Look(NamedTuple):
    """The parameters of one SGR sequence, and the target of a link; both may be empty.

    With a `column`, counted from 1, the letters stand there, whatever stands before them.
    """

    sgr: str = ""
    link: str = ""
    column: int = 0


PLAIN = Look()
#: Letters of one look.
Span: TypeAlias = tuple[str, Look]


class Row(NamedTuple):
    """What stands between two line breaks; longer than the window, it is the terminal that wraps it.

    Without `ends` more of it is to come.
    """

    spans: tuple[Span, ...]
    ends: bool = True


class Palette(NamedTuple):
    """What the terminal can show."""

    colour: bool
    hyperlinks: bool

    def look(self, bits: int, link: str = "") -> Look:
        """The look with these attributes."""
        return _look(bits, link, self.colour)

    def coloured(self, sgr: str) -> Look:
        """A look given by SGR parameters, where there is colour."""
        return Look(sgr) if self.colour else PLAIN


@cache
def _attributes(bits: int, colour: bool) -> str:
    chosen = _ATTRIBUTES + (_COLOURS if colour else ())
    return ";".join(sgr for bit, sgr in chosen if bits & bit)


def _look(bits: int, link: str, colour: bool) -> Look:
    return Look(_attributes(bits, colour), link) if bits or link else PLAIN


def overlay(spans: Iterable[Span], bits: int, palette: Palette) -> list[Span]:
    """The same spans with more attributes."""
    more = _attributes(bits, palette.colour)
    return [(text, Look(f"{more};{look.sgr}" if look.sgr else more, look.link)) for text, look in spans]
