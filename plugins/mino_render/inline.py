"""What stands inside a paragraph: emphasis, code, links, maths; and what of it can still change.

CommonMark, with four differences for the sake of what models write. No letter is lost:
`__init__`, `2*3*4`, `C:\\new\\_x`, HTML and maths stay as they are. Emphasis works between
ideographs and their punctuation. A newline is a newline. And a construct that is not closed
within `limit` characters and so many `lines` is none, so that nothing is read again from the start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from . import links, marks
from .emphasis import Delimiters, Item
from .look import CODE, UNDERLINED, Palette, Span
from .settled import divided
from .wrap import joined


class Inline(NamedTuple):
    """The spans of a text: `settled` of its first `end` characters, which no later text changes."""

    settled: list[Span]
    end: int
    open: list[Span]


def inline(
    text: str,
    palette: Palette,
    *,
    bits: int = 0,
    before: str = "",
    limit: int = 1000,
    lines: int = 4,
    hold: int | None = None,
    final: bool = True,
) -> Inline:
    """Read `text`, which follows the character `before`. Nothing from `hold` on is settled.

    What is open at the end, where that is not `final`, is shown as it will look once it is closed.
    """
    return _Reader(text, palette, bits=bits, before=before, reach=(limit, lines), final=final).read(hold)


class _Bracket(NamedTuple):
    item: int
    delimiters: int
    start: int


class _Reader:
    def __init__(
        self, text: str, palette: Palette, *, bits: int, before: str, reach: tuple[int, int], final: bool
    ) -> None:
        self.text = text
        self.palette = palette
        self.bits = bits
        self.before = before
        self.limit, self.lines = reach
        self.final = final
        self.items: list[Item] = []
        self.delimiters = Delimiters(self.items)
        self.brackets: list[_Bracket] = []
        self._lined = text.replace("<br", "\nbr").replace("<BR", "\nBR")
        #: Up to where the text is settled, and up to where it was read for its meaning.
        self.unsettled = self.seen = len(text)

    def read(self, hold: int | None) -> Inline:
        text, at = self.text, 0
        while match := marks.SPECIAL.search(text, at):
            if match.start() > at:
                self._literal(at, match.start())
            at = self._special(match.group()[0], match.start(), match.end())
        if at < len(text):
            self._literal(at, len(text))
        for unclosed in self.delimiters.resolve(0):
            if self._waits(unclosed.start):
                self.delimiters.foresee(unclosed)
        for bracket in self.brackets:
            self._waits(bracket.start)
        if self.final:
            return Inline(self._spans(self.items), len(text), [])
        end = self.unsettled if hold is None else min(self.unsettled, hold)
        division = divided(self.items, self.delimiters.closed, end, self.limit)
        return Inline(self._spans(division.settled), division.end, self._spans(division.open))

    def _waits(self, start: int, limit: int = 0) -> bool:
        """Whether what begins at `start` may still be closed; then it and all after it is open."""
        if self.final or self.seen > self._reach(start, limit or self.limit):
            return False
        self.unsettled = min(self.unsettled, start)
        return True

    def _reach(self, start: int, limit: int) -> int:
        """Up to where what begins at `start` must be closed: so many characters, and few lines."""
        at = start
        for _ in range(self.lines):
            at = self._lined.find("\n", at + 1, start + limit)
            if at < 0:
                return start + limit
        return at

    def _spans(self, items: Sequence[Item]) -> list[Span]:
        look, bits = self.palette.look, self.bits
        return joined((item.shown, look(bits | item.bits, item.link)) for item in items)

    # -- pieces --------------------------------------------------------------------------------

    def _literal(self, start: int, end: int) -> int:
        item = Item(self.text[start:end], start)
        item.is_text = True
        self.items.append(item)
        return end

    def _show(self, text: str, start: int, end: int, bits: int = 0, link: str = "") -> int:
        self.items.append(Item(text, start, bits, link))
        self.delimiters.closed.append((start, end))
        return end

    def _unread(self, start: int) -> int:
        """All the rest: what it means depends on whether this is closed."""
        self.seen = start
        return self._show(self.text[start:], start, len(self.text))

    def _special(self, char: str, start: int, end: int) -> int:
        match char:
            case " ":
                return end  # spaces before a newline
            case "\\":
                return self._backslash(start)
            case "`":
                return self._code(start)
            case "*" | "_" | "~":
                return self._delimiter(start)
            case "[":
                self.brackets.append(_Bracket(len(self.items), len(self.delimiters.live), start))
                return self._show("[", start, end)
            case "]":
                return self._bracket(start)
            case "<":
                return self._angle(start)
            case "&":
                return self._entity(start)
            case "$":
                return self._dollar(start)
            case _:
                return self._address(start, end)

    def _backslash(self, start: int) -> int:
        text = self.text
        following = text[start + 1 : start + 2]
        if not following:
            self._waits(start)
            return self._show("\\", start, start + 1)
        if following == "\n":
            return self._show("\n", start, start + 2)
        if following in "([":
            return self._maths(start, "\\)" if following == "(" else "\\]", following)
        if following not in marks.ESCAPABLE:
            return self._show("\\", start, start + 1)
        kept = "\\" if marks.LETTER_AFTER_BACKSLASH.search(marks.word_at(text, start)) else ""
        return self._show(kept + following, start, start + 2)

    def _maths(self, start: int, closing: str, unclosed: str) -> int:
        """Maths stands as it is written, between its marks."""
        end = self.text.find(closing, start + 2, self._reach(start, self.limit))
        if end >= 0:
            end += len(closing)
            return self._show(self.text[start:end], start, end)
        if self._waits(start):
            return self._unread(start)
        return self._show(unclosed, start, start + 2)

    def _dollar(self, start: int) -> int:
        if self.text.startswith("$$", start):
            return self._maths(start, "$$", "$$")
        found = marks.DOLLARS.match(self.text, start, start + marks.SHORT)
        if found:
            if found.end() == len(self.text):
                self._waits(start)
            return self._show(found.group(), start, found.end())
        if "\n" not in self.text[start : start + marks.SHORT]:
            self._waits(start, marks.SHORT)
        return self._show("$", start, start + 1)

    def _code(self, start: int) -> int:
        text = self.text
        opening = marks.TICKS.match(text, start)
        assert opening
        size = len(opening.group())
        for closing in marks.TICKS.finditer(text, opening.end(), self._reach(start, self.limit)):
            if len(closing.group()) == size:
                if closing.end() == len(text):
                    self._waits(start)
                return self._show_code(text[opening.end() : closing.start()], start, closing.end())
        if self._waits(start):
            self.seen = start
            if opening.end() < len(text):
                self._show_code(text[opening.end() :], start, len(text))
            return len(text)
        return self._show(opening.group(), start, opening.end())

    def _show_code(self, text: str, start: int, end: int) -> int:
        text = text.replace("\n", " ")
        if text[:1] == text[-1:] == " " and text.strip():
            text = text[1:-1]
        return self._show(text if self.palette.colour else f"`{text}`", start, end, CODE)

    def _delimiter(self, start: int) -> int:
        run = marks.RUN.match(self.text, start)
        assert run
        end = run.end()
        previous = self.text[start - 1] if start else self.before
        if end - start > self.limit:
            return self._literal(start, end)
        at_end = end == len(self.text) and self._waits(start)
        item = Item("", start)
        item.hidden, item.end, item.reach = at_end, end, self._reach(start, self.limit)
        self.delimiters.add(item, run.group(), previous, self.text[end : end + 1])
        return end

    def _bracket(self, start: int) -> int:
        text, end = self.text, start + 1
        if not self.brackets:
            return self._show("]", start, end)
        bracket = self.brackets.pop()
        reach = self._reach(bracket.start, self.limit)
        if end > reach:
            self.brackets.clear()
            return self._show("]", start, end)
        if end == len(text):
            self._waits(bracket.start)
        elif text[end] == "(":
            if found := marks.TARGET.match(text, end, reach):
                url = found[1] if found[1] is not None else found[2]
                return self._link(bracket, url, found[3] or "", found.end())
            if len(text) <= reach and marks.is_open(text, end) and self._waits(bracket.start):
                return self._unread(start)
        return self._show("]", start, end)

    def _link(self, bracket: _Bracket, url: str, title: str, end: int) -> int:
        """Make a link of everything since the bracket. A title stands behind it as it is written."""
        items, palette = self.items, self.palette
        self.delimiters.resolve(bracket.delimiters)
        del self.delimiters.live[bracket.delimiters :]
        url = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", url)
        label = "".join(item.shown for item in items[bracket.item + 1 :])
        link = links.target(url, palette)
        items[bracket.item].text = ""
        before = items[bracket.item - 1] if bracket.item else None
        if before and before.is_text and before.text.endswith("!"):  # a picture
            before.text = before.text[:-1]
            before.is_text = False
        for item in items[bracket.item + 1 :]:
            item.bits |= UNDERLINED
            item.link = link
        if not label:
            self._show(url, end - 1, end, UNDERLINED, link)
        shown = links.addition(label, url, palette) if label else ""
        if shown or title:
            self._show(f" ({' '.join(filter(None, (shown, title)))})", end - 1, end)
        self.delimiters.closed.append((bracket.start, end))
        return end

    def _angle(self, start: int) -> int:
        text, most = self.text, self._reach(start, self.limit)
        if found := marks.AUTOLINK.match(text, start, most):
            url = found[1]
            link = links.target(url if ":" in url else f"mailto:{url}", self.palette)
            return self._show(url, start, found.end(), UNDERLINED, link)
        if found := marks.BREAK_TAG.match(text, start):
            if found.end() == len(text):
                self._waits(start)
            return self._show("\n", start, found.end())
        if found := marks.TAG.match(text, start, most):
            return self._show(found.group(), start, found.end())
        if marks.OPEN_TAG.match(text, start) and self._waits(start):
            return self._unread(start)
        return self._show("<", start, start + 1)

    def _entity(self, start: int) -> int:
        if found := marks.ENTITY.match(self.text, start):
            from html import unescape

            char = unescape(found.group())
            if char and (char == "\xa0" or char.isprintable()):  # never a control
                return self._show(char, start, found.end())
        elif marks.OPEN_ENTITY.match(self.text, start):
            self._waits(start)
        return self._show("&", start, start + 1)

    def _address(self, start: int, end: int) -> int:
        previous = self.text[start - 1] if start else self.before
        found = marks.URL.match(self.text, start, start + self.limit)
        if found is None or (previous.isascii() and previous.isalnum()):
            return self._literal(start, end)
        if found.end() == len(self.text):
            self._waits(start)
        url = links.trimmed(found.group())
        if len(found.group()) == self.limit or len(url) <= end - start:
            return self._literal(start, end)
        return self._show(url, start, start + len(url), UNDERLINED, links.target(url, self.palette))
