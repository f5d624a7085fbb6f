"""One conversation among many: by the start of its id, and how it is called in a list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mino_core.errors import HistoryError
from mino_core.types import Head, History, Log, Record

from .messages import WrongShape, is_blank, message_from_json


class Summary(NamedTuple):
    """What a list says of a conversation. `time` is when it began, `written` when it was written to last.

    `first` is the first question. `damaged` says why it cannot be read, or is empty.
    """

    id: str
    time: str
    written: str
    directory: str
    title: str
    first: str
    damaged: str

    @property
    def name(self) -> str:
        """Its title, or its first words, on one line; what is damaged says so."""
        words = " ".join((self.title or self.first).split())
        return f"({self.damaged}) {words}".rstrip() if self.damaged else words

    @property
    def began(self) -> str:
        """When it began, as the clock here says it."""
        return _clock(self.time)

    @property
    def when(self) -> str:
        """When it was written to last, as the clock here says it: what lists are ordered by."""
        return _clock(self.written)

    @property
    def place(self) -> str:
        """Its directory on one line, from the home directory on where it is below that."""
        home = os.path.expanduser("~")
        is_below = self.directory == home or self.directory.startswith(home + "/")
        place = "~" + self.directory[len(home) :] if is_below else self.directory
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in place)


def beginning(history: History, prefix: str) -> list[Head]:
    """The heads of all conversations whose id begins with `prefix`, the one written to last first.

    HistoryError where there is none.
    """
    wanted = prefix.strip().upper()
    found = [head for head in history.conversations() if wanted and str(head["id"]).startswith(wanted)]
    if not found:
        raise HistoryError(f"no conversation has an id that begins with {prefix!r}; see `mino history list`")
    return found


def find_conversation(history: History, prefix: str) -> Head:
    """The head of the one conversation whose id begins with `prefix`; HistoryError for none or several."""
    found = beginning(history, prefix)
    if len(found) == 1:
        return found[0]
    ids = ", ".join(str(head["id"]) for head in found[:5]) + (", …" if found[5:] else "")
    raise HistoryError(f"{prefix!r} could mean {len(found)} conversations: {ids}; type more of the id")


def summary(history: History, head: Head) -> Summary:
    """What a list says of the conversation with this head."""
    called = first = written = damaged = ""
    try:
        log = history.open(head["id"], write=False)
        try:
            first = _first_question(log.records())
            written = next((str(record.get("time", "")) for record in log.records(reverse=True)), "")
            called = title(log)
        finally:
            log.close()
    except HistoryError as error:
        damaged = str(error)
    place, began = str(head.get("directory", "")), str(head.get("time", ""))
    damaged = str(head.get("damaged", "")) or damaged  # the shorter one first
    return Summary(head["id"], began, written or began, place, called, first, damaged)


def _clock(time: str) -> str:
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return "?".ljust(16)


def title(log: Log) -> str:
    """The last title of a conversation, empty where it has none."""
    last: Callable[[str], Record | None] | None = getattr(log, "last", None)
    if last is None:
        return last_title(log.records(reverse=True))
    titled = last("titled") or next(iter(log.records()), None)  # a head may have one, too
    return last_title([titled] if titled else [])


def last_title(backwards: Iterable[Record]) -> str:
    """The title that records give their conversation, the last record first."""
    for record in backwards:
        if record["type"] in ("titled", "head") and isinstance(said := record.get("title"), str):
            return said
    return ""


def _first_question(records: Iterable[Record]) -> str:
    for record in records:
        if record["type"] == "said":
            try:
                message = message_from_json(record.get("message"))
            except WrongShape:
                continue
            if message.role == "user" and not is_blank(message.text):
                return message.text
    return ""
