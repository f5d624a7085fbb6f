"""What every provider promises, over a real connection."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from mino_core.errors import ProviderError
from mino_core.settings import Settings
from mino_core.types import (
    Delta,
    Finished,
    Provider,
    ReasoningDelta,
    RefusalDelta,
    Text,
    ToolCall,
    Usage,
)

from .deltas import finished, half, next_text, of, spoken, until_error
from .promises import promise, suite
from .questions import model, request, untidy, user, with_tools
from .said import Dialect, Said
from .server import Server
from .steps import CUT, HANG, RESET, Framing, Step
from .streams import error_event, split, stream
from .strict import said

_KEY = "sk-conformance-0123456789"
#: Seconds after which a provider that holds back what it has counts as broken.
_PATIENCE = 5.0
_LENGTH: dict[str, dict[str, str]] = {
    "chat": {"finish": "length"},
    "responses": {"finish": "incomplete", "reason": "max_output_tokens"},
    "messages": {"finish": "max_tokens"},
}
_FRAMINGS: tuple[Framing, ...] = ("chunked", "close")


@suite
class ProviderConformance:
    """Subclass it, say which dialect is spoken, and make the provider:

        class TestMine(ProviderConformance):
            dialect = "chat"

            def provider(self, settings):
                return Mine(settings)

    `settings` has `base_url`, `api_key` and what `extra` adds. For a dialect of your own override
    `wire` and leave the tests that do not apply with a `None` in their place.
    """

    dialect: Dialect
    extra: ClassVar[Mapping[str, object]] = {}

    def provider(self, settings: Settings) -> Provider:
        """The provider to test."""
        raise NotImplementedError

    def wire(self, *items: Said | Step, **how: Any) -> list[Step]:
        """A streamed answer as this provider's server sends it."""
        return stream(self.dialect, *items, **how)

    # -- streaming -----------------------------------------------------------------------------

    def test_the_first_delta_comes_before_the_rest_is_sent(self) -> None:
        gate = threading.Event()
        with self._serving() as (server, provider):
            server.reply(*self.wire("first", gate, "second"))
            deltas = provider.stream(request())
            first = next_text(deltas)
            promise(
                first == "first",
                f"the text that the server had sent was not yielded while more was to come: {first!r}",
                "an answer is read while it is written; a provider that collects looks frozen.",
            )
            gate.set()
            promise(
                spoken(deltas) == "second",
                "the text after the first delta was lost or doubled",
                "the user reads the deltas, nothing else.",
            )

    def test_finished_comes_once_and_last(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello", " world"))
            deltas = list(provider.stream(request()))
        promise(
            of(Finished, deltas) == deltas[-1:] and deltas[-1:] == [finished(deltas)],
            f"Finished must come exactly once, as the last delta, but there was {deltas}",
            "a turn is completed only if the server's own end of the answer arrived.",
        )
        promise(
            spoken(deltas) == "Hello world" and finished(deltas).reason == "stop",
            f"a whole answer must give its text and the reason `stop`: {deltas}",
            "the outcome, the exit code and what is sent next depend on it.",
        )

    def test_no_cut_before_the_end_looks_finished(self) -> None:
        whole = self.wire("Hello", " world")
        before_end = len(self.wire("Hello", " world", finish=None))
        for framing in _FRAMINGS:
            for count in range(before_end + 1):
                broken = [b"", *whole[:count], *half(whole[count])]
                with self._serving() as (server, provider):
                    server.reply(*broken, CUT, framing=framing)
                    deltas, error = until_error(provider.stream(request()))
                promise(
                    not of(Finished, deltas),
                    f"the connection was cut after {count} of {len(whole)} events ({framing}), yet: {deltas}",
                    "half an answer that is taken for a whole one misleads without a trace.",
                )
                self._is_ours(error)

    def test_a_reset_keeps_what_came_and_has_no_end(self) -> None:
        gate = threading.Event()
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello", finish=None), gate, RESET)
            deltas = provider.stream(request())
            first = next_text(deltas)
            gate.set()
            rest, error = until_error(deltas)
        promise(
            first == "Hello" and not of(Finished, rest),
            f"after a reset the text so far must stay and no Finished come: {first!r}, {rest}",
            "an answer that broke off is kept as far as it came, and said to be interrupted.",
        )
        self._is_ours(error)

    def test_closing_the_stream_closes_the_connection(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello", finish=None), HANG)
            deltas = provider.stream(request())
            next_text(deltas)
            close = getattr(deltas, "close", None)
            promise(close, "the stream has no close()", "a cancel is the closing of the stream.")
            if close:
                close()
            _closed(server, "the stream was closed, but its connection stays open")

    def test_ctrl_c_closes_the_connection_and_leaves_the_provider_usable(self) -> None:
        main = threading.get_ident()
        with self._serving() as (server, provider):
            server.reply(
                *self.wire("Hello", finish=None), lambda: signal.pthread_kill(main, signal.SIGINT), HANG
            )
            server.reply(*self.wire("again"))
            deltas: Iterator[Delta] = iter(())
            came: BaseException | None = None
            before = signal.signal(
                signal.SIGINT, signal.default_int_handler
            )  # in the background it is ignored
            try:
                deltas = provider.stream(request())
                for _ in deltas:
                    pass
            except BaseException as error:  # noqa: BLE001 (what comes is what is judged)
                came = error
            finally:
                signal.signal(signal.SIGINT, before)
            promise(
                type(came) is KeyboardInterrupt,
                f"Ctrl-C while waiting must come out of the stream as KeyboardInterrupt, not as {came!r}",
                "a provider that swallows it cannot be cancelled.",
            )
            if close := getattr(deltas, "close", None):
                close()
            _closed(server, "after Ctrl-C the connection stays open")
            promise(
                spoken(provider.stream(request())) == "again",
                "after a cancel the next answer did not come",
                "one cancel must not cost the session.",
            )

    def test_letters_survive_any_cut(self) -> None:
        text = "é 漢字 👩‍🚀 \u2028 \u0085 \x0b end"
        with self._serving() as (server, provider):
            server.reply(*split(self.wire(text, "😀"), 1))
            got = spoken(provider.stream(request()))
        promise(
            got == text + "😀",
            f"sent {text + '😀'!r} byte by byte, got {got!r}",
            "packets end anywhere, also inside a letter; and U+2028 ends no line of the stream.",
        )

    def test_half_letters_never_reach_the_answer(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("a\ud83d", "\ude00b\ud83d"))
            got = spoken(provider.stream(request()))
        promise(
            got == "a😀b\ufffd",
            f"a surrogate pair in two deltas, then half of one, gave {got!r}",
            "half a pair cannot be printed, stored or sent again: one would spoil the conversation.",
        )

    # -- what is reported ----------------------------------------------------------------------

    def test_usage_is_what_the_server_counted(self) -> None:
        counted = Usage(input_tokens=11, cache_read_tokens=4, output_tokens=7)
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello", usage=counted))
            last = (of(Usage, list(provider.stream(request()))) or [Usage()])[-1]
        got = (last.input_tokens, last.cache_read_tokens, last.output_tokens)
        promise(
            got == (11, 4, 7) and last.total_tokens in (18, None),
            f"of 11 input tokens, 4 of them cached, and 7 output tokens, this was reported: {last}",
            "people pay by these numbers.",
        )

    def test_what_was_not_counted_is_none(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello"))
            usages = of(Usage, list(provider.stream(request())))
        promise(
            all(usage == Usage() for usage in usages),
            f"the server reported no usage, yet: {usages}",
            "None means not reported; a 0 would be a lie.",
        )

    def test_reasoning_is_not_part_of_the_answer(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire(ReasoningDelta("let me "), ReasoningDelta("see"), "Hello"))
            deltas = list(provider.stream(request()))
        promise(
            spoken(deltas) == "Hello" and "".join(d.text for d in of(ReasoningDelta, deltas)) == "let me see",
            f"reasoning and text were mixed up: {deltas}",
            "thoughts are not sent back as if they had been said.",
        )

    def test_a_refusal_is_told_apart(self) -> None:
        if self.dialect == "messages":
            steps = self.wire("I would rather not.", finish="refusal")
        else:
            steps = self.wire(RefusalDelta("I would "), RefusalDelta("rather not."))
        with self._serving() as (server, provider):
            server.reply(*steps)
            deltas = list(provider.stream(request()))
        refused = "".join(delta.text for delta in of(RefusalDelta, deltas))
        promise(
            refused == "I would rather not." or finished(deltas).reason == "refusal",
            f"the model declined, and this came: {deltas}",
            "the user must see that it is a refusal and not an answer.",
        )

    def test_an_early_stop_says_so(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hel", **_LENGTH[self.dialect]))
            deltas = list(provider.stream(request()))
        promise(
            finished(deltas).reason == "length" and spoken(deltas) == "Hel",
            f"the token limit cut the answer, and this came: {deltas}",
            "the answer is incomplete, and /continue can go on from there.",
        )

    def test_tool_calls_come_whole(self) -> None:
        calls = [ToolCall("call_1", "look", '{"path": "a b"}'), ToolCall("call_2", "look", '{"path":"é"}')]
        with self._serving() as (server, provider):
            server.reply(*self.wire("Looking.", *calls))
            deltas = list(provider.stream(request()))
        promise(
            of(ToolCall, deltas) == calls and finished(deltas).reason == "tool_calls",
            f"two tool calls were asked for, and this came: {deltas}",
            "a call runs with exactly the arguments that the model gave.",
        )

    # -- failures ------------------------------------------------------------------------------

    def test_an_http_error_says_what_the_server_said(self) -> None:
        for status in (400, 401, 429, 500):
            with self._serving() as (server, provider):
                server.fail(status, f"words {_KEY} of {status}", self.dialect, {"retry-after": "3"})
                _, error = until_error(provider.stream(request()))
            promise(
                isinstance(error, ProviderError) and error.status == status and f"of {status}" in str(error),
                f"HTTP {status} must raise a ProviderError with the status and the words: {error!r}",
                "the server's sentence is what helps the user.",
            )
            promise(
                _KEY not in str(error), f"the key stands in the error: {error}", "errors are pasted around."
            )
            if isinstance(error, ProviderError) and status in (401, 429):
                right = error.kind == "auth" if status == 401 else error.retry_after == 3
                promise(
                    right,
                    f"HTTP {status} gave kind {error.kind!r}, retry after {error.retry_after}",
                    "a wrong key is told as such (kind `auth`), and `retry-after` is a hint to the user.",
                )

    def test_a_server_that_is_not_there_is_a_connect_error(self) -> None:
        with Server() as server:
            pass
        provider = self.provider(self._settings(server.url))
        _, error = until_error(provider.stream(request()))
        _close(provider)
        promise(
            isinstance(error, ProviderError) and error.kind == "connect",
            f"nobody listens, and this was raised: {error!r}",
            "kind `connect` makes mino name the address and what to check.",
        )

    def test_an_error_in_the_stream_keeps_the_text_before_it(self) -> None:
        with self._serving() as (server, provider):
            server.reply(
                *self.wire("Hel", finish=None),
                error_event(self.dialect, "out of breath", "overloaded_error"),
                *([b"data: [DONE]\n\n"] if self.dialect == "chat" else []),
            )
            deltas, error = until_error(provider.stream(request()))
        promise(
            spoken(deltas) == "Hel" and not of(Finished, deltas),
            f"an error event after `Hel` gave {deltas}",
            "what was said stays; what failed is not completed.",
        )
        promise(
            isinstance(error, ProviderError) and "out of breath" in str(error),
            f"an error event must raise a ProviderError with the server's words, not {error!r}",
            "otherwise the user sees an answer that just stops.",
        )

    # -- what is sent --------------------------------------------------------------------------

    def test_a_strict_server_takes_any_conversation(self) -> None:
        for words in (untidy(), with_tools()):
            with self._serving(strict=self.dialect) as (server, provider):
                server.reply(*self.wire("fine"))
                deltas, error = until_error(provider.stream(words))
            promise(
                not server.refused and not error and spoken(deltas) == "fine",
                f"a strict server would refuse the request: {server.refused or error}",
                "a conversation must go on whatever happened in it: failed turns, blank answers, lost tools.",
            )
            sent = " ".join(said(server.requests[0].json))
            asked = [
                part.text
                for m in words.messages
                if m.role == "user"
                for part in m.parts
                if isinstance(part, Text)
            ]
            for text in filter(str.strip, asked):
                promise(
                    sent.count(text.rstrip("\ud83d")) == 1,
                    f"{text!r} stands {sent.count(text)} times in what was sent: {sent!r}",
                    "everything the user said is sent, once.",
                )

    def test_the_body_is_a_function_of_the_request(self) -> None:
        bodies = []
        for _ in range(2):
            with self._serving() as (server, provider):
                server.reply(*self.wire("fine"))
                list(provider.stream(with_tools()))
                bodies.append(server.requests[0].body)
        promise(
            bodies[0] == bodies[1],
            "the same request gave two different bodies",
            "a resumed conversation sends the same bytes, and providers cache by prefix.",
        )

    def test_each_request_begins_with_the_one_before(self) -> None:
        one, answer, two = user("first question"), model(Text("an answer")), user("second question")
        with self._serving() as (server, provider):
            for messages in ((one,), (one, answer, two)):
                server.reply(*self.wire("an answer"))
                list(provider.stream(request(*messages)))
            before, after = (list(said(received.json)) for received in server.requests)
        promise(
            after[: len(before)] == before and after[len(before) :] == ["an answer", "second question"],
            f"the first request said {before}, the second {after}",
            "providers cache by prefix: a changed beginning is paid for in full.",
        )

    # -- being a plugin ------------------------------------------------------------------------

    def test_the_factory_reads_every_key(self) -> None:
        settings = self._settings("http://127.0.0.1:9")
        _close(self.provider(settings))
        promise(
            not settings.unread(),
            f"the factory did not read {settings.unread()}",
            "a key that nobody reads is reported as a mistake; so every known key is read at once.",
        )

    def test_models_are_those_of_the_server(self) -> None:
        with self._serving(models=["model-a", "model-b"]) as (_, provider):
            if models := getattr(provider, "models", None):
                listed = list(models())
                promise(
                    listed == ["model-a", "model-b"],
                    f"the server offers model-a and model-b, models() says {listed}",
                    "`mino models` and completion show it.",
                )

    def test_a_provider_can_be_closed(self) -> None:
        with self._serving() as (server, provider):
            server.reply(*self.wire("Hello"))
            list(provider.stream(request()))
            if hasattr(provider, "close"):
                _close(provider)
                _closed(server, "close() leaves connections open")

    # -- help ----------------------------------------------------------------------------------

    def _settings(self, url: str) -> Settings:
        table = {"base_url": url, "api_key": _KEY, **self.extra}
        return Settings(table, path="providers.test", environ={})

    @contextmanager
    def _serving(self, **how: Any) -> Iterator[tuple[Server, Provider]]:
        with Server(patience=_PATIENCE, **how) as server:
            provider = self.provider(self._settings(server.url))
            try:
                yield server, provider
            finally:
                _close(provider)

    def _is_ours(self, error: BaseException | None) -> None:
        promise(
            error is None or isinstance(error, ProviderError),
            f"a broken connection must raise a ProviderError or end the stream, not raise {error!r}",
            "anything else counts as a fault of the plugin and not of the network.",
        )


def _close(provider: Provider) -> None:
    if close := getattr(provider, "close", None):
        close()


def _closed(server: Server, broken: str) -> None:
    try:
        server.wait_for_close()
    except AssertionError:
        promise(False, broken, "the server goes on writing, and the user goes on paying, until it is closed.")
