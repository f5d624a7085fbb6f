"""What a fork begins with: copies of another conversation's records, up to one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from mino_core.types import History, Log, Record

from .journal import Copies


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
