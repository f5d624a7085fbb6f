"""Conversations on their way out, as Markdown or chat messages, and in again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core import (
    HistoryError,
    Message,
    Summary,
    Text,
    is_blank,
    mask,
    message_to_json,
    new_head,
    record,
)

from .chat_json import Chat, to_chat
from .markdown import markdown
from .redact import redact, redacted

if TYPE_CHECKING:
    from mino_core import Conversation, Head, History, Record


class Imported(NamedTuple):
    """A conversation that was made: its id, how many turns it has, and what mino has no form for."""

    id: str
    turns: int
    left_out: Iterable[str]


def as_chat(head: Head, conversation: Conversation, *, redacts: bool) -> Mapping[str, Any]:
    """What stands, as one JSON value with `messages`."""
    change, title = (redacted, redact(conversation.title)) if redacts else (_same, conversation.title)
    messages = []
    if conversation.summary:
        (before,) = to_chat([change(Message("user", (Text(conversation.summary),)))])
        messages.append(before | {"summary": True})
    for turn in conversation.turns:
        messages += to_chat([change(message) for message in turn.said], turn.outcome)
    return {
        "id": head["id"],
        "time": head.get("time", ""),
        "directory": head.get("directory", ""),
        "title": title,
        "messages": messages,
    }


def as_markdown(about: Summary, conversation: Conversation, *, redacts: bool) -> str:
    """What stands, as a document."""
    lines = [f"{about.began}, {about.place}", about.id]
    text = markdown(about.title or about.first, lines, conversation, redacted if redacts else _same)
    return redact(text) if redacts else text


def _same(message: Message) -> Message:
    return message


def from_chat(history: History, file: str) -> Imported:
    """Keep the chat messages of a JSON file, or of standard input for `-`, as a new conversation here.

    HistoryError where it cannot be read, is nothing of the kind, or cannot be kept whole.
    """
    document = _json(file)
    try:
        chat = Chat(document)
    except HistoryError as error:
        raise HistoryError(f"{file}: {error}") from error
    turns = len(list(chat.turns()))
    if not turns and not chat.summary:
        raise HistoryError(f"{file}: there is no message in it to keep")
    head = new_head()
    records = list(_records(chat, head["id"]))
    try:
        log = history.open(head["id"], head)
        try:
            for each in records:
                log.append(each, durable=each is records[-1])
        finally:
            log.close()
    except BaseException:  # half a conversation would look like a whole one
        with suppress(HistoryError):
            history.remove(head["id"])
        raise
    return Imported(head["id"], turns, chat.left_out)


def _records(chat: Chat, head: str) -> Iterator[Record]:
    if not is_blank(chat.title):
        yield record("titled", title=chat.title)
    if chat.summary:
        yield record("compacted", summary=chat.summary, upto=head)
    for n, (messages, outcome) in enumerate(chat.turns(), 1):
        for message in messages:
            ended = {"outcome": outcome if message is messages[-1] else "completed"}
            more = ended if message.role == "assistant" else {}
            yield record("said", turn=n, message=message_to_json(message), **more)
        yield record("ended", turn=n, outcome=outcome)


def _json(file: str) -> object:
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(mask(text.decode("utf-8-sig")))  # no known secret enters a record
    except OSError as error:
        raise HistoryError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{file} is no JSON in UTF-8: {error}") from error
