"""Arguments inside a shell command: each becomes a quoted word, and can never become more than that.

`$1`, `$@` and `$ARGUMENTS` mean there what they mean in a shell: in single quotes and behind a
backslash they are left alone, in double quotes they stay within. Where it cannot be seen from the
text how the shell would read the place, nothing is put there and the author is told.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from mino_core import UsageError

_ARGUMENT = re.compile(r"\$(?:[1-9]|@|ARGUMENTS\b)")
#: What a shell reads by rules of its own, wherever it stands.
_OWN_RULES = ("`", "<<", "((", "$'", '$"')
_VARIABLE = re.compile(r"\{\w+\}")
_IN_DOUBLE_QUOTES = re.compile(r'[\\"$`]')


def with_arguments(command: str, value: Callable[[str], str], words: Sequence[str]) -> str:
    """The command with its arguments quoted. UsageError where an argument stands where none can."""
    if not _ARGUMENT.search(command):
        return command
    if odd := next((mark for mark in _OWN_RULES if mark in command), None):
        raise UsageError(f"a command with {odd} in it can take no arguments: {command}")
    made: list[str] = []
    at, quote, nested = 0, "", False
    while at < len(command):
        char = command[at]
        found = _ARGUMENT.match(command, at)
        if found and quote != "'":
            if nested or quote == "#":
                raise UsageError(f"{found[0]} cannot stand where it does in this command: {command}")
            made.append(_quoted(found[0], quote, value, words))
            at = found.end()
            continue
        made.append(command[at : at + 2] if char == "\\" and quote in ("", '"') else char)
        at += len(made[-1])
        if char == "\\":
            continue
        if quote == '"' and char == "$" and command[at : at + 1] in ("(", "{"):
            # From here on quotes do not say any more where we are.
            nested = nested or _VARIABLE.match(command, at) is None
        quote = _next(quote, char, made)
    return "".join(made)


def _next(quote: str, char: str, before: Sequence[str]) -> str:
    """Which quote is open behind a character; `#` is that of a comment, up to the end of its line."""
    if quote:
        return "" if char == ("\n" if quote == "#" else quote) else quote
    if char == "#" and (len(before) == 1 or before[-2][-1:] in " \t\n;&|("):
        return "#"
    return char if char in "'\"" else ""


def _quoted(mark: str, quote: str, value: Callable[[str], str], words: Sequence[str]) -> str:
    if quote:
        return _IN_DOUBLE_QUOTES.sub(lambda char: f"\\{char[0]}", value(mark))
    if mark == "$@":
        return " ".join(map(shlex.quote, words))
    return shlex.quote(value(mark))
