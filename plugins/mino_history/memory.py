"""Conversations that last as long as mino does."""

from __future__ import annotations

from collections.abc import Iterator

from mino_core import Busy, Head, HistoryError, Log, Record

from .rules import check_format, check_id, unknown


class Memory:
    """A history in a dict, in which the conversation written to last is the last one."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Record]] = {}
        self._writers: set[str] = set()

    def conversations(self) -> Iterator[Head]:
        """The heads, the conversation written to last first."""
        return iter([records[0] for records in reversed(self._kept.values())])

    def open(self, id: str, head: Head | None = None, write: bool = True) -> Log:
        """A log; HistoryError where there is none, Busy where it is open for writing already."""
        check_id(id)
        if head is None and id not in self._kept:
            raise unknown(id)
        if not write:
            return _MemoryLog(self._kept, id)
        if id in self._writers:
            raise Busy("this mino")
        if id in self._kept:
            if head is not None:
                raise HistoryError(f"conversation {id} exists already")
            check_format(self._kept[id][0])
        self._writers.add(id)
        return _MemoryLog(self._kept, id, head, self._writers)

    def remove(self, id: str) -> None:
        """Forget one conversation; HistoryError where there is none, Busy where it is being written."""
        check_id(id)
        if id not in self._kept:
            raise unknown(id)
        if id in self._writers:
            raise Busy("this mino")
        del self._kept[id]


class _MemoryLog:
    def __init__(
        self,
        kept: dict[str, list[Record]],
        id: str,
        head: Head | None = None,
        writers: set[str] | None = None,
    ) -> None:
        self.skipped = 0
        self._kept = kept
        self._id = id
        self._head = head
        self._writers = writers

    def append(self, record: Record, durable: bool = True) -> None:
        if self._writers is None:
            raise HistoryError(f"conversation {self._id} is open for reading only")
        records = self._kept.pop(self._id, [])
        if self._head is not None:
            records.append(self._head)
            self._head = None
        records.append(record)
        self._kept[self._id] = records  # at the end: it is the last one now

    def records(self, reverse: bool = False) -> Iterator[Record]:
        records = list(self._kept.get(self._id, ()))
        return reversed(records) if reverse else iter(records)

    def close(self) -> None:
        if self._writers is not None:
            self._writers.discard(self._id)
            self._writers = None
