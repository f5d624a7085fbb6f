"""`mino history`: look at kept conversations and erase them, in whatever place they are kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mino_core import Conversation, File, HistoryError, Image, Sanitiser, ToolCall, ToolResult, fold

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from mino_core import Head, History, Host, Message, Record

_WIDEST = 60
_SPLIT = re.compile("(?<=[a-z])(?=[A-Z])")


def main(argv: list[str], host: Host) -> int:
    """Run `mino history ARGV`; returns the exit code."""
    try:
        wanted = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has said what is wrong, or has shown its help
        return int(end.code or 0)
    act: Callable[[History, Namespace], None] = wanted.act
    try:
        act(host.history, wanted)
    except HistoryError as error:
        sys.stderr.write(f"Error: {error}\n")
        return error.exit_code
    except BrokenPipeError:  # who reads has seen enough: as if SIGPIPE had ended us
        return 141
    return 0


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser("mino history", description="Look at kept conversations and erase them.")
    acts = parser.add_subparsers(required=True, metavar="list|show|rm")
    every = acts.add_parser("list", help="the conversations, the one written to last first")
    every.set_defaults(act=_list)
    one = acts.add_parser("show", help="one conversation, as it stands")
    one.add_argument("id", metavar="ID", help="its id, or what the id begins with")
    one.set_defaults(act=_show)
    for readonly in (every, one):
        readonly.add_argument("--json", action="store_true", help="as one JSON value")
    gone = acts.add_parser("rm", help="erase conversations for good")
    gone.add_argument("ids", metavar="ID", nargs="+", help="an id, or what an id begins with")
    gone.set_defaults(act=_remove)
    return parser


def _list(history: History, wanted: Namespace) -> None:
    if wanted.json:
        _write_json([_summary(head, _read(history, head)) for head in history.conversations()])
        return
    for head in history.conversations():
        summary = _summary(head, _read(history, head))
        name = " ".join((summary["title"] or summary["first"]).split())
        if len(name) > _WIDEST:
            name = name[: _WIDEST - 1] + "…"
        if summary["damaged"]:
            name = f"({summary['damaged']}) {name}"
        _write(f"{summary['id']}  {_local(summary['time'])}  {_short(summary['directory'])}  {name}\n")


def _show(history: History, wanted: Namespace) -> None:
    head = _find(history, wanted.id)
    read = _read(history, head)
    if wanted.json:
        _write_json(_summary(head, read) | {"skipped": read.skipped, "turns": _turns(read)})
        return
    if title := read.conversation.title:
        _write(f"# {title}\n\n")
    for turn in read.conversation.turns:
        partial = (turn.partial,) if turn.partial else ()
        for message in (*turn.messages, *partial):
            for text in _texts(message):
                _write(text.rstrip("\n") + "\n")
        if turn.outcome != "completed":
            why = f": {turn.error.get('message')}" if turn.error else ""
            _write(f"({turn.outcome}{why})\n")
        _write("\n")
    if read.damaged:
        raise HistoryError(f"the rest of conversation {head['id']} cannot be read: {read.damaged}")
    if read.skipped:
        sys.stderr.write(f"damaged records left out: {read.skipped}\n")


def _remove(history: History, wanted: Namespace) -> None:
    for head in [_find(history, prefix) for prefix in wanted.ids]:
        history.remove(head["id"])
        sys.stderr.write(f"erased {head['id']}\n")


def _find(history: History, prefix: str) -> Head:
    wanted = prefix.strip().upper()
    found = [head for head in history.conversations() if wanted and head["id"].startswith(wanted)]
    if not found:
        raise HistoryError(f"no conversation has an id that begins with {prefix!r}; see `mino history list`")
    if len(found) > 1:
        raise HistoryError(
            f"{len(found)} conversations have an id that begins with {prefix!r}; type more of it"
        )
    return found[0]


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


def _summary(head: Head, read: _Read) -> dict[str, Any]:
    questions = [turn.question for turn in read.conversation.turns]
    return {
        "id": head["id"],
        "time": head.get("time", ""),
        "directory": head.get("directory", ""),
        "title": read.conversation.title,
        "first": questions[0] if questions else "",
        "damaged": read.damaged or head.get("damaged", ""),
    }


def _turns(read: _Read) -> list[dict[str, Any]]:
    return [
        {
            "turn": turn.n,
            "outcome": turn.outcome,
            "error": turn.error,
            "provider": turn.provider,
            "model": turn.model,
            "messages": [_as_json(message) for message in turn.messages],
            "partial": _as_json(turn.partial) if turn.partial else None,
        }
        for turn in read.conversation.turns
    ]


def _as_json(message: Message) -> dict[str, Any]:
    from dataclasses import asdict

    parts = [{"type": _SPLIT.sub("_", type(part).__name__).lower(), **asdict(part)} for part in message.parts]
    return {"role": message.role, "parts": parts}


# -- in words ----------------------------------------------------------------------------------


def _texts(message: Message) -> Iterator[str]:
    if message.text:
        yield f"{'You' if message.role == 'user' else 'Assistant'}> {message.text}"
    for part in message.parts:
        match part:
            case ToolCall(name=name, arguments=arguments):
                yield f"[{name} {arguments}]"
            case ToolResult(content=content):
                yield content
            case Image() | File():
                yield f"[{part.name or part.media_type}]"


def _local(time: object) -> str:
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(str(time)).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return "?".ljust(16)


def _short(directory: object) -> str:
    home, path = str(Path.home()), str(directory)
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def _write_json(value: object) -> None:
    import json

    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _write(text: str) -> None:
    """Text from outside: harmless on a terminal, verbatim into a pipe as far as its encoding goes."""
    if sys.stdout.isatty():
        sanitiser = Sanitiser()
        text = sanitiser.feed(text) + sanitiser.end()
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
