"""What is kept of a conversation: one door through which every record goes.

A conversation comes into being with its first `said`; until then nothing is on disk. Where the
backend fails, that is told once and the conversation goes on from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mino_core import interrupts
from mino_core.records import Conversation, message_to_json, record
from mino_core.secret import mask
from mino_core.types import History, Log, Message, Part, Record

#: Keys whose values are mino's own words.
_OURS = frozenset({"id", "time", "type", "role", "outcome"})


class Journal:
    """The records of one conversation, appended to its log and folded as they come.

    `head` is the record a new conversation begins with, `backlog` the copies a fork begins with.
    What could not be written waits for the next try, so that a full disk that was cleared loses
    nothing.
    """

    def __init__(
        self,
        history: Callable[[], History],
        head: Record,
        tell: Callable[[str], None],
        *,
        log: Log | None = None,
        backlog: Iterable[Record] = (),
    ) -> None:
        self.id: str = head["id"]
        self.head = head
        self.conversation = Conversation()
        self._history = history
        self._tell = tell
        self._log = log
        self._begun = log is not None
        self._waiting = [(kept, False) for kept in backlog]
        self._trouble = ""
        self.conversation.add(head)
        for kept in self.records():
            self.conversation.add(kept)
        self.skipped = self.conversation.skipped + int(getattr(log, "skipped", 0))

    @property
    def is_kept(self) -> bool:
        """Whether all of this conversation is in its log."""
        return self._begun and not self._waiting

    def records(self) -> list[Record]:
        """Every record so far, the head first."""
        written = [self.head] if self._log is None else list(self._log.records())
        return written + [kept for kept, _ in self._waiting]

    def said(self, turn: int, message: Message, **fields: Any) -> None:
        """Keep one message, durably; the first one brings the conversation into being."""
        self._begun = True
        self._append("said", turn=turn, message=message_to_json(message), **fields)

    def partial(self, turn: int, parts: tuple[Part, ...]) -> None:
        """Keep a reply's text so far, unsynced; only where that works, since the reply follows."""
        if self.is_kept:
            told = message_to_json(Message("assistant", parts))["parts"]
            self._append("partial", durable=False, turn=turn, parts=told)

    def ended(self, turn: int, **fields: Any) -> None:
        """Close a turn, unsynced: a turn without it counts as interrupted."""
        self._append("ended", durable=False, turn=turn, **fields)

    def note(self, type: str, **fields: Any) -> None:
        """Keep a change of the conversation itself: `cleared`, `undone`, `retried`, `titled`, ..."""
        self._append(type, **fields)

    def close(self) -> None:
        """Let the log go."""
        log, self._log = self._log, None
        if log is not None:
            self._try(log.close)

    def _append(self, type: str, *, durable: bool = True, **fields: Any) -> None:
        with interrupts.sealed():
            kept = _masked(record(type, **fields))
            self.conversation.add(kept)
            self._waiting.append((kept, durable))
            if self._begun:
                self._try(self._write)

    def _write(self) -> None:
        if self._log is None:
            self._log = self._history().open(self.id, head=self.head)
        while self._waiting:
            kept, durable = self._waiting[0]
            self._log.append(kept, durable=durable)
            del self._waiting[0]

    def _try(self, act: Callable[[], object]) -> None:
        """Do something with the log; trouble is told when it begins and when it is over."""
        try:
            act()
        except (Exception, SystemExit) as error:  # noqa: BLE001 (any backend may be a plugin's)
            trouble = str(error) or type(error).__name__
            if trouble != self._trouble:
                self._tell(f"this conversation is not kept: {trouble}")
            self._trouble = trouble
        else:
            if self._trouble:
                self._tell("this conversation is kept again")
            self._trouble = ""


def _masked(value: Any) -> Any:
    """The same record with every known secret in its texts masked."""
    match value:
        case str():
            return mask(value)
        case Mapping():
            return {key: inner if key in _OURS else _masked(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_masked(inner) for inner in value]
    return value
