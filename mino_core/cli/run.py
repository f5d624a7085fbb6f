"""One run of mino: make what the configuration names, do what was asked, leave in order."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence

from mino_core import interrupts, outlets
from mino_core.config.loading import load
from mino_core.errors import ConfigError, MinoError, UsageError, did_you_mean
from mino_core.plugins import Host
from mino_core.printing import wrapped
from mino_core.records.messages import is_blank
from mino_core.screen import Screen, ScreenGone, sanitise
from mino_core.secret import mask
from mino_core.shell import CANCELLED, EXIT_CODES, Shell
from mino_core.types import Part, SessionEnded

from . import arguments, opening, project
from .arguments import Asked

BROKEN_PIPE = 141


def run(argv: Sequence[str]) -> int:
    """Do what the arguments ask for; the exit code. Every way out of mino passes here."""
    terminated = 0
    code = 1
    with interrupts.installed():
        try:
            code = _do(argv)
        except MinoError as error:
            _tell(f"Error: {error}")
            code = error.exit_code
        except interrupts.Terminated as error:
            terminated = error.signum
        except KeyboardInterrupt:
            code = CANCELLED
        except ScreenGone as gone:
            code = BROKEN_PIPE
            if gone.reason:
                _tell(f"Error: cannot write to standard output: {gone.reason}")
                code = EXIT_CODES["failed"]
        except Exception as error:  # noqa: BLE001 (a bug in mino; the one place that says so)
            _tell_bug(error, debug="--debug" in argv)
    if terminated:
        signal.signal(terminated, signal.SIG_DFL)
        os.kill(os.getpid(), terminated)
    return code


def _tell(text: str) -> None:
    text = sanitise(mask(text))
    outlets.to_standard_error((wrapped(text) if os.isatty(2) else text) + "\n")


def _tell_bug(error: Exception, *, debug: bool) -> None:
    import traceback

    if debug:
        _tell("".join(traceback.format_exception(error)))
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    _tell(f"Error: a bug in mino: {type(error).__name__}: {error} ({place}); --debug shows more")


def _do(argv: Sequence[str]) -> int:
    asked = arguments.parse(argv)
    if asked.version:
        from mino_core import __version__

        return _print(f"mino {__version__}\n")
    if asked.help and not asked.subcommand:
        return _print(asked.help + _subcommands(asked))
    host = _host(asked, strict=asked.subcommand is None)
    gc.freeze()  # what is there by now stays to the end: no collection has to look through it
    gc.enable()
    try:
        if asked.subcommand is not None:
            return _subcommand(host, asked.subcommand, [*asked.rest, *(["--help"] if asked.help else [])])
        with outlets.guarded():
            screen = Screen()
            try:
                return _talk(host, screen, asked)
            finally:
                screen.close()
    finally:
        host.remember_faults()


def _print(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise _gone(error) from error
    return 0


def _gone(error: OSError) -> ScreenGone:
    """Give standard output to nobody, so that the interpreter does not fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return ScreenGone(error)


def _host(asked: Asked, *, strict: bool) -> Host:
    """The plugins, loaded. ConfigError for everything wrong in the configuration at once.

    `strict` also wants every name in it to be one that a plugin offers, as a chat needs. A subcommand
    that is marked as one that `mends` is run in any case, and looks at what is wrong itself.
    """
    environ = {**os.environ, "MINO_DEBUG": "1"} if asked.flags.debug else os.environ
    wrong: list[str] = []
    with interrupts.armed():  # a file may be a pipe that nobody writes to
        config = load(environ, asked.flags, wrong)
    is_lost = bool(wrong) and not config.file.table  # also whatever it said of plugins
    if strict and is_lost:
        raise ConfigError("\n".join(wrong))
    host = Host(config, safe=asked.flags.safe or is_lost, extensions=asked.flags.extensions)
    host.load()
    interrupts.reclaim()
    offer = host.offers("mino_subcommands").get(asked.subcommand) if asked.subcommand and wrong else None
    if getattr(offer and offer.value, "mends", False):
        return host
    if strict or wrong:  # what is wrong is told at once
        wrong += host.unknown_names()
    if wrong:
        for fault in host.faults:  # perhaps the reason
            _tell(f"Warning: {fault}")
        raise ConfigError("\n".join(wrong))
    return host


def _subcommands(asked: Asked) -> str:
    """The line of the help that depends on the plugins."""
    try:
        return f"subcommands: {', '.join(sorted(_host(asked, strict=False).offers('mino_subcommands')))}\n"
    except MinoError as error:
        return f"subcommands are not listed, since {error}\n"


def _subcommand(host: Host, name: str, rest: list[str]) -> int:
    for fault in host.faults:
        _tell(f"Warning: {fault}")
    offers = host.offers("mino_subcommands")
    if name not in offers:
        there_are = ", ".join(sorted(offers))
        meant = did_you_mean(name, offers) or "; to ask something, write mino -p TEXT"
        raise UsageError(f"there is no subcommand {name!r}; there are: {there_are}{meant}")
    gone: OSError | None = None
    with host.guard(offers[name].plugin, f"mino {name}", waits=True):
        try:
            code = _code(lambda: offers[name].value(rest, host))
            sys.stdout.flush()
        except OSError as error:
            gone = error if error.errno in (errno.EPIPE, errno.ENOSPC, errno.EBADF) else None
            if gone is None:
                raise
    if gone is not None:
        raise _gone(gone) from gone
    return code


def _code(act: Callable[[], int]) -> int:
    """What a subcommand ends with; argparse ends a program after `--help` or a wrong argument."""
    try:
        return act()
    except SystemExit as end:
        if isinstance(end.code, str):
            raise UsageError(end.code) from end
        return end.code or 0


def _talk(host: Host, screen: Screen, asked: Asked) -> int:
    chats = asked.prompt is None and os.isatty(0)
    if asked.attach and (chats or asked.interactive):
        raise UsageError("-a FILE goes with one question, by -p TEXT or on standard input; in a chat: @FILE")
    if asked.interactive:
        return _script(host, screen, asked)
    return _chat(host, screen, asked) if chats else _answer(host, screen, asked)


def _answer(host: Host, screen: Screen, asked: Asked) -> int:
    """One question, one answer."""
    prompt = _prompt(asked.prompt)
    attachments = _attachments(asked)
    with opening.session(host, screen) as session:
        project.tell(session)
        ended = session.ask(prompt, attachments)
        session.display.show(SessionEnded())
    return EXIT_CODES[ended.outcome]


def _script(host: Host, screen: Screen, asked: Asked) -> int:
    """Prompts and commands from a pipe, a line each."""
    with opening.session(host, screen) as session:
        project.tell(session)
        code = Shell(session, host.make("mino_inputs", "lines", screen)).run_script()
        session.display.show(SessionEnded())
    return code


def _chat(host: Host, screen: Screen, asked: Asked) -> int:
    """A conversation with a person."""
    with (
        opening.reader(host, screen) as reader,
        opening.session(host, screen, reader) as session,
    ):
        shell = Shell(session, reader)
        project.ask_once(session)
        code = shell.run()
        session.display.show(SessionEnded(opening.farewell(session)))
    return code


def _prompt(given: str | None) -> str:
    """What is asked: the argument, then after a blank line what is piped in."""
    piped = "" if os.isatty(0) else _read_all()
    parts = [part for part in (given or "", piped) if not is_blank(part)]
    if not parts:
        raise UsageError("nothing was asked: standard input is blank; give a prompt with -p TEXT")
    return "\n\n".join(parts)


def _read_all() -> str:
    """All of standard input. Waiting longer than a second is said, once."""
    told: list[bool] = []

    def tell() -> None:
        if not told:
            told.append(True)
            _tell("mino waits for the end of standard input")

    pieces: list[bytes] = []
    try:
        with interrupts.every(1.0, tell), interrupts.armed():
            while interrupts.wait(0) and (piece := os.read(0, 1 << 16)):
                pieces.append(piece)
    except OSError as error:
        raise UsageError(f"cannot read standard input: {error.strerror}") from error
    said = b"".join(pieces)
    if b"\0" in said:
        raise UsageError("standard input is not text; send a picture or a document with -a FILE -p TEXT")
    return said.decode("utf-8-sig", "replace").removesuffix("\n").removesuffix("\r")


def _attachments(asked: Asked) -> list[Part]:
    if not asked.attach:
        return []
    from mino_core.attachments import read

    with interrupts.armed():  # a pipe may be among them
        return [read(path).part for path in asked.attach]
