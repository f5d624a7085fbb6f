"""Transcripts, their sidecars, and what comes of one: the same way as a session sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from mino_core import Delta, Finished, Message, ProviderError, Refusal, RefusalDelta, Settings, Text
from mino_core.session.reply import Reply, settle
from mino_core.transport.sse import Reader, read_events

_T = TypeVar("_T")
FOLDER = Path(__file__).parent / "transcripts"
#: Each dialect's package, module, and provider.
DIALECTS = {
    "chat": ("mino_openai", "chat", "Chat"),
    "responses": ("mino_openai", "responses", "Responses"),
    "messages": ("mino_anthropic", "messages", "Messages"),
}
#: What stands in a transcript at its semantic terminal, and nowhere before.
TERMINALS = {
    "chat": rb'"finish_reason":\s*"[^"]',
    "responses": rb"response\.(?:completed|done)\b",
    "messages": rb'"stop_reason":\s*"[^"]',
}


BROKE = ProviderError("stream", "the connection broke", 200)


@dataclass(frozen=True)
class Transcript:
    name: str
    dialect: str
    body: bytes
    expect: Mapping[str, Any]

    @property
    def http(self) -> Mapping[str, Any]:
        return self.expect.get("http", {})

    @property
    def status(self) -> int:
        return self.http.get("status", 200)

    @property
    def headers(self) -> dict[str, str]:
        kind = self.http.get("content_type", "text/event-stream")
        return {"content-type": kind, **self.http.get("headers", {})}

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.expect.get("options", {}))


def transcripts() -> list[Transcript]:
    """All whose dialect is there."""
    found = []
    for path in sorted(FOLDER.glob("*.sse")):
        dialect = path.stem.partition("-")[0]
        package, module, _ = DIALECTS[dialect]
        if find_spec(f"{package}.{module}"):
            expect = json.loads(path.with_suffix("").with_suffix(".expect.json").read_text("utf-8"))
            found.append(Transcript(path.stem, dialect, path.read_bytes(), expect))
    return found


def made_for(dialect: str, base_url: str, **settings: Any) -> Any:
    """The provider of a dialect, as a session would ask it."""
    package, module, name = DIALECTS[dialect]
    made = getattr(import_module(f"{package}.{module}"), name)
    return made(Settings({"base_url": base_url, **settings}, environ={}))


def provider(transcript: Transcript, base_url: str) -> Any:
    """The provider for a transcript, with the settings of its sidecar."""
    return made_for(transcript.dialect, base_url, **transcript.options)


def decoder(dialect: str, **options: Any) -> Callable[[Iterable[tuple[str, str]]], Iterator[Delta]]:
    package, module, _ = DIALECTS[dialect]
    decode = import_module(f"{package}.{module}_events").decode
    return lambda events: decode(events, **options)


@dataclass(frozen=True)
class Result:
    """What a session would keep of an answer."""

    text: str
    reasoning: str
    refusal: bool
    tool_calls: list[dict[str, Any]]
    usage: dict[str, Any] | None
    outcome: str
    error: str
    message: Message


def result_of(deltas: Iterable[Delta]) -> Result:
    """Pull an answer to its end, as a turn does."""
    reply, error, refused = Reply(), None, False
    try:
        for delta in deltas:
            assert reply.finished is None, f"{delta} came after Finished"
            reply.add(delta)
            refused = refused or isinstance(delta, RefusalDelta)
    except ProviderError as raised:
        error = raised
    ending = settle(reply, error)
    parts = (*reply.texts(), *reply.calls)
    words = [part.text for part in parts if isinstance(part, Text | Refusal)]
    thoughts = [part.text for part in reply.texts() if not isinstance(part, Text | Refusal)]
    finished = reply.finished or Finished("stop")
    return Result(
        "".join(words),
        "".join(thoughts),
        refused or finished.reason == "refusal",
        [
            {"id": call.id, "name": call.name, "arguments": call.parsed}
            for call in reply.calls
            if call.parsed is not None
        ],
        asdict(reply.usage) if reply.usage else None,
        ending.outcome,
        ending.error.message if ending.error else "",
        Message("assistant", parts, finished.meta),
    )


def in_memory(transcript: Transcript, chunks: Iterable[bytes], **options: Any) -> Result:
    decode = decoder(transcript.dialect, **(transcript.options | options))
    return result_of(decode(read_events(chunks)))


def sizes(transcript: Transcript) -> Sequence[int]:
    """Of the pieces that it is fed in; one that is huge is spared the smallest."""
    whole = len(transcript.body) or 1
    return (1, 2, 3, 7, 64, 1024, whole) if whole < 100_000 else (1024, 4096, whole)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def in_chunks(transcript: Transcript, size: int) -> bytes:
    """The whole HTTP response, its body in chunks of that size."""
    headers = "".join(f"{name}: {value}\r\n" for name, value in transcript.headers.items())
    head = f"HTTP/1.1 {transcript.status} X\r\n{headers}transfer-encoding: chunked\r\n\r\n".encode()
    return b"".join(
        [
            head,
            *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces(transcript.body, size)),
            b"0\r\n\r\n",
        ]
    )


def cut_everywhere(transcript: Transcript) -> Iterator[tuple[int, Result]]:
    """What comes of the first n bytes, for each n, where they just end and where the connection breaks.

    Many cuts give the same events; what comes of those is settled once.
    """
    decode, body = decoder(transcript.dialect, **transcript.options), transcript.body
    step = 1 if len(body) < 100_000 else 9_973
    reader, events = Reader(), []
    seen: dict[object, Result] = {}
    for cut in range(0, len(body), step):
        pending, error = _pending(reader, body[:cut])
        for last, raised in ((pending, error), ([], BROKE)):
            key = (len(events), tuple(last), str(raised))
            if key not in seen:
                seen[key] = result_of(decode(_raising(events + last, raised)))
            yield cut, seen[key]
        events += reader.feed(body[cut : cut + step])


def _pending(reader: Reader, body: bytes) -> tuple[list[tuple[str, str]], ProviderError | None]:
    """What a plain end after these bytes adds to the events so far, without touching the reader."""
    if reader.is_stream:
        twin = copy(reader)
        twin._open, twin._data = bytearray(reader._open), list(reader._data)
        return twin.close(), None
    try:
        return list(read_events([body])), None
    except ProviderError as error:
        return [], error


def _raising(items: Iterable[_T], error: ProviderError | None) -> Iterator[_T]:
    yield from items
    if error is not None:
        raise error


def is_prefix(text: str, whole: str) -> bool:
    """A tag that was cut is given up as text, a character that was cut as U+FFFD."""
    return whole.startswith(text.rstrip("\ufffd")) or "<think>".startswith(text.strip())


def check(result: Result, transcript: Transcript) -> None:
    """Compare with the sidecar, all fields at once."""
    expect = transcript.expect
    fields = ("text", "reasoning", "refusal", "tool_calls", "usage", "outcome")
    got = {field: getattr(result, field) for field in fields}
    assert got == {field: expect[field] for field in fields}, result.error
    if expect["error_contains"]:
        assert expect["error_contains"] in result.error
        assert len(result.error) < 300
    else:
        assert not result.error
