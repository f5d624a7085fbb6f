"""Transcripts, their sidecars, and what comes of one: the same way as a session sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mino_core import Delta, Finished, Message, ProviderError, Refusal, RefusalDelta, Settings, Text
from mino_core.session.reply import Reply, settle
from mino_core.transport.sse import read_events

FOLDER = Path(__file__).parent / "transcripts"
#: Each dialect's package, module, and provider.
DIALECTS = {
    "chat": ("mino_openai", "chat", "Chat"),
    "responses": ("mino_openai", "responses", "Responses"),
    "messages": ("mino_anthropic", "messages", "Messages"),
}
#: What stands in a transcript at its semantic terminal, and nowhere before.
TERMINALS = {
    "chat": rb'"finish_reason":\s*"',
    "responses": rb'response\.completed|"status":\s*"completed"',
    "messages": rb'"stop_reason":\s*"',
}


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


def provider(dialect: str, base_url: str, **settings: Any) -> Any:
    package, module, name = DIALECTS[dialect]
    made = getattr(import_module(f"{package}.{module}"), name)
    return made(Settings({"base_url": base_url, **settings}, environ={}))


def decoder(dialect: str, **options: Any) -> Callable[[Iterable[tuple[str, str]]], Iterator[Delta]]:
    package, module, _ = DIALECTS[dialect]
    decode = import_module(f"{package}.{module}").decode
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


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size or 1):
        yield data[at : at + size]


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
