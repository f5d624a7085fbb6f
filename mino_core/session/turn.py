"""One turn: rounds of request and reply, until the model asks for nothing more.

The session pulls: a provider is a plain generator, and everything that happens is on this stack.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from mino_core import interrupts, transport
from mino_core.errors import ProviderError
from mino_core.faults import let_go
from mino_core.records.messages import sum_usage, usage_to_json
from mino_core.transport.foreign import fit
from mino_core.types import (
    Delta,
    Finished,
    Message,
    Notice,
    RoundStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)

from . import calls
from .display import IDLE
from .reply import Ending, Reply, fault, settle

if TYPE_CHECKING:
    from mino_core.session import Session

_T = TypeVar("_T")
#: How often a reply's text so far is kept while it comes, in seconds.
_PARTIAL_SECONDS = 1.0


class RunningTurn:
    """Asks until the question is answered. `run` keeps and shows everything on the way."""

    def __init__(self, session: Session, n: int, prompt: str) -> None:
        self.session = session
        self.n = n
        self.prompt = prompt
        self.usages: list[Usage | None] = []
        self.rounds = 0
        self._started = time.monotonic()
        self._first_token: float | None = None
        self._reply, self._is_kept = Reply(), True
        self._partial_at = self._started
        self._partial_size = 0
        self._heard = self._started
        self._idle_came = False
        self._idle_error: Exception | None = None

    def run(self) -> TurnEnded:
        """Run the turn to its end. What leaves is Terminated or a bug, and then all is kept."""
        with interrupts.held():  # a command that asks was armed
            return self._run()

    def _run(self) -> TurnEnded:
        session = self.session
        terminated: interrupts.Terminated | None = None
        try:
            session.display.show(TurnStarted(self.n, self.prompt))
            ending = self._rounds()
        except interrupts.Terminated as error:
            terminated, ending = error, self._cut()
        except KeyboardInterrupt:
            ending = self._cut()
        except BaseException:
            with interrupts.sealed():
                self._end(Ending("interrupted"))
            raise
        with interrupts.sealed():
            ended = self._end(ending)
        try:
            session.display.show(ended)
        except interrupts.Terminated as error:
            terminated = error
        except KeyboardInterrupt:
            pass  # it landed in an observer, too late for this turn
        interrupts.discard()
        if terminated is not None:
            raise terminated
        return ended

    def _cut(self) -> Ending:
        """How a turn ended that was cut: an answer that was already whole stays whole."""
        if self._reply.finished is not None and not self._reply.calls:
            return settle(self._reply, None)
        return Ending("cancelled")

    def _end(self, ending: Ending) -> TurnEnded:
        self._keep(ending)
        usage = sum_usage(self.usages)
        error: dict[str, object] = {"error": ending.error.as_json()} if ending.error else {}
        spent = {"usage": usage_to_json(usage)} if usage else {}
        self.session.journal.ended(self.n, outcome=ending.outcome, **error, **spent)
        return TurnEnded(
            self.n,
            ending.outcome,
            ending.error,
            usage,
            self.usages[-1] if self.usages else None,
            time.monotonic() - self._started,
            None if self._first_token is None else self._first_token - self._started,
            max(self.rounds, 1),
        )

    def _rounds(self) -> Ending:
        while self.rounds < self.session.max_rounds:
            self.rounds += 1
            self.session.display.show(RoundStarted(self.rounds))
            ending = self._round()
            if self._reply.is_paused:
                continue
            if ending.outcome != "completed" or not self._reply.calls:
                return ending
            calls.run(self.session, self.n, self._reply.calls)
        return Ending(
            "incomplete",
            ProviderError(
                "rounds", f"the turn reached its limit of {self.session.max_rounds} rounds; /continue goes on"
            ),
        )

    # -- one round -----------------------------------------------------------------------------

    def _round(self) -> Ending:
        self._reply, self._is_kept = Reply(), False
        self._partial_size = 0
        error: ProviderError | None = None
        try:
            self._pull()
        except ProviderError as failure:
            error = fit(failure)
        with interrupts.sealed():
            ending = settle(self._reply, error)
            self._keep(ending)
        return ending

    def _pull(self) -> None:
        """Pull deltas until the stream ends; each is shown before the next is asked for."""
        session, reply, show = self.session, self._reply, self.session.display.show
        request = session.request(self.n)
        stream: Iterator[Delta] | None = None
        self._idle_came = False
        self._heard = time.monotonic()
        transport.idle = self._on_idle
        try:
            with interrupts.every(1.0, self._tick):
                stream = self._ask(lambda: iter(session.answerer.stream(request)))
                while (delta := self._ask(lambda: next(stream, None))) is not None:
                    self._take(delta)
                    show(delta)
                    if reply.finished is not None:
                        self._finish(stream)
                        return
                    if not self._idle_came:
                        self._idle()
        finally:
            transport.idle = None
            if trouble := let_go(stream):
                session.notify(f"the provider {session.provider} failed to close: {trouble}", "warning")

    def _ask(self, act: Callable[[], _T]) -> _T:
        """Call into the provider, where Ctrl-C may land; its own faults become ProviderErrors."""
        try:
            with interrupts.armed():
                result = act()
        except ProviderError:
            raise
        except Exception as error:
            raise fault(self.session.provider, error) from error
        if self._idle_error is not None:
            raise self._idle_error
        return result

    def _take(self, delta: Delta) -> None:
        try:
            self._reply.add(delta)
        except TypeError as error:
            raise fault(self.session.provider, error) from error
        if self._first_token is None and not isinstance(delta, Usage | Finished):
            self._first_token = time.monotonic()

    def _finish(self, stream: Iterator[Delta]) -> None:
        """Let a finished stream come to its end, so that its connection can be used again."""
        try:
            with interrupts.armed():
                more = next(stream, None)
        except Exception:  # noqa: BLE001 (what happens after the terminal does not undo it)
            return
        if more is not None:
            self.session.display.show(
                Notice("warning", f"{self.session.provider} went on after it had finished")
            )

    def _on_idle(self) -> None:
        """What transport calls before a read that would block. Errors wait until `next` is back."""
        self._idle_came = True
        try:
            with interrupts.held():
                self._idle()
        except Exception as error:  # noqa: BLE001 (raised after `next`, never as the provider's)
            self._idle_error = error

    def _idle(self) -> None:
        self.session.display.show(IDLE)
        self._heard = time.monotonic()
        self._keep_partial(self._heard)

    def _tick(self) -> None:
        now = time.monotonic()
        self.session.display.tick(now - self._heard)
        self._keep_partial(now)  # a stream that never lets us wait is never idle

    # -- what is kept --------------------------------------------------------------------------

    def _keep_partial(self, now: float) -> None:
        """Keep the reply so far, once a second: a crash takes no more than that of it."""
        if now - self._partial_at < _PARTIAL_SECONDS or not self._reply.has_words:
            return
        size = self._reply.pieces
        if size > self._partial_size:
            self._partial_at, self._partial_size = now, size
            self.session.journal.partial(self.n, self._reply.texts())

    def _keep(self, ending: Ending) -> None:
        """Append the reply, once, if it said anything; calls only where they may be run."""
        if self._is_kept:
            return
        self._is_kept = True
        reply = self._reply
        self.usages.append(reply.usage)
        calls = tuple(reply.calls) if ending.outcome == "completed" else ()
        if not (reply.has_words or calls or reply.is_paused):
            return
        error = {"error": ending.error.as_json()} if ending.error else {}
        self.session.journal.said(
            self.n,
            Message("assistant", reply.texts() + calls, reply.finished.meta if reply.finished else {}),
            outcome=ending.outcome,
            usage=usage_to_json(reply.usage),
            provider=self.session.provider,
            model=self.session.model,
            **error,
        )
