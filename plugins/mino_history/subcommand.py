"""`mino history`: find, look at, move and erase conversations, in whatever place they are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core import (
    Conversation,
    HistoryError,
    UsageError,
    find_conversation,
    fold,
    is_blank,
    listed,
    message_to_json,
    sanitise,
    say,
    say_json,
    summary,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from mino_core import Head, History, Host, Record, Turn

#: How many matches in one conversation are shown.
_MATCHES = 3


def main(argv: list[str], host: Host) -> int:
    """Run `mino history ARGV`; returns the exit code."""
    wanted = _parser().parse_args(argv)
    act: Callable[[History, Namespace], None] = wanted.act
    act(host.history, wanted)
    return 0


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser("mino history", description="Find, look at, move and erase kept conversations.")
    acts = parser.add_subparsers(required=True, metavar="list|show|search|export|import|rm")

    def add(name: str, act: Callable[[History, Namespace], None], help: str) -> ArgumentParser:
        made = acts.add_parser(name, help=help)
        made.set_defaults(act=act)
        return made

    every = add("list", _list, "the conversations, the one written to last first")
    one = add("show", _show, "one conversation, as it stands")
    words = add("search", _search, "find words in all conversations, also in what was cleared or undone")
    out = add("export", _export, "one conversation as Markdown or as chat messages in JSON")
    into = add("import", _import, "make a conversation of chat messages in JSON")
    gone = add("rm", _remove, "erase conversations for good")
    every.add_argument("--here", action="store_true", help="only those of this directory")
    words.add_argument("words", metavar="WORDS", nargs="+", help="a text, in any case")
    for single in (one, out):
        single.add_argument("id", metavar="ID", help="its id, or what the id begins with")
    for readable in (every, one, words):
        readable.add_argument("--json", action="store_true", help="as one JSON value")
    out.add_argument("--json", action="store_true", help="as chat messages; without it, as Markdown")
    out.add_argument("--redact", action="store_true", help="mask what looks like a key, leave out files")
    into.add_argument("file", metavar="FILE", help="a JSON file, or - for standard input")
    gone.add_argument("ids", metavar="ID", nargs="+", help="an id, or what an id begins with")
    return parser


def _list(history: History, wanted: Namespace) -> None:
    heads = history.conversations()
    try:
        here = os.getcwd() if wanted.here else ""
    except OSError as error:
        raise HistoryError(f"the directory we are in is gone ({error.strerror})") from error
    found = [summary(history, head) for head in heads if not here or head.get("directory") == here]
    if wanted.json:
        say_json([each._asdict() for each in found])
        return
    for row in listed([each.id for each in found], found, _columns()):
        _write(f"{row}\n")


def _show(history: History, wanted: Namespace) -> None:
    from .markdown import shown

    head = find_conversation(history, wanted.id)
    read = _read(history, head)
    conversation = read.conversation
    if wanted.json:
        told = summary(history, head)._asdict() | {"damaged": read.damaged or head.get("damaged", "")}
        say_json(told | {"skipped": read.skipped, "turns": [_as_json(turn) for turn in conversation.turns]})
        return
    if conversation.title:
        _write(f"# {conversation.title}\n\n")
    _write(shown(conversation))
    if read.damaged:
        raise HistoryError(f"the rest of conversation {head['id']} cannot be read: {read.damaged}")
    if read.skipped:
        say(f"damaged records left out: {read.skipped}", aside=True)


def _search(history: History, wanted: Namespace) -> None:
    from itertools import islice

    from .search import search

    text = " ".join(wanted.words)
    if is_blank(text):
        raise UsageError("say what to search for")
    all_found: list[dict[str, Any]] = []
    is_found = False
    for found in search(history, text):
        if found.damaged:
            say(f"cannot be searched: {found.damaged}", aside=True)
            continue
        is_found = True
        about = summary(history, found.head)
        if wanted.json:
            all_found.append(about._asdict() | {"matches": [match._asdict() for match in found.matches]})
            continue
        _write(f"{listed([about.id], [about], _columns())[0]}\n")
        for match in islice(found.matches, _MATCHES):
            _write(f"    {match.who}: {match.excerpt}\n")
        if next(found.matches, None):
            _write("    …\n")
    if wanted.json:
        say_json(all_found)
    elif not is_found:
        say(f"nothing was found for {text!r}", aside=True)


def _export(history: History, wanted: Namespace) -> None:
    from .export import as_chat, as_markdown

    head = find_conversation(history, wanted.id)
    read = _read(history, head)
    if read.damaged:
        raise HistoryError(read.damaged)
    if wanted.json:
        say_json(as_chat(head, read.conversation, redacts=wanted.redact))
    else:
        _write(as_markdown(summary(history, head), read.conversation, redacts=wanted.redact))


def _import(history: History, wanted: Namespace) -> None:
    from .export import from_chat

    made = from_chat(history, wanted.file)
    for what in made.left_out:
        say(f"left out: {what}", aside=True)
    said = f"{made.turns} {'turn' if made.turns == 1 else 'turns'}"
    say(f"{said}; `mino --resume ID` goes on with it", aside=True)
    _write(f"{made.id}\n")


def _remove(history: History, wanted: Namespace) -> None:
    for head in [find_conversation(history, prefix) for prefix in wanted.ids]:
        history.remove(head["id"])
        say(f"erased {head['id']}", aside=True)


# -- what is known of one ----------------------------------------------------------------------


class _Read(NamedTuple):
    conversation: Conversation
    skipped: int
    damaged: str  # why the reading ended early, or empty


def _read(history: History, head: Head) -> _Read:
    records: list[Record] = []
    damaged, missed = "", 0
    try:
        log = history.open(head["id"], write=False)
        records.extend(log.records())
        missed = getattr(log, "skipped", 0)
        log.close()
    except HistoryError as error:
        damaged = str(error)
    conversation = fold(records)
    return _Read(conversation, missed + conversation.skipped, damaged)


def _as_json(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.n,
        "outcome": turn.outcome,
        "error": turn.error,
        "provider": turn.provider,
        "model": turn.model,
        "messages": [message_to_json(message) for message in turn.messages],
        "partial": message_to_json(turn.partial) if turn.partial else None,
    }


def _write(text: str) -> None:
    """Text from outside: harmless on a terminal, verbatim into a pipe as far as its encoding goes."""
    if sys.stdout.isatty():
        text = sanitise(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _columns() -> int:
    """How many columns a row may take; 0 where no terminal limits that."""
    from shutil import get_terminal_size

    return get_terminal_size().columns - 1 if sys.stdout.isatty() else 0
