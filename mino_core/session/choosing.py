"""A person chooses one of the kept conversations: by when it was written to, where, and with which words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from mino_core.errors import HistoryError
from mino_core.printing import listed
from mino_core.records.finding import beginning, find_conversation, summary
from mino_core.types import Head

if TYPE_CHECKING:
    from mino_core.session import Session

_PAGE = 9
_NONE, _MORE = "no", "more"


def choose(session: Session, prefix: str = "") -> str | None:
    """The id of the conversation that begins with `prefix`, or that the user chooses; None for no choice.

    HistoryError where there is none to choose, or nobody who could.
    """
    history = session.host.history
    if session.input is None:
        return str(find_conversation(history, prefix)["id"])
    found = beginning(history, prefix) if prefix.strip() else None
    if found and len(found) == 1:
        return str(found[0]["id"])
    heads: Iterator[Head] = (head for head in found or history.conversations() if head["id"] != session.id)
    page = list(islice(heads, _PAGE))
    if not page:
        raise HistoryError("there is no other conversation to go on with")
    while page:
        following = list(islice(heads, _PAGE))
        answer = _ask(session, page, more=bool(following))
        if answer != _MORE:
            return str(page[int(answer) - 1]["id"]) if answer and answer != _NONE else None
        page = following
    return None


def _ask(session: Session, page: list[Head], *, more: bool) -> str | None:
    found = [summary(session.host.history, head) for head in page]
    numbers = [str(n + 1) for n in range(len(found))]
    lines = listed(numbers, found, max(session.screen.columns - 1, 20))
    choices = [*numbers, *([_MORE] if more else []), _NONE]
    return session.question("\n".join(["Which conversation?", *lines]), choices)
