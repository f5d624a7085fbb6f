"""What may stand at the cursor: the slash commands with their help, what each takes, and `@path`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from mino_core import sanitise

if TYPE_CHECKING:
    from mino_core import Session

#: Compiled where a line needs them: nearly none does.
_NAME = r"(?a)\s*/([\w:-]*)"
_PATH = r"(?a)(?<![\w.@/\\-])@(?:((?:\\.|[^\s\\\"])*)|(\"[^\"\n]*))\Z"
_ARGUMENT = r"(?as)\s*/([\w:-]+)\s+(.*)"
#: Of a command that offers more, the rest is left out.
_MOST = 500


class Candidate(NamedTuple):
    """A text for the last `replaces` characters before the cursor, and its help."""

    text: str
    replaces: int
    help: str = ""


def is_name(text: str) -> bool:
    """Whether this is the beginning of a command's name, and nothing else."""
    return "/" in text and re.fullmatch(_NAME, text) is not None


def candidates(session: Session, text: str) -> Iterable[Candidate]:
    """What may complete the text before the cursor. MinoError where a command fails to say."""
    if name := re.fullmatch(_NAME, text):
        return _names(session, name[1])
    if argument := re.fullmatch(_ARGUMENT, text):
        return _arguments(session, argument[1], argument[2])
    if path := re.search(_PATH, text):
        return _paths(path[1]) if path[2] is None else _quoted(path[2])
    return ()


def _names(session: Session, begun: str) -> Iterable[Candidate]:
    commands = session.commands()
    for name in sorted(commands):
        if name.startswith(begun):
            summary, _, _ = (commands[name].value.__doc__ or "").strip().partition("\n")
            yield Candidate(name, len(begun), sanitise(summary))


def _paths(begun: str) -> Iterable[Candidate]:
    """Files and folders, with a backslash before what would end a path."""
    replaced = len(begun.rpartition("/")[2])
    for name in _found(re.sub(r"\\(.)", r"\1", begun)):
        yield Candidate(re.sub(r"([\s\\\"])", r"\\\1", name), replaced)


def _quoted(begun: str) -> Iterable[Candidate]:
    """The same behind a quote, which a file's name closes. No name can have one in it there."""
    replaced = len(begun[1:].rpartition("/")[2])
    for name in _found(begun[1:]):
        if '"' not in name:
            yield Candidate(name if name.endswith("/") else f'{name}"', replaced)


def _found(begun: str) -> list[str]:
    """What is there. A folder ends in a slash, so that Tab goes on into it."""
    folder, _, name = begun.rpartition("/")
    place = os.path.expanduser(f"{folder}/") if "/" in begun else "."
    try:
        with os.scandir(place) as entries:
            found = sorted(
                entry.name + "/" * entry.is_dir()
                for entry in entries
                if entry.name.startswith(name)
                and entry.name.isprintable()
                and (name or not entry.name.startswith("."))
            )
    except OSError:
        return []
    return found[:_MOST]


def _arguments(session: Session, name: str, begun: str) -> Iterable[Candidate]:
    offer = session.commands().get(name)
    complete = getattr(offer.value, "complete", None) if offer else None
    if offer is None or complete is None:
        return []
    with session.host.guard(offer.plugin, f"completing /{name}"):
        words = list(islice(map(str, complete(session, begun)), _MOST))
    return [Candidate(word, len(begun)) for word in words]
