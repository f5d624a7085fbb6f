"""The text of a command, taken apart once: what stands in it, what is typed into it, what is fetched.

It is read in one pass, so nothing that an argument, a file or a program says is read as a template.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from mino_core import UsageError

from .shell import with_arguments

_MARK = re.compile(
    r"""
    \$ (?P<kept> \$ (?: [1-9] | @ | ARGUMENTS\b ) )  # $$1 says $1
    | (?P<argument> \$ (?: [1-9] | @ | ARGUMENTS\b ) )
    | (?P<opened> [@!] ) (?P<again> (?P=opened) )? \{
    """,
    re.VERBOSE,
)
_ARGUMENT = re.compile(r"\$(?:[1-9]|@|ARGUMENTS\b)")


class Piece(NamedTuple):
    """`text` is text as it is, an argument's mark, the path of a file, or a command for the shell."""

    kind: Literal["text", "argument", "file", "command"]
    text: str


class Arguments(NamedTuple):
    """What stands behind a command: `rest` as it was typed, `words` with its quotes taken off."""

    rest: str
    words: tuple[str, ...]

    @classmethod
    def read(cls, rest: str) -> Arguments:
        """Words end at blanks; quotes hold them together. Where these do not match, only blanks count."""
        try:
            words = shlex.split(rest)
        except ValueError:
            words = rest.split()
        return cls(rest.strip(), tuple(words))

    def value(self, mark: str) -> str:
        """What `$1`, `$@` or `$ARGUMENTS` stands for; nothing where so many were not given."""
        match mark:
            case "$ARGUMENTS":
                return self.rest
            case "$@":
                return " ".join(self.words)
        n = int(mark[1:])
        return self.words[n - 1] if n <= len(self.words) else ""


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a command's text. UsageError where a `@{` or `!{` is never closed."""
    at = 0
    while mark := _MARK.search(text, at):
        yield Piece("text", text[at : mark.start()])
        at = mark.end()
        if mark["kept"]:
            yield Piece("text", mark["kept"])
        elif mark["argument"]:
            yield Piece("argument", mark["argument"])
        elif mark["again"]:
            yield Piece("text", mark["again"] + "{")
        else:
            end = _closed(text, at)
            yield Piece("file" if mark["opened"] == "@" else "command", text[at:end].strip())
            at = end + 1
    yield Piece("text", text[at:])


def _closed(text: str, start: int) -> int:
    """Where the brace that was opened before `start` is closed; those within come in pairs."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return at
    raise UsageError(f"{text[start - 2 : start + 20]!r} is never closed with a brace")


def fill(text: str, rest: str, read: Callable[[str], str], run: Callable[[list[str]], list[str]]) -> str:
    """The prompt. `read` gives the text of a file, `run` what each of the commands said, in order.

    All files are read before any command is run. Arguments that the text does not place follow it.
    """
    arguments = Arguments.read(rest)
    found = list(pieces(text))
    files = [read(_placed(piece.text, arguments)) for piece in found if piece.kind == "file"]
    commands = [
        with_arguments(piece.text, arguments.value, arguments.words)
        for piece in found
        if piece.kind == "command"
    ]
    fetched = {"file": iter(files), "command": iter(run(commands) if commands else [])}
    said = "".join(
        piece.text
        if piece.kind == "text"
        else arguments.value(piece.text)
        if piece.kind == "argument"
        else next(fetched[piece.kind])
        for piece in found
    )
    placed = any(
        piece.kind == "argument" or _ARGUMENT.search(piece.text) for piece in found if piece.kind != "text"
    )
    return said if placed or not arguments.rest else f"{said}\n\n{arguments.rest}"


def _placed(path: str, arguments: Arguments) -> str:
    return _ARGUMENT.sub(lambda mark: arguments.value(mark[0]), path)
