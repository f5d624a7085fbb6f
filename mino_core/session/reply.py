"""What one round has said, and by which rule it ended well or did not."""

from __future__ import annotations

from collections.abc import Mapping

from mino_core.errors import MinoError, ProviderError
from mino_core.records.messages import is_blank
from mino_core.transport import plain
from mino_core.types import (
    Delta,
    Finished,
    Outcome,
    Part,
    Reasoning,
    ReasoningDelta,
    Refusal,
    RefusalDelta,
    Text,
    TextDelta,
    ToolCall,
    Usage,
)
from mino_core.values import value

_WORDS = {
    "length": "the answer reached the output limit",
    "filter": "the server's content filter stopped the answer",
    "refusal": "the model declined to go on",
    "pause": "the server paused the answer",
}


_REASONS = frozenset({"stop", "tool_calls", *_WORDS})


def _counts(usage: Usage) -> tuple[object, ...]:
    return tuple([getattr(usage, name) for name in Usage.__match_args__])


class Reply:
    """What one round has said so far."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.finished: Finished | None = None
        self.has_words = False
        self.calls: list[ToolCall] = []
        self._runs: list[tuple[type[Text | Reasoning | Refusal], list[str]]] = []

    def add(self, delta: Delta) -> None:
        """Take one delta; TypeError where it is none, or holds what no delta can."""
        match delta:
            case TextDelta(str(text)):
                self._say(Text, text)
            case ReasoningDelta(str(text)):
                self._say(Reasoning, text)
            case RefusalDelta(str(text)):
                self._say(Refusal, text)
            case ToolCall(str(), str(), str()):
                self.calls.append(delta)
            case Usage() if all(isinstance(count, int | None) for count in _counts(delta)):
                self.usage = delta
            case Finished(reason, str(), str(), meta) if reason in _REASONS and isinstance(meta, Mapping):
                self.finished = delta
            case _:
                raise TypeError(f"{delta!r:.100} is not a delta")

    def _say(self, kind: type[Text | Reasoning | Refusal], text: str) -> None:
        if not self._runs or self._runs[-1][0] is not kind:
            self._runs.append((kind, []))
        self._runs[-1][1].append(text)
        if not self.has_words and kind is not Reasoning:
            self.has_words = not is_blank(text)

    def texts(self) -> tuple[Part, ...]:
        """The parts so far, without tool calls."""
        return tuple(kind("".join(pieces)) for kind, pieces in self._runs)

    @property
    def text(self) -> str:
        """The words so far, without reasoning and refusals."""
        return "".join(piece for kind, pieces in self._runs if kind is Text for piece in pieces)

    @property
    def is_paused(self) -> bool:
        """Whether the server waits to be asked for the rest: then it needs what it said, even wordless."""
        end = self.finished
        return end is not None and end.reason == "pause" and (self.has_words or bool(end.meta))

    @property
    def pieces(self) -> int:
        """How many pieces of text came: a cheap measure of growth."""
        return sum(len(pieces) for _, pieces in self._runs)


@value
class Ending:
    """How a round ended."""

    outcome: Outcome
    error: ProviderError | None = None


def fault(provider: str, error: BaseException) -> ProviderError:
    """What a provider raised that is no ProviderError, as one."""
    if isinstance(error, MinoError):  # a stranger's: it names the plugin
        return ProviderError("plugin", str(error))
    return ProviderError("plugin", f"the provider {provider} failed: {type(error).__name__}: {error}")


def settle(reply: Reply, error: ProviderError | None) -> Ending:
    """The outcome of a reply, by the one rule for all providers (completed only if they said so)."""
    if reply.finished is None:
        if error is None:
            return Ending("interrupted", ProviderError("stream", "the stream ended before completion"))
        broke_off = error.kind == "stream" or (error.kind == "timeout" and error.status is not None)
        return Ending("interrupted" if broke_off else "failed", error)
    end = reply.finished
    if end.reason in ("stop", "tool_calls"):
        if reply.has_words or any(call.parsed is not None for call in reply.calls):
            return Ending("completed")
        words = "the answer was empty"
        if reply.calls:
            words += f": all it held is a call of {reply.calls[0].name} that is not whole; /retry asks again"
        return Ending("failed", ProviderError("empty", plain(words)))
    words = _WORDS[end.reason]
    raw = f" ({end.raw_reason})" if end.raw_reason else ""
    detail = f": {end.detail}" if end.detail else ""
    return Ending("incomplete", ProviderError(end.reason, plain(f"{words}{raw}{detail}")))
