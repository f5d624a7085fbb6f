"""Finding words in what was said, in any case, in whatever place it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core import HistoryError

if TYPE_CHECKING:
    from mino_core import Head, History, Record

    _Candidates = Iterable[tuple[Head, Iterable[Record]]]

#: How many characters an excerpt shows before and after what was found.
_BEFORE, _AFTER = 30, 60
#: The keys of a part, or of a record, that hold words.
_WORDS = ("text", "content", "arguments", "name")


class Match(NamedTuple):
    """One text that holds what was sought: who said it (or `title`, `summary`), and the words around it."""

    who: str
    turn: int | None
    excerpt: str


class Found(NamedTuple):
    """One conversation with its matches, oldest first; `damaged` where it could not be searched."""

    head: Head
    matches: Iterator[Match]
    damaged: str = ""


def search(history: History, text: str) -> Iterator[Found]:
    """The conversations in which a text stands, the one written to last first.

    What was cleared, undone or asked again is found too.
    """
    native: Callable[[str], _Candidates] | None = getattr(history, "search", None)
    for head, records in native(text) if native else _all(history):
        matches = _matches(records, text.lower())
        try:
            first = next(matches, None)
        except HistoryError as error:
            yield Found(head, iter(()), str(error))
        else:
            if first is not None:
                yield Found(head, chain([first], matches))


def _all(history: History) -> _Candidates:
    return ((head, _records(history, head)) for head in history.conversations())


def _records(history: History, head: Head) -> Iterator[Record]:
    log = history.open(head["id"], write=False)
    try:
        yield from log.records()
    finally:
        log.close()


def _matches(records: Iterable[Record], sought: str) -> Iterator[Match]:
    """What is found; a reply that came to its end is not found in its beginnings too."""
    unended: Match | None = None
    for record in records:
        match = next(
            (_match(record, who, text, sought) for who, text in _texts(record) if sought in text.lower()),
            None,
        )
        if match is None:
            continue
        if record["type"] == "partial":
            unended = match
            continue
        if unended is not None and unended.turn != match.turn:
            yield unended
        unended = None
        yield match
    if unended is not None:
        yield unended


def _match(record: Record, who: str, text: str, sought: str) -> Match:
    turn = record.get("turn")
    return Match(who, turn if isinstance(turn, int) else None, _excerpt(text, sought))


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    """Every text in a record that somebody said, with who it was."""
    match record["type"]:
        case "said":
            message = record.get("message")
            if isinstance(message, Mapping):
                yield from ((str(message.get("role", "")), text) for text in _said(message.get("parts")))
        case "partial":
            yield from (("assistant", text) for text in _said(record.get("parts")))
        case "titled":
            yield "title", str(record.get("title", ""))
        case "compacted":
            yield "summary", str(record.get("summary", ""))


def _said(parts: Any) -> Iterator[str]:
    for part in parts if isinstance(parts, list | tuple) else ():
        if isinstance(part, Mapping):
            yield from (text for key in _WORDS if isinstance(text := part.get(key), str) and text)
            if isinstance(json := part.get("arguments"), str) and "\\u" in json:
                yield _unescaped(json)


def _unescaped(json: str) -> str:
    """What arguments say in which a model escaped letters."""
    from json import dumps, loads

    try:
        return dumps(loads(json), ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _excerpt(text: str, sought: str) -> str:
    """The words around what was found, on one line."""
    at = max(text.lower().find(sought), 0)
    start, end = max(0, at - _BEFORE), at + len(sought) + _AFTER
    words = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{words}{'…' if end < len(text) else ''}"
