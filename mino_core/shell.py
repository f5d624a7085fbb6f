"""The read loop: a line is a command, a prompt, or a way out."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from . import interrupts, outlets
from .errors import MinoError, did_you_mean
from .faults import let_go
from .records.messages import is_blank
from .types import Outcome, Part, Pasted
from .values import value

if TYPE_CHECKING:
    from .session import Session
    from .types import Input

PROMPT = "You> "
_WAYS_OUT = frozenset({"exit", "quit"})
#: What an interactive run ends with where Ctrl-C left it.
CANCELLED = 130
#: Exit codes by how the turn ended, and the order in which one is worse than another.
EXIT_CODES: dict[Outcome, int] = {
    "completed": 0,
    "failed": 3,
    "incomplete": 4,
    "interrupted": 5,
    "cancelled": CANCELLED,
}
_WORST_FIRST = (3, 5, 4, 130, 0)


@value
class Command:
    """A line that names a command; `rest` is the raw rest of it."""

    name: str
    rest: str


@value
class Prompt:
    """A line for the model."""

    text: str


@value
class Errand:
    """A line for the user's own shell; a blank one drops what the last ones said."""

    command: str


@value
class Leave:
    """A bare word that leaves."""


def read_line(line: str) -> Command | Prompt | Errand | Leave | None:
    """What a line means; None where it is blank. One that begins with what was pasted is for the model.

    A first word `/name` is a command, `//x` says `/x`, a first word with a further slash is text.
    `!x` is for the user's shell, and `!!x` says `!x`.
    """
    if is_blank(line):
        return None
    if isinstance(line, Pasted) and line.covers(len(line) - len(line.lstrip())):
        return Prompt(str(line))
    stripped = line.strip()
    if stripped in _WAYS_OUT:
        return Leave()
    if stripped.startswith(("//", "!!")):
        return Prompt(line.replace(stripped[0], "", 1))
    if stripped.startswith("!"):
        return Errand(stripped[1:].strip())
    if stripped.startswith("/"):
        import re  # no pattern is compiled before a line needs one

        if found := re.fullmatch(r"/([A-Za-z0-9_:-]+)(?:\s+(.*))?", stripped, re.DOTALL):
            return Command(found[1], found[2] or "")
        if not re.match(r"/\S*/", stripped):
            return Command(stripped[1:].split(maxsplit=1)[0] if stripped[1:].strip() else "", "")
    return Prompt(str(line))


def worst(codes: list[int]) -> int:
    """The exit code of several turns: the worst of theirs."""
    return min(codes, key=_WORST_FIRST.index, default=0)


class Shell:
    """Reads lines until one leaves."""

    def __init__(self, session: Session, reader: Input) -> None:
        self.session = session
        self.input = reader
        session.input = reader
        self._codes: list[int] = []
        self._is_person = False
        #: What commands of the user's shell said, for the next message.
        self._said: list[Part] = []

    def run(self) -> int:
        """Read and do until the end; the exit code of an interactive run."""
        if attach := getattr(self.input, "attach", None):
            attach(self.session)
        self._is_person = True
        while not self.session.leaving:
            try:
                line = self._read()
            except interrupts.Terminated:
                raise
            except (EOFError, KeyboardInterrupt):
                break
            stops = interrupts.stops
            with self._room():
                code = self._do(line)
            if code == CANCELLED and self.session.config.shell.interrupt == "exit":
                return CANCELLED
            if interrupts.stops != stops and (hold := getattr(self.input, "hold", None)):
                hold()
        return 0

    def _room(self) -> AbstractContextManager[None]:
        """Keep room for a Ctrl-C behind what is typed ahead, where the input knows of it."""
        if not hasattr(self.input, "hold"):
            return nullcontext()
        from .keyboard import set_aside

        return interrupts.every(1.0, set_aside)

    def run_script(self) -> int:
        """The same for lines from a pipe: the exit code is the worst of the turns'."""
        while not self.session.leaving:
            try:
                line = self._read()
            except EOFError:
                break
            self._do(line)
        return worst(self._codes)

    def _read(self) -> str:
        self.session.display.show_strays()
        outlets.wake = self._show_strays
        try:
            with interrupts.armed():
                return _text(self.input.read(PROMPT))
        except (EOFError, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001 (an input may be a plugin's)
            self._take_over(error)
            return ""
        finally:
            outlets.wake = None

    def _show_strays(self) -> None:
        """Show what is printed while a line is edited, where the input can; else it waits for its end."""
        if above := getattr(self.input, "above", None):
            above(self.session.display.show_strays)

    def _take_over(self, error: BaseException) -> None:
        """Put plain lines in place of an input that failed."""
        let_go(self.input)  # that it fails to close as well is no news
        words = f"the input failed ({type(error).__name__}: {error})"
        if isinstance(error, MinoError):  # a stranger's: it names the plugin
            words = str(error)
        self.session.notify(f"{words}; reading plain lines", "warning")
        self.input = self.session.host.make("mino_inputs", "lines", self.session.screen)
        self.session.input = self.input

    def _do(self, line: str) -> int:
        """Do what a line says; the exit code of its turn, 0 where there was none."""
        before = self.session.last
        try:
            match read_line(line):
                case None:
                    return 0
                case Leave():
                    self.session.leave()
                case Prompt(text):
                    self._ask(text, line)
                case Errand() if not self._is_person:
                    self.session.ask(line)
                case Errand(command):
                    self._run_errand(command)
                case Command(name, rest):
                    self._run_command(name, rest)
        except MinoError as error:
            self.session.notify(str(error), "error")
        except interrupts.Terminated:
            raise
        except KeyboardInterrupt:
            pass  # back to the prompt
        ended = self.session.last
        if ended is None or ended is before:
            return 0
        self._codes.append(EXIT_CODES[ended.outcome])
        return self._codes[-1]

    def _ask(self, text: str, line: str) -> None:
        """Ask, with the files that the line mentions and with what the user's commands said."""
        parts: list[Part] = []
        if self._is_person and "@" in line:
            from . import attachments

            files, others = attachments.mentioned(line)
            found = [attachments.read(path) for path in files]
            for word in others:
                self.session.notify(f"there is no file {word}; the words are sent as they are")
            if found:
                self.session.notify(f"[attached: {', '.join(map(str, found))}]")
            parts = [each.part for each in found]
        said, self._said = self._said, []
        self.session.ask(text, [*said, *parts])

    def _run_errand(self, command: str) -> None:
        from . import errand

        if not command:
            self._said.clear()
            self.session.notify("Nothing of your commands goes along.")
            return
        try:
            said = errand.run(self.session, command)
        except interrupts.Terminated:
            raise
        except KeyboardInterrupt:
            self.session.notify("The command was stopped.")
            return
        if said.text:
            self._said.append(said)

    def _run_command(self, name: str, rest: str) -> None:
        commands = self.session.commands()
        offer = commands.get(name)
        if offer is None:
            self.session.notify(_unknown(name, list(commands)), "error")
            return
        try:
            with self.session.host.guard(offer.plugin, f"/{name}", waits=True):
                said = offer.value(self.session, rest)
                if said is not None and not isinstance(said, str):
                    raise TypeError(f"a command returns text or None, not {type(said).__name__}")
        except interrupts.Terminated:
            raise
        except KeyboardInterrupt:
            self.session.notify(f"/{name} was stopped")
            return
        if said and not is_blank(said):
            self.session.ask(said)


def _text(line: object) -> str:
    """The line, if it is one; TypeError where an input has returned something else."""
    if isinstance(line, str):
        return line
    raise TypeError(f"a line is text, not {type(line).__name__}")


def _unknown(name: str, known: list[str]) -> str:
    meant = did_you_mean(f"/{name}", [f"/{word}" for word in known]) or ";"
    name = name[:40]
    return f"there is no command /{name}{meant} /help lists them, and //{name} sends it as text"
