"""The words of mino for what is said: parts, messages, requests, and the deltas of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from .values import value

# -- what is said ------------------------------------------------------------------------------


@value
class Text:
    """Words of the user or of the answer."""

    text: str


@value
class Reasoning:
    """What a model thought before it answered; never part of the answer."""

    text: str


@value
class Refusal:
    """The words with which a model declined."""

    text: str


@value
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


@value
class ToolResult:
    """What a tool said to one call."""

    call_id: str
    content: str
    is_error: bool = False


@value
class Image:
    """A picture for models that take them; `data` is base64, `media_type` such as `image/png`."""

    media_type: str
    data: str
    name: str = ""


@value
class File:
    """A document for models that take them; `data` is base64."""

    media_type: str
    data: str
    name: str = ""


#: The parts whose text is shown.
_VISIBLE = (Text, Refusal)
Part: TypeAlias = Text | Reasoning | Refusal | ToolCall | ToolResult | Image | File
Role: TypeAlias = Literal["user", "assistant", "tool"]


@value
class Message:
    """One side's turn to speak.

    `meta` is an echo bag keyed by provider kind (signatures, encrypted reasoning): an encoder reads
    only its own key and sends it back where its dialect wants it.
    """

    role: Role
    parts: tuple[Part, ...]
    meta: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        """The visible words, refusals included, in order; each text of a user is a paragraph of its own."""
        between = "\n\n" if self.role == "user" else ""
        return between.join([part.text for part in self.parts if isinstance(part, _VISIBLE)])


@value
class Tool:
    """Something the model may have done for it. `parameters` is a JSON schema of an object.

    `run` takes the arguments as keywords and returns what the model is told.
    """

    _unlike = ("run",)

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., object]


@value
class Request:
    """All that one answer depends on; the body on the wire is a pure function of it.

    Instructions are not a message, so they cannot occur twice. `options` go out as they are.
    """

    model: str
    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    options: Mapping[str, Any] = {}


# -- what a provider yields: any number of deltas, then exactly one Finished -------------------


@value
class TextDelta:
    """The next piece of the answer."""

    text: str


@value
class ReasoningDelta:
    """The next piece of the model's reasoning."""

    text: str


@value
class RefusalDelta:
    """The next piece of a refusal."""

    text: str


@value
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


@value
class Finished:
    """The dialect's own terminal arrived: the last delta. `stop` and `tool_calls` are good ends.

    `raw_reason` is the server's word, `detail` its explanation, `meta` the message's echo bag.
    """

    reason: Reason
    raw_reason: str = ""
    detail: str = ""
    meta: Mapping[str, Any] = {}


Delta: TypeAlias = TextDelta | ReasoningDelta | RefusalDelta | ToolCall | Usage | Finished
