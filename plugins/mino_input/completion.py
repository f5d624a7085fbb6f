"""What may stand at the cursor: the slash commands with their help, and what each takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .choices import shown

if TYPE_CHECKING:
    from mino_core import Session

_NAME = re.compile(r"\s*/([\w:-]*)", re.ASCII)
_ARGUMENT = re.compile(r"\s*/([\w:-]+)\s+(.*)", re.ASCII | re.DOTALL)
#: Of a command that offers more, the rest is left out.
_MOST = 500


class Candidate(NamedTuple):
    """A text for the last `replaces` characters before the cursor, and its help."""

    text: str
    replaces: int
    help: str = ""


def is_name(text: str) -> bool:
    """Whether this is the beginning of a command's name, and nothing else."""
    return _NAME.fullmatch(text) is not None


def candidates(session: Session, text: str) -> Iterable[Candidate]:
    """What may complete the text before the cursor. MinoError where a command fails to say."""
    if name := _NAME.fullmatch(text):
        return _names(session, name[1])
    if argument := _ARGUMENT.fullmatch(text):
        return _arguments(session, argument[1], argument[2])
    return ()


def _names(session: Session, begun: str) -> Iterable[Candidate]:
    commands = session.commands()
    for name in sorted(commands):
        if name.startswith(begun):
            summary, _, _ = (commands[name].value.__doc__ or "").strip().partition("\n")
            yield Candidate(name, len(begun), shown(summary))


def _arguments(session: Session, name: str, begun: str) -> Iterable[Candidate]:
    offer = session.commands().get(name)
    complete = getattr(offer.value, "complete", None) if offer else None
    if offer is None or complete is None:
        return []
    with session.host.guard(offer.plugin, f"completing /{name}"):
        words = list(islice(map(str, complete(session, begun)), _MOST))
    return [Candidate(word, len(begun)) for word in words]
