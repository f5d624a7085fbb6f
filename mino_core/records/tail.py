"""The end of a log that amounts to the same as all of it: a long one is not read from its beginning."""

from __future__ import annotations

from collections.abc import Iterable

from mino_core.types import Record


def standing(backwards: Iterable[Record], limit: int) -> tuple[list[Record], bool]:
    """The last records of a log, oldest first, and whether they amount to the same as the whole log.

    `backwards` gives the log from its end on. They do where a `cleared` is among them, or a
    `compacted` with everything behind its `upto`; and where there are no others. One more record is
    there for the number of the last turn. Two things only the whole log knows: the tokens that were
    spent before, and a title that was given before. At most `limit` records are looked at.
    """
    taken: list[Record] = []
    wanted: set[str] = set()  # the ends of what was compacted
    cuts, clears, counts = False, False, False
    for seen, record in enumerate(backwards):
        if seen == limit:
            return taken[::-1], clears or (cuts and not wanted)
        if clears and not _is_count(record.get("turn")):
            continue  # of what was cleared, only the number of its last turn matters
        taken.append(record)
        counts = counts or _is_count(record.get("turn"))
        if record["type"] == "cleared":
            clears = True
        elif upto := _compacted(record):
            wanted.add(upto)
            cuts = True
        wanted.discard(str(record.get("id")))
        if counts and (clears or (cuts and not wanted)):
            return taken[::-1], True
    return taken[::-1], True


def _compacted(record: Record) -> str:
    """Up to which record this one stands in place of what was said; empty where it does not."""
    upto = record.get("upto")
    stands = record["type"] == "compacted" and isinstance(record.get("summary"), str)
    return upto if stands and isinstance(upto, str) else ""


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0
