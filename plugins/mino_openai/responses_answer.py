"""What has come so far of one answer of OpenAI Responses: its words, its items, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from mino_core import (
    Delta,
    Finished,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    Usage,
)
from mino_core.transport import (
    SurrogateJoiner,
    as_list,
    as_table,
    as_text,
    is_plain,
    mend_surrogates,
    order_of,
    plain,
    server_error,
    usage,
)

from .responses_request import KIND

Json = dict[str, Any]
Key = tuple[object, ...]
Reason = Literal["length", "filter"]
Words = TextDelta | ReasoningDelta | RefusalDelta

#: Parts of an item, by type: the kind of part, what its words are, the key that holds them.
_PARTS: dict[str, tuple[str, type[Words], str]] = {
    "output_text": ("text", TextDelta, "text"),
    "refusal": ("refusal", RefusalDelta, "refusal"),
    "summary_text": ("summary", ReasoningDelta, "text"),
    "reasoning_text": ("reasoning", ReasoningDelta, "text"),
}
#: Items that go back as they came, if they are encrypted.
_ECHOED = ("reasoning", "compaction")


class _Item:
    """One item of the output: where in the text it began, and what of it goes back to the server."""

    __slots__ = ("echo", "id", "item_id", "name", "phase", "pieces", "start", "type")

    def __init__(self, type: str, item_id: object, start: int) -> None:
        self.type = type
        self.item_id = item_id
        self.start = start
        self.phase = ""
        self.echo: Json = {}
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []

    def update(self, item: Json) -> None:
        """Take what an event says about a call; whole arguments replace pieces."""
        self.id = as_text(item.get("call_id")) or self.id
        self.name = as_text(item.get("name")) or self.name
        if arguments := as_text(item.get("arguments")):
            self.pieces = [arguments]


class Answer:
    """What has come so far. `key` is the part that words are coming for."""

    def __init__(self) -> None:
        self.key: Key = ()
        self._words: type[Words] = TextDelta
        self._parts: dict[Key, list[str]] = {}
        self._pieces: list[str] = []
        self._length = 0  # characters of text and refusal
        self._items: dict[Key, _Item] = {}
        self._join = SurrogateJoiner()

    # -- words ---------------------------------------------------------------------------------

    def turn_to(self, words: type[Words], key: Key) -> Iterator[Delta]:
        """From now on the words are those of another part."""
        yield from self.flush()
        part = _usable(key)
        if part not in self._parts and words is self._words is ReasoningDelta:
            yield ReasoningDelta("\n\n")
        self.key, self._words = key, words
        self._pieces = self._parts.setdefault(part, [])

    def take(self, text: object) -> str:
        """The next words, as they can be shown."""
        if not isinstance(text, str) or not text:
            return ""
        text = self._join.feed(text)
        self._pieces.append(text)
        if self._words is not ReasoningDelta:
            self._length += len(text)
        return text

    def fill(self, words: type[Words], key: Key, text: object) -> Iterator[Delta]:
        """The whole of a part: say only what its deltas did not, and nothing twice."""
        if not isinstance(text, str):
            return
        if (pieces := self._parts.get(_usable(key))) is None:
            if any(key[0] == other[0] and "".join(said) == text for other, said in self._parts.items()):
                return  # the same part under another index
            pieces = []
        said = "".join(pieces)
        if len(text) <= len(said) or not text.startswith(said):
            return
        if key != self.key:
            yield from self.turn_to(words, key)
        self._join.flush()  # the whole has both halves
        if rest := self.take(text[len(said) :]):
            yield words(rest)

    def part(self, at: object, index: object, part: Json) -> Iterator[Delta]:
        """A part as it stands in an item."""
        if (known := _PARTS.get(as_text(part.get("type")))) is not None:
            name, words, field = known
            yield from self.fill(words, (name, at, index), part.get(field))

    def flush(self) -> Iterator[Delta]:
        """Half a character whose other half did not come."""
        if half := self._join.flush():
            if self._words is not ReasoningDelta:
                self._length += len(half)
            yield self._words(half)

    # -- items ---------------------------------------------------------------------------------

    def item(self, at: object, item: Json, is_whole: bool) -> Iterator[Delta]:
        """An item that began or, with `is_whole`, came to its end."""
        kept = self.find(at, as_text(item.get("type")), item.get("id"))
        if kept.type == "function_call":
            kept.update(item)
        kept.phase = as_text(item.get("phase")) or kept.phase
        if not is_whole:
            return
        for field in ("summary", "content"):
            for index, part in enumerate(as_list(item.get(field))):
                yield from self.part(at, index, as_table(part))
        if kept.type in _ECHOED and item.get("encrypted_content"):
            kept.echo = _echo(item)

    def find(self, at: object, type: str, id: object) -> _Item:
        """The item at an index; by its id where an event leaves the index out."""
        key = _usable((type, id if at is None else at))
        if (item := self._items.get(key)) is None and at is None and id:
            item = next((one for one in self._items.values() if (one.type, one.item_id) == (type, id)), None)
        if item is None:
            item = self._items[key] = _Item(type, id, self._length)
        return item

    # -- the end -------------------------------------------------------------------------------

    def end(self, response: Json, named: str, model: str) -> Iterator[Delta]:
        """The terminal event. Its status beats its name, but a failure by name is one."""
        yield from self._snapshot(as_list(response.get("output")))
        yield from self.flush()
        if (tokens := _usage(as_table(response.get("usage")))) is not None:
            yield tokens
        if response.get("error"):
            raise server_error(response["error"])
        status = named if named in ("failed", "cancelled") else response.get("status") or named
        detail = as_text(as_table(response.get("incomplete_details")).get("reason"))
        if detail and status == "completed":  # bridges have been seen to say both
            status = "incomplete"
        calls = self._calls()
        match status:
            case "completed":
                yield from calls
                yield Finished("tool_calls" if calls else "stop", "completed", meta=self._meta(model))
            case "incomplete":
                yield from (call for call in calls if call.parsed is not None)
                reason: Reason = "filter" if detail == "content_filter" else "length"
                yield Finished(reason, plain(detail, 80) or "incomplete", meta=self._meta(model))
            case "failed" | "cancelled":
                raise ProviderError("server", f"the server ended the response with status {status}")
            case _:
                words = f"the server ended the response with unknown status {str(status)[:50]!r}"
                raise ProviderError("protocol", words)

    def _snapshot(self, output: list[Any]) -> Iterator[Delta]:
        """What the terminal event holds and no event before it did."""
        is_all = not self._items and not self._parts
        has_words = self._length > 0
        known = {item.id for item in self._items.values()}
        for index, value in enumerate(output):
            item = as_table(value)
            match item.get("type"):
                case "message" if not has_words:
                    yield from self.item(index, item, is_whole=True)
                case "function_call" if item.get("call_id") not in known:
                    yield from self.item(f"snapshot {index}", item, is_whole=True)
                case _ if is_all:
                    yield from self.item(index, item, is_whole=True)

    def _calls(self) -> list[ToolCall]:
        calls: list[ToolCall] = []
        for item in self._items.values():
            if item.type == "function_call" and item.name:
                item.id = item.id or f"call_{len(calls) + 1}"
                calls.append(ToolCall(item.id, item.name, mend_surrogates("".join(item.pieces))))
        return calls

    def _meta(self, model: str) -> Json:
        """What goes back with the message: opaque items as they came, and where the words stood.

        Nothing where the message alone says it all: words without a phase, then calls.
        """
        order = order_of(map(_place, self._items.values()), self._length)
        return {} if is_plain(order) else {KIND: {"model": model, "order": order}}


def _place(item: _Item) -> tuple[int, Json | None, Json]:
    """Where an item began, what stands there, and what is kept with the words behind it."""
    is_call = item.type == "function_call" and item.name
    return (
        item.start,
        {"call": item.id} if is_call else item.echo or None,
        {"phase": item.phase} if item.phase else {},
    )


def _usable(key: Key) -> Key:
    """The key without indexes that are no numbers or names: they count as missing."""
    return tuple(index if isinstance(index, str | int) else None for index in key)


def _usage(reported: Json) -> Usage | None:
    of_input = as_table(reported.get("input_tokens_details"))
    of_output = as_table(reported.get("output_tokens_details"))
    return usage(
        input=reported.get("input_tokens"),
        output=reported.get("output_tokens"),
        cache_read=of_input.get("cached_tokens"),
        cache_write=of_input.get("cache_write_tokens"),
        reasoning=of_output.get("reasoning_tokens"),
        total=reported.get("total_tokens"),
    )


def _echo(item: Json) -> Json:
    """An opaque item in the form that goes back: no null, no status."""
    empty: Json = {"summary": []} if item["type"] == "reasoning" else {}
    keys = ("type", "id", "summary", "encrypted_content")
    return empty | {key: item[key] for key in keys if item.get(key) is not None}
