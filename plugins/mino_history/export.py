"""Conversations on their way out, as Markdown or chat messages, and in again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core import (
    HistoryError,
    Message,
    Summary,
    ToolCall,
    __version__,
    is_blank,
    mask,
    message_to_json,
    new_id,
    record,
)

from .chat_json import Chat, to_chat
from .markdown import markdown
from .redact import redact, redacted

if TYPE_CHECKING:
    from mino_core import Conversation, Head, History


class Imported(NamedTuple):
    """A conversation that was made: its id, how many turns it has, and what mino has no form for."""

    id: str
    turns: int
    left_out: Iterable[str]


def as_chat(head: Head, conversation: Conversation, *, redacts: bool) -> Mapping[str, Any]:
    """What stands, as one JSON value with `messages`."""
    messages = conversation.messages()
    title = conversation.title
    if redacts:
        messages, title = tuple(map(redacted, messages)), redact(title)
    return {
        "id": head["id"],
        "time": head.get("time", ""),
        "directory": head.get("directory", ""),
        "title": title,
        "messages": to_chat(messages),
    }


def as_markdown(about: Summary, conversation: Conversation, *, redacts: bool) -> str:
    """What stands, as a document."""
    lines = [f"{about.began}, {about.place}", about.id]
    text = markdown(
        about.title or about.first, lines, conversation, redacted if redacts else lambda said: said
    )
    return redact(text) if redacts else text


def from_chat(history: History, file: str) -> Imported:
    """Keep the chat messages of a JSON file, or of standard input for `-`, as a new conversation here.

    HistoryError where it cannot be read, or is nothing of the kind.
    """
    document = _json(file)
    try:
        chat = Chat(document)
    except HistoryError as error:
        raise HistoryError(f"{file}: {error}") from error
    turns = list(chat.turns())
    if not turns:
        raise HistoryError(f"{file}: there is no message in it to keep")
    head = record("head", format=1, mino=__version__, directory=os.getcwd()) | {"id": new_id()}
    log = history.open(head["id"], head)
    try:
        if not is_blank(chat.title):
            log.append(record("titled", title=chat.title), durable=False)
        for n, messages in enumerate(turns, 1):
            for message in messages:
                log.append(_said(n, message), durable=False)
            log.append(record("ended", turn=n, outcome=_outcome(messages)), durable=n == len(turns))
    finally:
        log.close()
    return Imported(head["id"], len(turns), chat.left_out)


def _json(file: str) -> object:
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(mask(text.decode("utf-8-sig")))  # no known secret enters a record
    except OSError as error:
        raise HistoryError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{file} is no JSON in UTF-8: {error}") from error


def _said(n: int, message: Message) -> Mapping[str, Any]:
    outcome = {"outcome": "completed"} if message.role == "assistant" else {}
    return record("said", turn=n, message=message_to_json(message), **outcome)


def _outcome(messages: list[Message]) -> str:
    last = messages[-1]
    waits = last.role != "assistant" or any(isinstance(part, ToolCall) for part in last.parts)
    return "interrupted" if waits else "completed"
