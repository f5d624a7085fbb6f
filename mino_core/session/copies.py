"""What a fork begins with: copies of another conversation's records, up to one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from mino_core.types import History, Record

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


def _read(history: History, id: str, backwards: bool) -> Iterator[Record]:
    log = history.open(id, write=False)
    try:
        yield from log.records(reverse=backwards)
    finally:
        log.close()
