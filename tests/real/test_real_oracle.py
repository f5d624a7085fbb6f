"""The official SDKs as an oracle: the same text and the same calls as ours, wherever they are right.

Where they are not, the table says why. An entry that stopped being true fails, so that the table
stays as it is measured.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mino_core.testing import Received, Server
from mino_core.testing.steps import Reply
from real_servers import SDKS, python_with
from wire.wire_harness import Transcript, transcripts

pytestmark = pytest.mark.real

ALL = transcripts()
CLIENT, CHECK = Path(__file__).with_name("sdk_client.py"), Path(__file__).with_name("sdk_bodies.py")
BODIES = Path(__file__).parents[1] / "plugins/bodies"
WITHOUT_IDS = "responses-without-item-ids"  #: for proxies that take no ids of reasoning; the types want them

#: What the SDKs do to streams that break the protocol, and to which.
WRONG = {
    "an answer that was cut off is returned like any other": """
        chat-done-unfinished-call-trusted chat-done-without-finish chat-eof-mid chat-eof-mid-event
        chat-finish-empty-string-only chat-finish-null-word-only chat-finish-other-choice-only
        chat-indented-data
        chat-json-line-instead-of-event chat-pending-event-half chat-reasoning-eof-after-done
        chat-reasoning-only-eof chat-role-only-then-eof chat-tool-done-mid chat-tool-eof-mid
        messages-done-without-reason messages-eof-after-whole-tool messages-eof-before-anything
        messages-eof-in-thinking messages-eof-in-tool messages-eof-mid messages-pending-half
        messages-reason-empty-string messages-stop-without-reason responses-completed-cut-json
        responses-done-without-completed responses-early-skeleton responses-eof-before-completed
        responses-eof-in-arguments responses-eof-in-reasoning responses-eof-mid-event
    """,
    "an answer that failed is returned like any other, its error unseen": """
        chat-error-event-with-choices chat-error-in-choice chat-error-object chat-error-vllm-object
        chat-groq-error messages-error-data-only messages-error-openai-shape messages-error-string
        responses-completed-with-error responses-error-event responses-error-event-name
        responses-error-flat-code responses-error-llama
    """,
    "an end that means failure, or that nobody knows, is returned like any other": """
        chat-abort chat-deepseek-insufficient chat-finish-error chat-finish-error-then-stop
        chat-finish-not-a-string chat-network-error chat-unknown-finish chat-unknown-finish-after-stop
        messages-reason-not-a-string messages-unknown-stop-reason responses-cancelled
        responses-cancelled-name-only responses-completed-status-failed responses-done-status-failed
        responses-failed responses-failed-after-call responses-failed-code-only
        responses-failed-then-completed responses-failed-without-error responses-unknown-status
    """,
    "an answer with nothing in it is returned like any other": """
        chat-blank-answer chat-empty-completion chat-think-unclosed messages-blank-answer
        messages-empty-end-turn messages-redacted-only responses-completed-blank
        responses-completed-nothing responses-reasoning-only
    """,
    "a body that is no stream is an assertion, or an answer with nothing in it": """
        chat-message-in-a-stream chat-plain-json-body chat-plain-json-length chat-plain-json-pretty
        chat-plain-json-reasoning chat-plain-json-tools chat-reasoning-alone messages-plain-json-body
        messages-plain-json-max-tokens messages-plain-json-tools responses-html-200
        responses-json-error-200 responses-plain-json-background responses-plain-json-body
        responses-plain-json-failed responses-plain-json-incomplete responses-plain-json-tools
    """,
    "an event without data is taken for bad JSON": """
        chat-control-events chat-event-without-data responses-control-events
    """,
    "the event behind a byte order mark is lost, or the mark breaks the stream": """
        chat-bom-crlf-multidata-nospace chat-bom-inside messages-bom-crlf-nospace
    """,
    "events are known by their `event:` line alone": "messages-data-only",
    "a message without its first event is an assertion": "messages-llama-cpp",
    "usage that is missing in the first event breaks the last one": """
        messages-usage-absent messages-usage-null messages-usage-only-in-delta
    """,
    "an index that is missing, or does not begin at 0, is a crash": """
        chat-choice-without-index chat-gemini-tools chat-tool-index-one
        chat-tool-interleaved-one-chunk chat-tool-no-index chat-tool-no-index-interleaved
        chat-tool-null-index chat-tool-orphan-fragment messages-no-index responses-llama-cpp
    """,
    "calls or blocks under one index run into each other": """
        chat-tool-same-index chat-tool-same-index-fragments messages-same-index
    """,
    "what is repeated in every piece is put together: ids, names": """
        chat-tool-repeated-id chat-tool-repeated-name
    """,
    "content as a list is a crash": """
        chat-content-list chat-content-list-odd chat-mistral-thinking
    """,
    "a choice without a delta is a crash": """
        chat-azure-filter-chunks chat-choices-null chat-finish-bare-choice chat-finish-null-delta
    """,
    "arguments that are no text stay what they are: null": """
        chat-tool-never-arguments chat-tool-null-arguments messages-call-without-input
        messages-llama-cpp-thinking
    """,
    "the end of another choice is an exception": "chat-choices-swapped chat-other-choice",
    "halves of a character stay apart": "chat-surrogate-split responses-surrogate-split",
    "half a character stays half, and cannot be encoded": """
        chat-surrogate-across-kinds chat-surrogate-alone chat-surrogates-swapped
        messages-surrogate-across-kinds messages-surrogate-arguments
    """,
    "what stands only in closing events is not said": """
        responses-done-only responses-snapshot-mixed responses-snapshot-only responses-two-messages
    """,
    "an item without all of its closing events, or with other words in them, is an exception": """
        responses-arguments-deltas-only responses-arguments-done-only
        responses-arguments-without-index responses-calls-interleaved responses-done-extends
        responses-item-ids-change responses-refusal-done-only
    """,
    "`response.done` is no end": "responses-done-alias-incomplete",
    "what follows the end is still read": "messages-after-stop responses-duplicate-completed",
    "reasoning between tags is left in the answer, as it is not asked to take it out": """
        chat-think-cut-in-close chat-think-every-letter chat-think-open chat-think-tags
        chat-think-unclosed-length
    """,
    "words in the start of a block are not said": "messages-text-in-start",
    "an early end is undone by what follows it": "chat-finish-length-then-stop messages-reason-then-null",
    "an early end that only its details tell is not looked for": """
        responses-completed-cut-details responses-null-status-details
    """,
    "a call in the form from before there were tools is not taken for one": "chat-function-call-legacy",
    "bytes that are no UTF-8 are a crash": """
        chat-broken-utf8 messages-broken-utf8 responses-broken-utf8
    """,
    "`[DONE]` among blanks is bad JSON; an early one is the end": """
        chat-done-with-blanks responses-done-first
    """,
    "an event that is no object, or holds something else than it should, is a crash": """
        chat-nan-in-json chat-odd-json-values messages-odd-values
    """,
    "a call without an id has none": "chat-tool-without-ids messages-call-without-id",
    "a call whose arguments are no JSON is handed on, as it is or without them": """
        chat-tool-arguments-broken chat-tool-broken-alone messages-call-broken-alone
        messages-call-cut-then-end responses-call-broken-alone
    """,
}
REASONS = {name: reason for reason, names in WRONG.items() for name in names.split()}


@pytest.fixture(scope="module")
def said(pytestconfig: pytest.Config) -> Iterator[dict[str, dict[str, Any]]]:
    """What the SDKs made of each transcript, by its name."""
    python = python_with(pytestconfig.cache, "sdks", *SDKS)
    served = {transcript.name: transcript for transcript in ALL}

    def serve(request: Received) -> Reply:
        transcript = served[request.path.split("/")[1]]
        return Reply((transcript.body,), transcript.status, transcript.headers)

    with Server() as server:
        server.answer(serve)
        done = subprocess.run(
            [str(python), "-W", "ignore", str(CLIENT), server.url],
            input="\n".join(served),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    yield {result["name"]: result for result in map(json.loads, done.stdout.splitlines())}


def is_right(transcript: Transcript, said: dict[str, Any]) -> bool:
    """Whether the SDK leaves its caller with what the stream said.

    A whole answer is its text and its calls. One that was stopped early is its text, and an end that
    says so. Anything else must not be returned at all.
    """
    expect = transcript.expect
    calls = [{"id": one, "name": name, "arguments": _parsed(text)} for one, name, text in said["calls"]]
    match expect["outcome"]:
        case "completed":
            return not said["raised"] and (said["text"], calls) == (expect["text"], expect["tool_calls"])
        case "incomplete":
            is_told = said["raised"] or said["end"] not in ("stop", "completed", "end_turn", None)
            return bool(is_told) and said["text"] == expect["text"]
    return bool(said["raised"])


def _parsed(arguments: object) -> object:
    try:
        return json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


@pytest.mark.parametrize("transcript", ALL, ids=lambda transcript: transcript.name)
def test_the_sdks_say_the_same_but_where_the_table_says_why(
    transcript: Transcript, said: dict[str, dict[str, Any]]
) -> None:
    reason = REASONS.get(transcript.name)
    if is_right(transcript, said[transcript.name]):
        assert reason is None, "the SDK is right now; take this out of the table"
    else:
        assert reason is not None, said[transcript.name]


def test_the_types_of_the_sdks_find_no_fault_in_a_body(pytestconfig: pytest.Config) -> None:
    done = subprocess.run(
        [str(python_with(pytestconfig.cache, "sdks", *SDKS)), str(CHECK)],
        input="\n".join(str(path) for path in BODIES.glob("*.json") if path.stem != WITHOUT_IDS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_every_transcript_of_the_table_is_there() -> None:
    assert set(REASONS) <= {transcript.name for transcript in ALL}
    assert len(REASONS) == sum(len(names.split()) for names in WRONG.values())
