"""What is kept of a conversation: one door through which every record goes.

A conversation comes into being with its first `said`; until then nothing is on disk. Where the
backend fails, that is told once and the conversation goes on from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import interrupts
from .records import Conversation, message_to_json, record
from .secret import mask
from .types import History, Log, Message, Part, Record


class Journal:
    """The records of one conversation, appended to its log and folded as they come.

    `head` is the record a new conversation begins with, `backlog` the copies a fork begins with.
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
        self.conversation.add(head)
        #: Why nothing is kept any more, or empty.
        self.trouble = ""
        self._history = history
        self._tell = tell
        self._log = log
        self._backlog = list(backlog)
        for kept in self._backlog if log is None else log.records():
            self.conversation.add(kept)

    @property
    def is_kept(self) -> bool:
        """Whether a log stands behind this conversation."""
        return self._log is not None and not self.trouble

    def said(self, turn: int, message: Message, **fields: Any) -> None:
        """Keep one message, durably; the first one brings the conversation into being."""
        self._begin()
        self._append("said", turn=turn, message=message_to_json(message), **fields)

    def partial(self, turn: int, parts: tuple[Part, ...]) -> None:
        """Keep a reply's text so far, unsynced."""
        told = message_to_json(Message("assistant", parts))["parts"]
        self._append("partial", durable=False, turn=turn, parts=told)

    def ended(self, turn: int, **fields: Any) -> None:
        """Close a turn, unsynced: a turn without it counts as interrupted."""
        self._append("ended", durable=False, turn=turn, **fields)

    def note(self, type: str, **fields: Any) -> None:
        """Keep a change of the conversation itself: `cleared`, `undone`, `retried`, `titled`, ..."""
        self._append(type, **fields)

    def records(self) -> list[Record]:
        """Every record so far, the head first."""
        return [self.head, *self._backlog] if self._log is None else list(self._log.records())

    def close(self) -> None:
        """Let the log go."""
        log, self._log = self._log, None
        if log is not None:
            self._try(log.close)

    def _begin(self) -> None:
        if self._log is not None or self.trouble:
            return
        with interrupts.sealed():
            self._try(self._open)

    def _open(self) -> None:
        self._log = self._history().open(self.id, head=self.head)
        for kept in self._backlog:
            self._log.append(kept, durable=False)
        self._backlog.clear()

    def _append(self, type: str, *, durable: bool = True, **fields: Any) -> None:
        with interrupts.sealed():
            kept = _masked(record(type, **fields))
            self.conversation.add(kept)
            if self._log is not None and not self.trouble:
                log = self._log
                self._try(lambda: log.append(kept, durable=durable))
            elif self._log is None and not self.trouble:
                self._backlog.append(kept)

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except (Exception, SystemExit) as error:  # noqa: BLE001 (any backend may be a plugin's)
            self.trouble = str(error) or type(error).__name__
            self._tell(f"from here on this conversation is not kept: {self.trouble}")


def _masked(value: Any) -> Any:
    """The same record with every known secret in its texts masked."""
    match value:
        case str():
            return mask(value)
        case Mapping():
            return {key: _masked(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_masked(inner) for inner in value]
    return value
