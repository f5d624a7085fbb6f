"""The events of Chat Completions as deltas: a non-null `finish_reason` is the one good end.

It is not the last thing to come: usage, late words and even errors follow it, until `[DONE]` or the
end of the stream, neither of which says anything about success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

from mino_core import Delta, Finished, ProviderError, ReasoningDelta, RefusalDelta, TextDelta, Usage, is_blank
from mino_core.transport import (
    WHOLE,
    SurrogateJoiner,
    as_list,
    as_table,
    as_text,
    is_done,
    parse_event,
    server_error,
    usage,
)

from .chat_calls import Calls
from .chat_request import KIND
from .think import ThinkTags

Json: TypeAlias = dict[str, Any]
Words: TypeAlias = type[TextDelta | ReasoningDelta | RefusalDelta]

_GOOD = frozenset(
    {"stop", "tool_calls", "function_call", "end", "eos", "eos_token", "end_turn", "stop_sequence"}
)
_EARLY: dict[str, Literal["length", "filter"]] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "sensitive": "filter",
}
_BAD = frozenset({"error", "network_error", "insufficient_system_resource", "abort", "aborted"})
#: Where a server puts reasoning; the first that is there counts, some send two of them.
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")


def decode(
    events: Iterable[tuple[str, str]],
    *,
    host: str = "",
    think_tags: bool = False,
    think_open: bool = False,
    trust_done: bool = False,
    expect_end: Callable[[], object] = lambda: None,
) -> Iterator[Delta]:
    """Yield the deltas of one answer; Finished only where a `finish_reason` came.

    With `trust_done`, `[DONE]` after text and no unfinished call will do. `expect_end` is called at
    each event from the `finish_reason` on; a connection that breaks there costs nothing. Raises
    ProviderError for malformed events, errors in the stream, and ends that mean failure.
    """
    answer = _Answer(host, ThinkTags(think_open) if think_tags or think_open else None)
    has_done = False
    try:
        for name, data in events:
            if is_done(data):
                has_done = True
                break
            event = parse_event(name, data)
            yield from answer.take(event)
            answer.check(event if name == WHOLE else None)
            if answer.finish:
                expect_end()
    except ProviderError as error:
        if not (answer.finish and error.kind in ("stream", "timeout")):
            yield from answer.flush()
            raise
    yield from answer.flush()
    yield from answer.end(trust_done and has_done)


class _Answer:
    """What has come so far."""

    def __init__(self, host: str, think: ThinkTags | None) -> None:
        self.finish = ""
        self._error: ProviderError | None = None
        self._host = host
        self._think = think
        self._calls = Calls()
        self._usage: Usage | None = None
        self._words: Words | None = None  # what the last words were
        self._has_text = False
        self._join = SurrogateJoiner()
        self._echo: Json = {}

    def take(self, event: Json) -> list[Delta]:
        """The deltas of one event, which come before the error that it may report."""
        out: list[Delta] = []
        if "choices" in event:
            for choice in as_list(event["choices"]):
                if isinstance(choice, dict) and not choice.get("index"):
                    self._choose(choice, out)
        if "usage" in event or "x_groq" in event or "error" in event or "choices" not in event:
            self._about(event, out)
        return out

    def check(self, body: Json | None) -> None:
        """Raise what the last event reported; a body that is no stream must be an answer."""
        if self._error is not None:
            raise self._error
        if body is not None and not as_list(body.get("choices")):
            raise ProviderError("protocol", "the server sent JSON that is no answer; check `base_url`")

    def _choose(self, choice: Json, out: list[Delta]) -> None:
        delta = choice.get("delta")
        if not delta and self._words is None and not self._calls.made():
            delta = choice.get("message")  # the whole of it, of use only where nothing was streamed
        if isinstance(delta, dict):
            self._read(delta, out)
        reason = str(choice.get("finish_reason") or "")
        if reason and reason != "null":  # the word is what some servers write while they go on
            if not self.finish or self.finish in _GOOD:  # what went wrong is not undone by what follows
                self.finish = reason
            if reason in _BAD:
                self._error = ProviderError("server", f"the server stopped the answer with `{reason}`")
        if choice.get("error"):
            self._error = server_error(choice["error"])
        if "usage" in choice:
            self._count(choice["usage"], out)

    def _read(self, delta: Json, out: list[Delta]) -> None:
        """The words and calls of one delta or message."""
        content = delta.get("content")
        if len(delta) > 1 or not content:  # nearly every delta is content alone
            self._read_reasoning(delta, out)
        if isinstance(content, str):
            if content:
                self._say_content(content, out)
        elif content:
            self._read_list(as_list(content), out)
        if refusal := as_text(delta.get("refusal")):
            self._say(RefusalDelta, refusal, out)
        function = as_table(delta.get("function_call"))  # what there was before tool_calls: one call
        only = [{"index": -1, "function": function}] if function else []
        for fragment in as_list(delta.get("tool_calls")) or only:
            self._calls.take(as_table(fragment))

    def _read_reasoning(self, delta: Json, out: list[Delta]) -> None:
        for field in _REASONING:
            if text := as_text(delta.get(field)):
                self._echo["reasoning"] = field
                self._say(ReasoningDelta, text, out)
                break
        if details := as_list(delta.get("reasoning_details")):
            self._echo.setdefault("reasoning_details", []).extend(details)

    def _read_list(self, parts: list[Any], out: list[Delta]) -> None:
        """Content as a list of parts, as Mistral's reasoning models send it."""
        for part in map(as_table, parts):
            match part.get("type"):
                case "text":
                    self._say_content(as_text(part.get("text")), out)
                case "thinking":
                    for piece in as_list(part.get("thinking")):
                        text = piece if isinstance(piece, str) else as_text(as_table(piece).get("text"))
                        self._say(ReasoningDelta, text, out)

    def _say_content(self, text: str, out: list[Delta]) -> None:
        if self._think is None:
            self._say(TextDelta, text, out)
            return
        for is_reasoning, piece in self._think.feed(text):
            self._say(ReasoningDelta if is_reasoning else TextDelta, piece, out)
        if self._think.is_over:
            self._think = None

    def _say(self, words: Words, text: str, out: list[Delta]) -> None:
        if words is not self._words:
            self._give_up_half(out)
            self._words = words
        if text := self._join.feed(text):
            if not self._has_text and words is not ReasoningDelta:
                self._has_text = not is_blank(text)
            out.append(words(text))

    def _give_up_half(self, out: list[Delta]) -> None:
        if self._words is not None and (half := self._join.flush()):
            out.append(self._words(half))

    def _about(self, event: Json, out: list[Delta]) -> None:
        """What an event says beside its choices."""
        groq = as_table(event.get("x_groq"))
        self._count(event.get("usage") or groq.get("usage"), out)
        if error := event.get("error") or groq.get("error"):
            self._error = server_error(error)
        elif event.get("object") == "error" or (
            "choices" not in event and "usage" not in event and (event.get("detail") or event.get("message"))
        ):
            self._error = server_error(event)

    def _count(self, value: object, out: list[Delta]) -> None:
        """Usage: the last report counts, and is passed on when it says something new."""
        if not isinstance(value, dict):
            return
        prompt = as_table(value.get("prompt_tokens_details"))
        cached, written = prompt.get("cached_tokens"), prompt.get("cache_write_tokens")
        reported = usage(
            input=value.get("prompt_tokens"),
            output=value.get("completion_tokens"),
            cache_read=value.get("prompt_cache_hit_tokens") if cached is None else cached,
            cache_write=value.get("cache_creation_input_tokens") if written is None else written,
            reasoning=as_table(value.get("completion_tokens_details")).get("reasoning_tokens"),
            total=value.get("total_tokens"),
        )
        if reported is not None and reported != self._usage:
            self._usage = reported
            out.append(reported)

    # -- the end -------------------------------------------------------------------------------

    def flush(self) -> list[Delta]:
        """What was held back because it might have become something else."""
        out: list[Delta] = []
        if self._think is not None:
            for is_reasoning, piece in self._think.flush():
                self._say(ReasoningDelta if is_reasoning else TextDelta, piece, out)
        self._give_up_half(out)
        return out

    def end(self, is_done: bool) -> Iterator[Delta]:
        """The calls and the Finished of an answer that has one."""
        calls = self._calls.made()
        whole = [call for call in calls if call.parsed is not None]
        if not self.finish and is_done and self._has_text and len(whole) == len(calls):
            self.finish = "stop"
        meta = {KIND: {"host": self._host, **self._echo}} if self._echo else {}
        if not self.finish:
            return
        if self.finish in _GOOD:
            # A call whose arguments are no JSON is the model's to hear about.
            yield from calls
            yield Finished("tool_calls" if calls else "stop", self.finish, meta=meta)
        elif self.finish in _EARLY:
            yield from whole
            yield Finished(_EARLY[self.finish], self.finish, meta=meta)
        else:
            raise ProviderError(
                "protocol", f"the server stopped with an unknown reason, {self.finish[:50]!r}"
            )
