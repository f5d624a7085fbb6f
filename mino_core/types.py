"""The words of mino: what is said (from `speech`), what is shown, and what a plugin offers.

Values are frozen; unions are matched with `match`. The names are the contract between the core
and every plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

from .speech import Delta as Delta
from .speech import File as File
from .speech import Finished as Finished
from .speech import Image as Image
from .speech import Message as Message
from .speech import Part as Part
from .speech import Reason as Reason
from .speech import Reasoning as Reasoning
from .speech import ReasoningDelta as ReasoningDelta
from .speech import Refusal as Refusal
from .speech import RefusalDelta as RefusalDelta
from .speech import Request as Request
from .speech import Role as Role
from .speech import Text as Text
from .speech import TextDelta as TextDelta
from .speech import Tool as Tool
from .speech import ToolCall as ToolCall
from .speech import ToolResult as ToolResult
from .speech import Usage as Usage
from .values import value

if TYPE_CHECKING:
    from .errors import ProviderError

# -- what renderers and observers see ----------------------------------------------------------

#: How a turn ended; history, the usage line and the exit code are functions of it.
Outcome: TypeAlias = Literal["completed", "incomplete", "interrupted", "failed", "cancelled"]
Level: TypeAlias = Literal["info", "warning", "error"]


@value
class SessionStarted:
    """A conversation is ready. `banner` is empty where nobody is greeted.

    `quiet` says that no usage is to be shown.
    """

    id: str
    provider: str
    model: str
    banner: str = ""
    quiet: bool = False


@value
class TurnStarted:
    """A question was asked and kept; `turn` counts from 1."""

    turn: int
    prompt: str


@value
class RoundStarted:
    """A request goes out; `n` counts the rounds of a turn from 1."""

    n: int


@value
class Idle:
    """Nothing more has arrived: now is the time to write what was shown."""


@value
class ToolStarted:
    """A tool was allowed and runs."""

    call: ToolCall


@value
class ToolOutput:
    """Something a running tool said on the way."""

    call_id: str
    text: str


@value
class ToolEnded:
    """A tool ended or was refused."""

    call_id: str
    result: ToolResult
    seconds: float


@value
class Notice:
    """A sentence of mino's own, beside the answer; level `error` is shown as `Error: …`.

    The lines of a `verbatim` one belong to somebody else (a file, a program), and are not wrapped.
    """

    level: Level
    text: str
    verbatim: bool = False


@value
class TurnEnded:
    """The one end of a turn. `usage` sums its rounds, `last_usage` is the last round's.

    `error` says why, for every outcome but `completed` and `cancelled`. Times are in seconds;
    `first_token_seconds` is None where nothing was said.
    """

    turn: int
    outcome: Outcome
    error: ProviderError | None = None
    usage: Usage | None = None
    last_usage: Usage | None = None
    seconds: float = 0.0
    first_token_seconds: float | None = None
    rounds: int = 1


@value
class SessionEnded:
    """The conversation is over; `farewell` says how to resume it, or is empty."""

    farewell: str = ""


Event: TypeAlias = (
    SessionStarted
    | TurnStarted
    | RoundStarted
    | Delta
    | Idle
    | ToolStarted
    | ToolOutput
    | ToolEnded
    | Notice
    | TurnEnded
    | SessionEnded
)

# -- what plugins offer ------------------------------------------------------------------------

#: One line of a log: a JSON object with at least `id`, `time` and `type`.
Record: TypeAlias = Mapping[str, Any]
#: The first record of a conversation, of type `head`, with its `id`, `time` and `directory`.
Head: TypeAlias = Mapping[str, Any]


class Provider(Protocol):
    """What answers.

    May also have `models() -> Iterable[str]`; `close()`; `warm()`, called while a person types the first
    question, for what that would wait for; `model`, the one it has where no other is named; and `note`, a
    remark for the banner.
    """

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        ...


class Renderer(Protocol):
    """What draws.

    May also have `close()`; `warm()`, called while a person types the first question; and
    `tick(seconds)`, called once a second while mino waits for the model, with how long it has.
    """

    def show(self, event: Event) -> None:
        """Draw one event, or remember it until `Idle`."""
        ...


class Pasted(str):
    """A line in which something was pasted: words for the model, never a command, a way out or a file.

    `spans` says where, each from a character to before another; left out, it is the whole line.
    """

    spans: tuple[tuple[int, int], ...]

    def __new__(cls, text: str, spans: Iterable[tuple[int, int]] | None = None) -> Self:
        """The same text, with where it was pasted."""
        made = super().__new__(cls, text)
        made.spans = ((0, len(text)),) if spans is None else tuple(spans)
        return made

    def covers(self, at: int) -> bool:
        """Whether the character at this place was pasted."""
        return any(start <= at < end for start, end in self.spans)


class Input(Protocol):
    """What reads a line.

    May also have `close()`; `attach(session)`, called once before the first read; `hold()`, called
    after a Ctrl-C: what was typed ahead is to wait for an Enter of its own (who has it also reads
    `mino_core.typed_ahead()` first); and `above(draw)`, callable from any thread, which calls `draw`
    above the line being edited, or at once where none is. What is offered may say `edits = False`: the
    kernel then echoes and edits.
    """

    def read(self, prompt: str) -> str:
        """The next line, a `Pasted` where it was pasted; EOFError at the end."""
        ...

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """One of `choices`, or None where nobody answers."""
        ...


class Log(Protocol):
    """The records of one conversation, in the order they were appended.

    May also have `skipped`, how many damaged records the last reading left out.
    """

    def append(self, record: Record, durable: bool = True) -> None:
        """Keep one record; with `durable`, on stable storage before returning."""
        ...

    def records(self, reverse: bool = False) -> Iterator[Record]:
        """Every record, oldest first, or newest first."""
        ...

    def close(self) -> None:
        """Let go of the file and of the writer's lock."""
        ...


class History(Protocol):
    """Where conversations are kept.

    May also have `search(text) -> Iterator[tuple[Head, Iterable[Record]]]`: the conversations that may hold
    a text in any case, the one written to last first, each with the records that may. A log may have
    `last(type)`, its last record of a type, and `skipped`, how many of its records could not be read.
    """

    def conversations(self) -> Iterator[Head]:
        """The heads of all conversations, newest first."""
        ...

    def open(self, id: str, head: Head | None = None, write: bool = True) -> Log:
        """The log of one conversation; with `head`, a new one. Busy where another writes it."""
        ...

    def remove(self, id: str) -> None:
        """Erase one conversation."""
        ...


@value
class Verdict:
    """One plugin's opinion on a tool call.

    With `remember`, a yes stands for all further calls of that tool in this session: the plugin is not
    asked again. Those before it are.
    """

    allowed: bool
    reason: str = ""
    remember: Literal["no", "session"] = "no"
