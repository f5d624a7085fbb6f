"""What has come so far of one answer of Anthropic Messages: its words, its blocks, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from mino_core import Delta, Finished, ProviderError, ReasoningDelta, TextDelta, ToolCall
from mino_core.transport import (
    SurrogateJoiner,
    as_table,
    as_text,
    count,
    is_plain,
    mend_surrogates,
    order_of,
    plain,
    usage,
)

from .messages_request import KIND, PAUSES

Json = dict[str, Any]
Reason = Literal["stop", "tool_calls", "length", "refusal", "pause"]

_REASONS: dict[str, Reason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "pause",
}


class _Block:
    """One block that is not text: where in the text it began, and the pieces of its content."""

    __slots__ = ("is_over", "pieces", "raw", "start", "type")

    def __init__(self, start: int, raw: Json) -> None:
        self.type = as_text(raw.get("type"))
        self.start = start
        self.raw = raw
        self.pieces: list[str] = []
        self.is_over = False

    def is_begun_by(self, raw: Json) -> bool:
        """Whether this start is the block's own: one that was repeated, or that came late."""
        same = self.raw.get("id") in (None, raw.get("id"))
        return same and not self.is_over and self.type == raw.get("type")

    @property
    def content(self) -> str:
        """The pieces in one, with pairs joined that were split between two."""
        return mend_surrogates("".join(self.pieces))

    def arguments(self) -> str:
        """The input of a call as JSON text: as it was streamed, or as it stood in the start."""
        return self.content if self.content.strip() else json.dumps(as_table(self.raw.get("input")))

    def place(self) -> Json | None:
        """What goes back to the server: a call, or the block as it came; None where nothing does."""
        match self.type:
            case "tool_use":
                return {"call": self.raw.get("id")}
            case "thinking" if self.raw.get("signature"):
                return {**self.raw, "thinking": self.content}
            case "redacted_thinking":
                return self.raw
            case "compaction":
                return {**self.raw, "content": self.content} if self.pieces else self.raw
            case "server_tool_use" | "mcp_tool_use":
                call = ToolCall("", "", self.arguments())
                return None if call.parsed is None else {**self.raw, "input": call.parsed}
            case type if type.endswith("_tool_result"):
                return self.raw
        return None


class Answer:
    """What has come so far. `stop` is the stop reason, blank until it comes."""

    def __init__(self) -> None:
        self.stop = ""
        self._details: Json = {}
        self._length = 0  # characters of text
        self._thought_at = -1  # the length at which thinking was last said
        self._is_apart = False  # the next thinking is another block's
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
        self._usage: Json = {}
        self._text = SurrogateJoiner()
        self._thinking = SurrogateJoiner()

    # -- words ---------------------------------------------------------------------------------

    def say(self, text: object) -> str:
        """The next words of the answer, as they can be shown."""
        if not isinstance(text, str):
            return ""
        text = self._text.feed(text)
        self._length += len(text)
        return text

    def _think(self, text: str) -> Iterator[Delta]:
        if text := self._thinking.feed(text):
            if self._is_apart and self._thought_at == self._length:
                yield ReasoningDelta("\n\n")
            self._thought_at, self._is_apart = self._length, False
            yield ReasoningDelta(text)

    def flush(self) -> Iterator[Delta]:
        """Half a character whose other half did not come."""
        if half := self._thinking.flush():
            yield ReasoningDelta(half)
        if half := self._text.flush():
            self._length += len(half)
            yield TextDelta(half)

    # -- blocks --------------------------------------------------------------------------------

    def start(self, index: object, raw: Json) -> Iterator[Delta]:
        """A block begins; it may come with its content."""
        yield from self.flush()
        if raw.get("type") == "text":
            if text := self.say(raw.get("text")):
                yield TextDelta(text)
            return
        block = self._at.get(_number(index))
        if block is not None and block.is_begun_by(raw):
            block.raw = raw | block.raw
            return
        block = self._open(index, raw)
        if block.type == "thinking":
            self._is_apart = True
            thinking = as_text(raw.get("thinking"))
            block.pieces.append(thinking)
            yield from self._think(thinking)

    def close(self, index: object) -> None:
        """A block ends: what begins at its index is another one."""
        if (block := self._at.get(_number(index))) is not None:
            block.is_over = True

    def delta(self, index: object, delta: Json) -> Iterator[Delta]:
        """The next piece of a block that is not text."""
        match delta.get("type"):
            case "thinking_delta":
                thinking = as_text(delta.get("thinking"))
                self._find(index, "thinking").pieces.append(thinking)
                yield from self._think(thinking)
            case "signature_delta":
                self._find(index, "thinking").raw["signature"] = as_text(delta.get("signature"))
            case "input_json_delta":
                self._find(index, "tool_use").pieces.append(as_text(delta.get("partial_json")))
            case "compaction_delta":
                self._find(index, "compaction").pieces.append(as_text(delta.get("content")))

    def whole(self, message: Json) -> Iterator[Delta]:
        """The body of an answer that is no stream."""
        if not isinstance(message.get("content"), list):
            raise ProviderError("protocol", "the server sent JSON that is no message; check `base_url`")
        for index, raw in enumerate(message["content"]):
            yield from self.start(index, as_table(raw))
        yield from self.report(message.get("usage"))
        self.stopped(message)

    def _find(self, index: object, type: str) -> _Block:
        """The block at an index; a new one where its start did not come."""
        return self._at.get(_number(index)) or self._open(index, {"type": type})

    def _open(self, index: object, raw: Json) -> _Block:
        """A new block at an index: some gateways number them all 0."""
        block = self._at[_number(index)] = _Block(self._length, raw)
        self._blocks.append(block)
        return block

    # -- the end -------------------------------------------------------------------------------

    def stopped(self, delta: Json) -> None:
        """Take the stop reason, if there is one."""
        if reason := delta.get("stop_reason"):
            self.stop = str(reason)
            self._details = as_table(delta.get("stop_details"))

    def report(self, reported: object) -> Iterator[Delta]:
        """The usage so far: later numbers replace earlier ones, they are never added."""
        if not isinstance(reported, dict):
            return
        self._usage |= {
            key: value
            for key, value in reported.items()
            if count(value) is not None or isinstance(value, dict)
        }
        read = count(self._usage.get("cache_read_input_tokens"))
        written = count(self._usage.get("cache_creation_input_tokens"))
        fresh = count(self._usage.get("input_tokens"))
        tokens = usage(
            input=None if fresh is None else fresh + (read or 0) + (written or 0),
            output=self._usage.get("output_tokens"),
            cache_read=read,
            cache_write=written,
            reasoning=as_table(self._usage.get("output_tokens_details")).get("thinking_tokens"),
        )
        if tokens is not None:
            yield tokens

    def end(self, model: str) -> Iterator[Delta]:
        """The end of the events: Finished where a stop reason came."""
        yield from self.flush()
        if not self.stop:
            return
        if (reason := _REASONS.get(self.stop)) is None:
            raise ProviderError("protocol", f"the server stopped with unknown reason {self.stop[:50]!r}")
        calls: list[ToolCall] = []
        for block in self._blocks:
            if block.type == "tool_use" and (name := as_text(block.raw.get("name"))):
                block.raw["id"] = as_text(block.raw.get("id")) or f"call_{len(calls) + 1}"
                calls.append(ToolCall(block.raw["id"], name, block.arguments()))
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if calls else reason
        else:
            calls = [call for call in calls if call.parsed is not None]
        yield from calls
        told = (as_text(self._details.get(key)) for key in ("category", "explanation"))
        yield Finished(reason, self.stop, plain(": ".join(filter(None, told)), 220), self._meta(model))

    def _meta(self, model: str) -> Json:
        """What goes back with the message: opaque blocks as they came, and where the words stood.

        Nothing where the message alone says it all: words, then calls.
        """
        order = order_of(((block.start, block.place(), {}) for block in self._blocks), self._length)
        if self.stop in PAUSES:
            return {KIND: {"model": model, "order": order, "stop": self.stop}}
        return {} if is_plain(order) else {KIND: {"model": model, "order": order}}


def _number(index: object) -> int:
    return index if isinstance(index, int) else -1
