"""A conversation goes on, or a copy of it does: of its records, up to one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import dropwhile

from mino_core.errors import MinoError
from mino_core.records import new_head
from mino_core.types import History, Log, Record

from .journal import Copies, Journal


def to_go_on_with(id: str, here: Journal, history: History, tell: Callable[[str], None]) -> Journal:
    """A kept conversation; a copy of it where it cannot be written. `here` is the one that is open.

    Of what was to be a copy and did not become a whole one, the original goes on. HistoryError where
    it cannot even be read.
    """
    if id == here.id:
        return here
    try:
        log = history.open(id)
    except MinoError as error:  # also what a plugin's backend broke
        copies, last = of_log(history, id)
        head = new_head(parent={"conversation": id, "record": last})
        tell(f"{error}; going on in a copy, {head['id']}")
        return Journal(lambda: history, head, tell, copies=copies)
    if original := cut_short(log):
        tell(f"not all of {original} was copied to {id}")
        with suppress(MinoError):  # that is not there any more: what was copied goes on
            whole = to_go_on_with(original, here, history, tell)
            log.close()
            return whole
    return Journal(lambda: history, {"id": id, "type": "head"}, tell, log=log)


def of_records(records: Sequence[Record]) -> Copies:
    """Copies of records that are at hand, oldest first."""
    kept = [record for record in records if record.get("type") != "head"]
    return lambda backwards: reversed(kept) if backwards else iter(kept)


def of_log(history: History, id: str) -> tuple[Copies, str]:
    """Copies of a kept conversation as it is now, read when they are needed; and its last record's id.

    HistoryError where it cannot be read.
    """
    last = next(_read(history, id, backwards=True), None)
    upto = last.get("id", "") if last else ""

    def copies(backwards: bool) -> Iterable[Record]:
        records = _read(history, id, backwards)
        if backwards:
            records = dropwhile(lambda record: record.get("id", "") != upto, records)
        for record in records:
            if record.get("type") != "head":
                yield record
            if not backwards and record.get("id", "") == upto:
                return

    return copies, upto


def cut_short(log: Log) -> str:
    """Of which conversation this log was to be a copy, where not all of it could be copied; else empty.

    Nothing was added to such a log: a fork begins with its copies.
    """
    try:
        head = next(iter(log.records()), {})
        match head.get("parent"):
            case {"conversation": str(original), "record": str(upto)} if upto:
                return "" if _reaches(log, upto, str(head.get("id"))) else original
            case _:
                return ""
    except Exception:  # noqa: BLE001 (any backend may be a plugin's; who reads on is told)
        return ""


def _reaches(log: Log, upto: str, began: str) -> bool:
    """Whether the last copy is there: what came after it has greater ids than the fork's own."""
    backwards = log.records(reverse=True)
    last = str(next(iter(backwards), {}).get("id"))
    return last > began or last == upto or any(record.get("id") == upto for record in backwards)


def _read(history: History, id: str, backwards: bool) -> Iterator[Record]:
    log = history.open(id, write=False)
    try:
        yield from log.records(reverse=backwards)
    finally:
        log.close()
