"""Colours for code, one line at a time, carrying on where the line before left off.

pygments reads whole texts. Its lexers, though, are tables of regular expressions by state, and the
state between two lines is a list of names: with it in hand a line is read once, however long the
text. A lexer that is more than such a table leaves its language uncoloured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .look import PLAIN, Look, Palette, Span
from .wrap import joined

_COLOURS = (
    ("Comment", "2;3"),
    ("Keyword", "35"),
    ("Operator.Word", "35"),
    ("Literal.String.Doc", "32"),
    ("Literal.String", "32"),
    ("Literal.Number", "36"),
    ("Name.Function", "34;1"),
    ("Name.Class", "34;1"),
    ("Name.Tag", "34"),
    ("Name.Attribute", "36"),
    ("Name.Decorator", "36"),
    ("Name.Builtin", "36"),
    ("Name.Exception", "36"),
    ("Generic.Heading", "1"),
    ("Generic.Subheading", "1"),
    ("Generic.Deleted", "31"),
    ("Generic.Inserted", "32"),
    ("Generic.Error", "31"),
    ("Generic.Prompt", "2"),
)


#: Comments over several lines are one expression to pygments, so they are followed here.
_COMMENTED = (
    " c cpp c++ csharp c# cs java javascript js jsx typescript ts tsx go rust rs css scss less php swift "
    "kotlin kt scala dart sql objective-c objc groovy "
)
_NO_COMMENT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|//.*|/\*.*?\*/")


class Highlighter:
    """The lines of one fence, in order. Without a lexer for the language they come back plain."""

    def __init__(self, language: str, palette: Palette, plain: Look = PLAIN) -> None:
        self._palette = palette
        self._plain = plain
        self._lexer: Any = _lexer(language.lower()) if palette.colour and language else None
        self._has_comments = f" {language.lower()} " in _COMMENTED
        self._in_comment = False
        self._stack = ["root"]
        self._looks: dict[object, Look] = {}

    def line(self, line: str) -> list[Span]:
        """One line, without its newline, in colours."""
        if self._lexer is None:
            return [(line, self._plain)] if line else []
        comment, code, opened = self._divided(line)
        look = self._palette.coloured(_COLOURS[0][1])
        lexed = [(text.rstrip("\n"), self._look(token)) for token, text in self._tokens(code + "\n")]
        if "".join(text for text, _ in lexed) != code:
            lexed = [(code, PLAIN)]
        return joined([(comment, look), *lexed, (opened, look)])

    def _divided(self, line: str) -> tuple[str, str, str]:
        """The rest of a comment begun before, code, and a comment that goes on after this line."""
        if not self._has_comments:
            return "", line, ""
        end = line.find("*/") + 2 if self._in_comment else 0
        if end == 1:  # not found
            return line, "", ""
        blank = _NO_COMMENT.sub(lambda found: " " * len(found.group()), line[end:])
        at = blank.find("/*")
        self._in_comment = at >= 0
        at = len(line) if at < 0 else end + at
        return line[:end], line[end:at], line[at:]

    def skip(self) -> None:
        """A line was left out: start afresh after it."""
        self._stack = ["root"]

    def _look(self, token: Any) -> Look:
        look = self._looks.get(token)
        if look is None:
            name = ".".join(token)
            sgr = next((sgr for kind, sgr in _COLOURS if name.startswith(kind)), "")
            look = self._looks[token] = self._palette.coloured(sgr) if sgr else PLAIN
        return look

    def _tokens(self, text: str) -> Iterator[tuple[Any, str]]:
        """What `RegexLexer.get_tokens_unprocessed` does, with a stack that outlives the text."""
        from pygments.token import Error, Text, _TokenType  # type: ignore[import-untyped]

        definitions: Any = self._lexer._tokens  # noqa: SLF001 (its table)
        stack, at = self._stack, 0
        while at < len(text):
            for match, action, change in definitions[stack[-1]]:
                found = match(text, at)
                if not found:
                    continue
                if action is not None:
                    if isinstance(action, _TokenType):
                        yield action, found.group()
                    else:
                        for _, token, value in action(self._lexer, found):
                            yield token, value
                at = found.end()
                if change is not None:
                    _change(stack, change)
                break
            else:
                if text[at] == "\n":
                    stack[:] = ["root"]
                yield (Text if text[at] == "\n" else Error), text[at]
                at += 1


def warm() -> None:
    """Import pygments, before the first fence needs it."""
    from pygments import lexer, lexers, token  # type: ignore[import-untyped]  # noqa: F401 (for later)


def _change(stack: list[str], change: Any) -> None:
    if isinstance(change, int):  # minus so many levels
        del stack[max(1, len(stack) + change) :]
        return
    for state in (change,) if isinstance(change, str) else change:
        if state == "#pop":
            if len(stack) > 1:
                stack.pop()
        else:
            stack.append(stack[-1] if state == "#push" else state)


def _lexer(language: str) -> Any:
    """The lexer of a language by one of its names, without asking every installed distribution."""
    from pygments import lexers
    from pygments.lexer import DelegatingLexer, ExtendedRegexLexer, RegexLexer  # type: ignore[import-untyped]

    for name, (_, _, aliases, _, _) in lexers.LEXERS.items():
        if language in aliases:
            kind = getattr(lexers, name)
            if issubclass(kind, RegexLexer) and not issubclass(kind, ExtendedRegexLexer | DelegatingLexer):
                return kind()
            return None
    return None
