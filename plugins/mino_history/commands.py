"""The slash commands about conversations: where this one stands, its title, copies, summaries, others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from mino_core import HistoryError, Message, Text, UsageError, is_blank, listed, summary

if TYPE_CHECKING:
    from mino_core import Command, Session

#: How many conversations `/history` lists, and how many turns `/compact` leaves as they are.
_LISTED, _KEPT = 10, 2
_THIS = " (this one)"
_SUMMARISE = (
    "Summarise our conversation so far, so that it can go on from your summary alone. Keep what I asked "
    "for and decided, facts, names, numbers, code and open questions; leave out what no longer matters. "
    "Write only the summary, in the language of the conversation."
)
_BEFORE = "Summary of the conversation so far:\n\n"


def history(session: Session, text: str) -> None:
    """List the conversations written to last, or those that hold some words: /history [WORDS]."""
    if is_blank(text):
        heads = islice(session.host.history.conversations(), _LISTED)
        found = [(summary(session.host.history, head), "") for head in heads]
    else:
        from .search import search

        hits = islice((hit for hit in search(session.host.history, text.strip()) if not hit.damaged), _LISTED)
        found = [(summary(session.host.history, hit.head), next(hit.matches).excerpt) for hit in hits]
    screen = session.screen
    room = screen.columns - len(_THIS) - 1 if screen.is_terminal else 0
    rows = listed([of.id for of, _ in found], [of for of, _ in found], room)
    lines = []
    for row, (of, excerpt) in zip(rows, found, strict=True):
        lines.append(row + (_THIS if of.id == session.id else ""))
        lines += [f"    {excerpt}"] if excerpt else []
    session.notify("\n".join([*lines, "/resume ID goes on with one."]) if lines else "There is none.")


def resume(session: Session, text: str) -> None:
    """Go on with another conversation: /resume [ID]; without one you choose."""
    chosen = session.choose(text)
    if chosen is None or chosen == session.id:
        session.notify("This conversation goes on.")
        return
    session.resume(chosen)
    session.notify(f"Going on with {session.id}, {session.turn} turns so far.")


def title(session: Session, text: str) -> None:
    """Say what this conversation is called, or call it something: /title [TITLE]."""
    name = " ".join(text.split())
    if name:
        session.rename(name)
        session.notify(f"This conversation is called {name!r}.")
    elif session.title:
        session.notify(f"This conversation is called {session.title!r}.")
    else:
        session.notify("This conversation has no title; /title TITLE gives it one.")


def fork(session: Session, text: str) -> None:
    """Go on in a copy of this conversation, and leave this one as it is."""
    if text.strip():
        raise UsageError("usage: /fork")
    if not session.turn:
        raise UsageError("there is nothing to copy yet")
    former = session.id
    session.fork()
    session.notify(f"From here on this is {session.id}; {former} stays as it is.")


def compact(session: Session, text: str) -> None:
    """Let the model sum up what was said, and send the summary in its place: /compact [WHAT MATTERS]."""
    turns = session.conversation.turns
    old = len(turns) - _KEPT
    if old < 1:
        raise UsageError(f"there is nothing to sum up yet: the last {_KEPT} turns are left as they are")
    from .budget import at_once, fitting

    wish = f" {text.strip()}" if text.strip() else ""
    ask = Message("user", (Text(_SUMMARISE + wish),))
    session.notify(f"Summing up {old} {'turn' if old == 1 else 'turns'}.")
    told = ""
    while old > 0:  # what is over the budget, in several pieces: each summary sums up the one before
        conversation = session.conversation
        sent = conversation.messages()
        before = sent[: 1 if conversation.summary else 0]
        n = at_once(conversation.turns[:old], (*before, ask), session.config.budget)
        end = len(before) + sum(len(turn.said) for turn in conversation.turns[:n])
        with fitting():
            told, usage = session.consult([*sent[:end], ask])
        if is_blank(told):
            raise HistoryError("the model wrote no summary; what it was asked to sum up stays as it is")
        old -= n
        session.compact(_BEFORE + told.strip(), keep=old + _KEPT, usage=usage)
    session.notify(f"This stands in place of what was said before:\n{told.strip()}")


COMMANDS: Mapping[str, Command] = {
    "history": history,
    "resume": resume,
    "title": title,
    "fork": fork,
    "compact": compact,
}
