"""Every transcript comes out as its sidecar says, however its bytes are cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from mino_core import Message, Request, Text
from mino_core.records.messages import message_from_json, message_to_json
from mino_core.testing import Server
from wire_harness import (
    TERMINALS,
    Transcript,
    check,
    cut_everywhere,
    in_chunks,
    in_memory,
    is_prefix,
    pieces,
    provider,
    result_of,
    sizes,
    transcripts,
)

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
    for size in sizes(transcript):
        check(in_memory(transcript, pieces(transcript.body, size)), transcript)


@all_of_them
def test_an_answer_is_the_same_over_a_socket(transcript: Transcript) -> None:
    """In HTTP chunks of each size, which a client takes one by one however they arrive."""
    with Server() as server, closing(provider(transcript, server.url)) as made:
        for size in sizes(transcript):
            server.reply(in_chunks(transcript, size), framing="raw")
            check(result_of(made.stream(REQUEST)), transcript)


@streams
def test_a_cut_answer_is_never_complete_and_its_text_is_a_prefix(transcript: Transcript) -> None:
    """Cut at every byte, by a plain end and by a connection that breaks."""
    terminal = re.search(TERMINALS[transcript.dialect], transcript.body)
    is_one = transcript.body.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{")  # JSON that is cut is none
    safe = terminal.start() if terminal and not is_one else len(transcript.body.rstrip()) - 1
    for cut, result in cut_everywhere(transcript):
        if cut <= safe:
            assert result.outcome != "completed", cut
        assert is_prefix(result.text, transcript.expect["text"]), cut
        assert len(result.error) < 300, cut


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
        made = provider(transcript, server.url)
        with closing(made):
            answer = result_of(made.stream(REQUEST)).message
            answer = message_from_json(json.loads(json.dumps(message_to_json(answer))))
            result_of(made.stream(Request("demo", "", (WORDS, answer, WORDS))))
        sent = server.requests[1].json
    for item in transcript.expect["replay"]:
        assert item in list(_objects(sent)), json.dumps(sent)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    match value:
        case dict():
            yield value
            for inner in value.values():
                yield from _objects(inner)
        case list():
            for inner in value:
                yield from _objects(inner)
