"""The words of mino: what is said, what streams, what is shown, and what a plugin offers.

Values are frozen; unions are matched with `match`. The names are the contract between the core
and every plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from .errors import ProviderError
    from .session import Session

# -- what is said ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the user or of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought before it answered; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The words with which a model declined."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole request by the model to run a tool; both a part and a delta.

    `arguments` is the JSON text exactly as received (a blank one means `{}`).
    """

    id: str
    name: str
    arguments: str

    @property
    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object, or None where they are not one."""
        import json

        try:
            value = json.loads(self.arguments) if self.arguments.strip() else {}
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said to one call."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that take them; `data` is base64, `media_type` such as `image/png`."""

    media_type: str
    data: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A document for models that take them; `data` is base64."""

    media_type: str
    data: str
    name: str = ""


Part: TypeAlias = Text | Reasoning | Refusal | ToolCall | ToolResult | Image | File
Role: TypeAlias = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One side's turn to speak.

    `meta` is an echo bag keyed by provider kind (signatures, encrypted reasoning): an encoder reads
    only its own key and sends it back where its dialect wants it.
    """

    role: Role
    parts: tuple[Part, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The visible words, refusals included, in order."""
        return "".join(part.text for part in self.parts if isinstance(part, Text | Refusal))


@dataclass(frozen=True, slots=True)
class Tool:
    """Something the model may have done for it. `parameters` is a JSON schema of an object.

    `run` takes the arguments as keywords and returns what the model is told.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., object] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Request:
    """All that one answer depends on; the body on the wire is a pure function of it.

    Instructions are not a message, so they cannot occur twice. `options` go out as they are.
    """

    model: str
    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


# -- what a provider yields: any number of deltas, then exactly one Finished -------------------


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """The next piece of a refusal."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer or of one turn. None means not reported, never 0.

    `input_tokens` is the whole prompt, cached tokens included; `output_tokens` includes reasoning.
    """

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None


Reason: TypeAlias = Literal["stop", "tool_calls", "length", "filter", "refusal", "pause"]


@dataclass(frozen=True, slots=True)
class Finished:
    """The dialect's own terminal arrived: the last delta. `stop` and `tool_calls` are good ends.

    `raw_reason` is the server's word, `detail` its explanation, `meta` the message's echo bag.
    """

    reason: Reason
    raw_reason: str = ""
    detail: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


Delta: TypeAlias = TextDelta | ReasoningDelta | RefusalDelta | ToolCall | Usage | Finished

# -- what renderers and observers see ----------------------------------------------------------

#: How a turn ended; history, the usage line and the exit code are functions of it.
Outcome: TypeAlias = Literal["completed", "incomplete", "interrupted", "failed", "cancelled"]
Level: TypeAlias = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A conversation is ready. `banner` is empty where nobody is greeted.

    `quiet` says that no usage is to be shown.
    """

    id: str
    provider: str
    model: str
    banner: str = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A question was asked and kept; `turn` counts from 1."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A request goes out; `n` counts the rounds of a turn from 1."""

    n: int


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing more has arrived: now is the time to write what was shown."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was allowed and runs."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Something a running tool said on the way."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool ended or was refused."""

    call_id: str
    result: ToolResult
    seconds: float


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence of mino's own, beside the answer; level `error` is shown as `Error: …`."""

    level: Level
    text: str


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    """What answers. May also have `models() -> Iterable[str]` and `close()`."""

    def stream(self, request: Request) -> Iterator[Delta]:
        """Yield deltas, then one Finished; raise ProviderError on failure."""
        ...


class Renderer(Protocol):
    """What draws. May also have `close()`."""

    def show(self, event: Event) -> None:
        """Draw one event, or remember it until `Idle`."""
        ...


class Input(Protocol):
    """What reads a line. May also have `close()` and `above(draw)`."""

    def read(self, prompt: str) -> str:
        """The next line; EOFError at the end."""
        ...

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """One of `choices`, or None where nobody answers."""
        ...


class Log(Protocol):
    """The records of one conversation, in the order they were appended."""

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
    """Where conversations are kept. May also have `search(text) -> Iterator[Head]`."""

    def conversations(self) -> Iterator[Head]:
        """The heads of all conversations, newest first."""
        ...

    def open(self, id: str, head: Head | None = None, write: bool = True) -> Log:
        """The log of one conversation; with `head`, a new one. Busy where another writes it."""
        ...

    def remove(self, id: str) -> None:
        """Erase one conversation."""
        ...


#: Takes the session and the raw rest of the line; a returned string is asked as the prompt. Its
#: help is the docstring's first line. May have `complete(session, text) -> Iterable[str]`.
Command: TypeAlias = "Callable[[Session, str], str | None]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One plugin's opinion on a tool call; `remember` how long, `pattern` for which calls."""

    allowed: bool
    reason: str = ""
    remember: Literal["no", "session", "always"] = "no"
    pattern: str = ""


#: What `complete` and `models` return.
Names: TypeAlias = Iterable[str]
