"""Every transcript comes out as its sidecar says, however its bytes are cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from mino_core import Message, ProviderError, Request, Text
from mino_core.records.messages import message_from_json, message_to_json
from mino_core.testing import Server
from wire_harness import TERMINALS, Transcript, check, in_memory, pieces, provider, result_of, transcripts

ALL = transcripts()
STREAMS = [transcript for transcript in ALL if transcript.status == 200]
WORDS = Message("user", (Text("hi"),))
REQUEST = Request("demo", "", (WORDS,))

all_of_them = pytest.mark.parametrize("transcript", ALL, ids=lambda transcript: transcript.name)
streams = pytest.mark.parametrize("transcript", STREAMS, ids=lambda transcript: transcript.name)


def test_there_are_transcripts_of_every_dialect() -> None:
    assert {transcript.dialect for transcript in ALL} == {"chat", "messages", "responses"}


@streams
def test_an_answer_is_the_same_however_its_bytes_are_cut(transcript: Transcript) -> None:
    sizes = (1, 2, 3, 7, 64, 1024, len(transcript.body) or 1)
    for size in sizes if len(transcript.body) < 100_000 else (1, 4096, len(transcript.body)):
        check(in_memory(transcript, pieces(transcript.body, size)), transcript)


@pytest.mark.parametrize("size", [7, 0], ids=["7 bytes", "whole"])
@all_of_them
def test_an_answer_is_the_same_over_a_socket(transcript: Transcript, size: int) -> None:
    body = transcript.body
    if size and len(body) > 20_000:
        size = 4096
    with Server() as server:
        server.reply(*pieces(body, size or len(body)), status=transcript.status, headers=transcript.headers)
        made = provider(transcript.dialect, server.url, **transcript.options)
        with closing(made):
            check(result_of(made.stream(REQUEST)), transcript)


@streams
def test_a_cut_answer_is_never_complete_and_its_text_is_a_prefix(transcript: Transcript) -> None:
    body, expect = transcript.body, transcript.expect
    terminal = re.search(TERMINALS[transcript.dialect], body)
    safe = terminal.start() if terminal else len(body) + 1
    for cut in _cuts(len(body)):
        for is_broken in (False, True):
            result = in_memory(transcript, _broken_off(body[:cut], is_broken))
            if cut <= safe:
                assert result.outcome != "completed", cut
            assert _is_prefix(result.text, expect["text"]), cut


@pytest.mark.parametrize(
    "transcript",
    [one for one in ALL if "lenient_option" in one.expect],
    ids=lambda transcript: transcript.name,
)
def test_a_setting_can_make_mino_lenient(transcript: Transcript) -> None:
    option = {transcript.expect["lenient_option"]: True}
    result = in_memory(transcript, [transcript.body], **option)
    assert result.outcome == transcript.expect["lenient_outcome"]


@pytest.mark.parametrize(
    "transcript", [one for one in ALL if one.expect.get("replay")], ids=lambda transcript: transcript.name
)
def test_the_next_request_echoes_what_the_server_wants_back(transcript: Transcript) -> None:
    with Server() as server:
        server.reply(transcript.body)
        server.reply(transcript.body)
        made = provider(transcript.dialect, server.url)
        with closing(made):
            answer = result_of(made.stream(REQUEST)).message
            answer = message_from_json(json.loads(json.dumps(message_to_json(answer))))
            result_of(made.stream(Request("demo", "", (WORDS, answer, WORDS))))
        sent = server.requests[1].json
    for item in transcript.expect["replay"]:
        assert item in list(_objects(sent)), json.dumps(sent)


def _cuts(size: int) -> Iterator[int]:
    """Every cut; of a long body some, and all near its end."""
    near = max(0, size - 250)
    yield from range(0, near, 1 if size < 2_000 else 5 if size < 20_000 else 9_973)
    yield from range(near, size)


def _broken_off(body: bytes, is_broken: bool) -> Iterator[bytes]:
    yield body
    if is_broken:
        raise ProviderError("stream", "the connection broke", 200)


def _is_prefix(text: str, whole: str) -> bool:
    """A tag that was cut is given up as text, a character that was cut as U+FFFD."""
    return whole.startswith(text.rstrip("\ufffd")) or "<think>".startswith(text.strip())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    match value:
        case dict():
            yield value
            for inner in value.values():
                yield from _objects(inner)
        case list():
            for inner in value:
                yield from _objects(inner)
