"""The slash commands: each takes the session and the raw rest of the line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

from mino_core import UsageError, did_you_mean, table

if TYPE_CHECKING:
    from mino_core import Command, Session, Usage

_PARTS = (
    ("input", "input_tokens"),
    ("cached", "cache_read_tokens"),
    ("cache written", "cache_write_tokens"),
    ("output", "output_tokens"),
    ("reasoning", "reasoning_tokens"),
    ("total", "total_tokens"),
)


def _alone(act: Callable[[Session], str | None]) -> Command:
    """A command that takes no arguments: UsageError where it is given some."""

    @wraps(act)
    def command(session: Session, text: str) -> str | None:
        if text.strip():
            raise UsageError(f"usage: /{act.__name__.strip('_')}")
        return act(session)

    return command


def _completed_by(complete: Callable[[Session, str], Iterable[str]]) -> Callable[[Command], Command]:
    """A command that knows what its argument may be."""

    def mark(command: Command) -> Command:
        vars(command)["complete"] = complete
        return command

    return mark


def _number(name: str, text: str) -> int:
    """The count that a command was given, 1 where it was given none; UsageError for anything else."""
    text = text.strip() or "1"
    if not text.isdecimal() or not int(text):
        raise UsageError(f"usage: /{name} [N], where N is a number from 1 up")
    return int(text)


@_alone
def clear(session: Session) -> None:
    """Forget the conversation: nothing said so far is sent again."""
    session.clear()
    session.notify("Forgotten. Nothing that was said so far is sent again.")


@_alone
def exit_(session: Session) -> None:
    """Leave."""
    session.leave()


def _complete_help(session: Session, text: str) -> Iterable[str]:
    return [name for name in sorted(session.commands()) if name.startswith(text)]


@_completed_by(_complete_help)
def help_(session: Session, text: str) -> None:
    """List the commands, or explain one: /help NAME."""
    commands = session.commands()
    name = text.strip().removeprefix("/")
    if not name:
        session.notify(
            "\n".join(_listed(commands))
            + "\n\nAnything else is sent; @path in it attaches that file. !command runs in your shell. // and"
            " !! at the start of a line send what looks like a command."
        )
    elif name in commands:
        explained = (commands[name].value.__doc__ or "There is no help for it.").strip()
        session.notify(f"/{name} ({commands[name].plugin}): {explained}")
    else:
        meant = did_you_mean(f"/{name}", [f"/{known}" for known in commands])
        session.notify(f"there is no command /{name[:40]}{meant or '; /help lists them'}", "error")


def _listed(commands: Mapping[str, Any]) -> Iterable[str]:
    """The commands with what they do, below the plugin that each comes from."""
    width = max(map(len, commands), default=0) + 1
    for plugin in sorted({offer.plugin for offer in commands.values()}):
        yield f"{plugin}:"
        for name, offer in sorted(commands.items()):
            if offer.plugin == plugin:
                yield table([(f"/{name}".ljust(width), _summary(offer.value))])


def _summary(command: object) -> str:
    return (command.__doc__ or "").strip().partition("\n")[0]


def _complete_model(session: Session, text: str) -> Iterable[str]:
    """The models that the configuration names for this provider; asking the server would take time."""
    config = session.config
    named = {session.model}
    if session.provider in config.providers:
        named.add(str(config.providers[session.provider].get("model", "")))
    if session.provider in config.presets:
        named.add(config.presets[session.provider].model or "")
    return sorted(name for name in named if name and name.startswith(text))


@_completed_by(_complete_model)
def model(session: Session, text: str) -> None:
    """Say which model answers, or let another one: /model NAME."""
    name = text.strip()
    if not name:
        session.notify(
            f"{session.model} of {session.provider} answers. Another: /model NAME; "
            f"`mino models {session.provider}` lists them."
        )
        return
    session.use(model=name)
    session.notify(f"From here on {session.model} answers.")


def _ready(session: Session) -> list[str]:
    """The providers that could answer: those of the file, those whose key is there, and the local one."""
    config = session.config
    keyed = [name for name, preset in config.presets.items() if preset.key(config.environ)]
    return sorted({session.provider, "local", *config.providers, *keyed})


def _complete_provider(session: Session, text: str) -> Iterable[str]:
    return [name for name in _ready(session) if name.startswith(text)]


@_completed_by(_complete_provider)
def provider(session: Session, text: str) -> None:
    """Say which provider answers, or let another one: /provider NAME [MODEL]."""
    words = text.split()
    if len(words) > 2:
        raise UsageError("usage: /provider [NAME [MODEL]]")
    if words:
        session.use(*words)
        session.notify(f"From here on {session.model} of {session.provider} answers.")
    else:
        ready = ", ".join(_ready(session))
        session.notify(
            f"{session.model} of {session.provider} answers. Another: /provider NAME [MODEL]; ready: {ready}."
        )


@_alone
def retry(session: Session) -> None:
    """Ask the last question again; the new answer takes the place of the old one."""
    session.retry()


@_alone
def continue_(session: Session) -> None:
    """Ask for more of the last answer."""
    session.proceed()


def undo(session: Session, text: str) -> None:
    """Drop the last turn, or the last N: /undo [N]."""
    dropped = session.undo(_number("undo", text))
    if not dropped:
        session.notify("There is no turn to drop.")
    elif dropped == 1:
        session.notify("The last turn was dropped.")
    else:
        session.notify(f"The last {dropped} turns were dropped.")


@_alone
def usage(session: Session) -> None:
    """Show the tokens of the last turn and of the whole conversation."""
    last = session.last.usage if session.last else None
    rows = [("", "last turn", "conversation")]
    rows += [(label, _count(last, field), _count(session.usage, field)) for label, field in _PARTS]
    session.notify(table(rows))


def _count(usage: Usage | None, field: str) -> str:
    """How many tokens; a number that was not reported is not 0."""
    count = getattr(usage, field, None)
    return "n/a" if count is None else str(count)


@_alone
def status(session: Session) -> None:
    """Show what answers, which conversation this is, and where it is kept."""
    config = session.config
    turns = len(session.conversation.turns)
    backend = config.history.name
    session.notify(
        table(
            [
                ("provider", session.provider),
                ("model", session.model),
                ("conversation", session.id),
                ("turns", str(turns)),
                (
                    "sent",
                    {"all": "all turns", "completed": "completed turns"}.get(config.send, "no earlier turns"),
                ),
                ("kept", "in memory only" if backend == "memory" else f"{backend} ({config.home})"),
                ("tokens", _count(session.usage, "total_tokens")),
            ]
        )
    )


def copy(session: Session, text: str) -> None:
    """Copy the last answer to the clipboard, or the one N answers back: /copy [N]."""
    from .clipboard import put

    n = _number("copy", text)
    turns = session.conversation.turns
    answers = [turn.answer for turn in turns if turn.answer]
    if n > len(answers):
        raise UsageError(f"there is no {'such ' if answers else ''}answer to copy")
    answer = answers[-n]
    how = put(session.screen, answer, session.config.environ)
    session.notify(f"Copied {len(answer)} characters {how}.")


def show(session: Session, text: str) -> None:
    """Show an answer, or a tool's call and result, whole and as it came: /show [N]."""
    from .showing import listed, pieces

    found = pieces(session)
    if not found:
        raise UsageError("there is nothing to show yet")
    if not text.strip():
        session.notify(listed(session) + "\n\n/show N shows one of them whole.", verbatim=True)
    elif (n := _number("show", text)) > len(found):
        raise UsageError(f"there are {len(found)} of them; /show lists the last ones")
    else:
        session.notify(found[-n].text, verbatim=True)


COMMANDS: Mapping[str, Command] = {
    "clear": clear,
    "exit": exit_,
    "help": help_,
    "model": model,
    "provider": provider,
    "retry": retry,
    "continue": continue_,
    "undo": undo,
    "usage": usage,
    "status": status,
    "copy": copy,
    "show": show,
}
