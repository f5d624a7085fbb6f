"""How a line begins: which containers it stays in or opens, and which kind of block it starts.

The block phase of CommonMark, one line at a time, as a pure function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from .containers import Item, Quote

Kind: TypeAlias = Literal["text", "heading", "fence", "rule", "code", "blank"]

_HEADING = re.compile(r"(#{1,6})(?:[ ]+|$)")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_RULE = re.compile(r"([*_-])[ ]*(?:\1[ ]*){2,}$")
_BULLET = re.compile(r"([-+*])(?:( +)(?=\S)|[ ]*$)")
_ORDERED = re.compile(r"(\d{1,9})([.)])(?:( +)(?=\S)|[ ]*$)")
_UNDECIDED = re.compile(
    r"(?:\#{1,6}[ ]*|[-+*][ ]*|(?:[*_-][ ]*)+|=+[ ]*|\d{1,9}[.)]?[ ]*|>"
    r"|`{1,2}|`{3,}[^`]*|~{1,2}|~~~.*|[|:\- ]*)$"
)
#: Containers deeper than this are text.
_DEEPEST = 12
#: A line that is longer than this is text, whatever it began with.
LONGEST = 4000


class Start(NamedTuple):
    """`matched` containers go on, `opened` are new, and `rest` of the line belongs to a `kind`."""

    matched: int
    opened: list[Quote | Item]
    kind: Kind
    rest: str
    level: int = 0
    fence: str = ""
    indent: int = 0


def continued(line: str, containers: Sequence[Quote | Item]) -> tuple[int, str]:
    """How many containers this line goes on with, and what is left of it."""
    rest = line
    for n, container in enumerate(containers):
        text = rest.lstrip(" ")
        indent = len(rest) - len(text)
        if isinstance(container, Quote):
            if indent > 3 or not text.startswith(">"):
                return n, rest
            rest = text[2:] if text[1:2] == " " else text[1:]
        elif text:
            if indent < container.indent:
                return n, rest
            rest = rest[container.indent :]
    return len(containers), rest


def start(
    line: str, containers: Sequence[Quote | Item], *, in_paragraph: bool, is_whole: bool
) -> Start | None:
    """How `line` begins; None where more of it must be seen first, which never happens to a whole one."""
    matched, rest = continued(line, containers)
    opened: list[Quote | Item] = []
    goes_on = in_paragraph and matched == len(containers)
    while True:
        text = rest.lstrip(" ")
        indent = len(rest) - len(text)
        if not text:
            return Start(matched, opened, "blank", "") if is_whole else None
        if indent >= 4:
            kind: Kind = "text" if in_paragraph and not opened else "code"
            return Start(matched, opened, kind, text if kind == "text" else rest[4:])
        if not is_whole and len(line) <= LONGEST and _UNDECIDED.match(text):
            return None
        if found := _HEADING.match(text):
            return Start(matched, opened, "heading", text[found.end() :], level=len(found[1]))
        if is_whole and (found := _FENCE.match(text)):
            fence, info = (found[1], found[2]) if found[1] else (found[3], found[4])
            return Start(matched, opened, "fence", info.strip(), fence=fence, indent=indent)
        if is_whole and _RULE.match(text):
            return Start(matched, opened, "rule", text)
        container = _opened(text, indent, goes_on=goes_on and not opened)
        if container is None or matched + len(opened) >= _DEEPEST:
            return Start(matched, opened, "text", text)
        opened.append(container[0])
        rest = container[1]


def _opened(text: str, indent: int, *, goes_on: bool) -> tuple[Quote | Item, str] | None:
    """The container that begins here, and what follows its marker. `goes_on`: in a paragraph."""
    if text.startswith(">"):
        return Quote(), text[2:] if text[1:2] == " " else text[1:]
    if found := _BULLET.match(text):
        size, space, marker, number = 1, found[2], "• ", None
    elif found := _ORDERED.match(text):
        size, space, number = len(found[1]) + 1, found[3], int(found[1])
        marker = f"{found[1]}{found[2]} "
        if goes_on and number != 1:
            return None
    else:
        return None
    if space is None:
        return None if goes_on else (Item(indent + size + 1, marker, number), "")
    gap = len(space) if len(space) < 5 else 1
    return Item(indent + size + gap, marker, number), text[size + gap :]
