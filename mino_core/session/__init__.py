"""One conversation: a prompt becomes events, and history keeps what was truly said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mino_core import interrupts
from mino_core.errors import UsageError
from mino_core.faults import let_go
from mino_core.records import Conversation, fold, new_head
from mino_core.records.messages import usage_to_json
from mino_core.secret import mask
from mino_core.types import (
    Input,
    Level,
    Message,
    Notice,
    Part,
    Provider,
    Request,
    Text,
    Tool,
    TurnEnded,
    Usage,
)

from .display import Display
from .journal import Copies, Journal

if TYPE_CHECKING:
    from mino_core.config import Config
    from mino_core.plugins import Host
    from mino_core.plugins.offers import Offer
    from mino_core.screen import Screen

_GO_ON = "Continue exactly where you stopped."


class Session:
    """What commands, observers and tools get: the conversation and all that may be done with it.

    `provider` is the name of what answers, `model` its model, `turn` the number of the last turn
    (0 before the first), `last` how that turn ended.
    """

    def __init__(self, host: Host, display: Display) -> None:
        self.host = host
        self.display = display
        self.config: Config = host.config
        self.input: Input | None = None
        self.last: TurnEnded | None = None
        self.leaving = False
        #: The tools of the running turn, and the names of those that need no more asking.
        self.tools: Mapping[str, Tool] = {}
        self.allowed: set[tuple[str, str]] = set()
        #: What answers; what each request carries along; why this provider was chosen, in words.
        self.answerer: Provider
        self.options: Mapping[str, Any] = {}
        self.provider = self.model = self.why = ""
        self._choose(None)
        self.journal = self._begin()
        host.report = lambda fault: self.notify(str(fault), "warning")

    # -- what it is ----------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The conversation's ULID."""
        return self.journal.id

    @property
    def turn(self) -> int:
        """The number of the last turn, 0 before the first."""
        return self.journal.latest

    @property
    def conversation(self) -> Conversation:
        """The turns that stand."""
        return self.journal.conversation

    @property
    def messages(self) -> tuple[Message, ...]:
        """What would be sent if a question were asked now."""
        return self.conversation.messages(self.config.send)

    @property
    def usage(self) -> Usage | None:
        """The tokens of the whole conversation so far; None where nothing was reported."""
        conversation = self.conversation
        if conversation.head is None:  # what was cleared was not read, but it was paid for
            conversation = fold(self.journal.records())
        return conversation.usage

    @property
    def title(self) -> str:
        """The conversation's title, empty where it has none."""
        return self.journal.title

    @property
    def screen(self) -> Screen:
        """The screen that the renderer draws on."""
        return self.display.screen

    @property
    def max_rounds(self) -> int:
        """How many requests one turn may take."""
        return self.config.session.max_rounds

    def commands(self) -> Mapping[str, Offer]:
        """The slash commands that exist now, by name."""
        return self.host.commands()

    # -- what may be done ----------------------------------------------------------------------

    def ask(self, prompt: str, attachments: Sequence[Part] = ()) -> TurnEnded:
        """Keep a question, durably, then get it answered."""
        turn = self.turn + 1
        self.journal.said(turn, Message("user", (Text(prompt), *attachments)))
        return self._run(turn, prompt)

    def retry(self) -> TurnEnded:
        """Ask the last question again, in place of its answer. UsageError where there is none."""
        turns = self.conversation.turns
        if not turns:
            raise UsageError("there is no question to ask again")
        last = turns[-1]
        if not any(message.role == "user" for message in last.messages):
            raise UsageError("the last question is damaged where it is kept; ask it once more in words")
        self.journal.note("retried", turn=last.n)
        return self._run(last.n, last.question)

    def proceed(self) -> TurnEnded:
        """Ask for more of the last answer. UsageError where there is none."""
        if not self.conversation.turns:
            raise UsageError("there is no answer to continue")
        return self.ask(_GO_ON)

    def clear(self) -> None:
        """Forget the conversation so far: nothing of it is sent again."""
        self.journal.note("cleared")
        self.last = None

    def undo(self, n: int = 1) -> int:
        """Drop the last `n` turns; returns how many were dropped."""
        n = min(n, len(self.conversation.turns))
        if n:
            self.journal.note("undone", turns=n)
        return n

    def rename(self, title: str) -> None:
        """Give the conversation a title."""
        self.journal.note("titled", title=title)

    def compact(self, summary: str, keep: int, usage: Usage | None = None) -> int:
        """Let a summary stand in place of all but the last `keep` turns; returns of how many.

        `usage` is what making the summary took.
        """
        turns = self.conversation.turns
        old = turns[: len(turns) - keep]
        ends = [name for turn in old for name in turn.records]
        if not ends:
            return 0
        spent = {"usage": usage_to_json(usage)} if usage else {}
        self.journal.note("compacted", summary=summary, upto=ends[-1], **spent)
        return len(old)

    def consult(self, messages: Sequence[Message]) -> tuple[str, Usage | None]:
        """Ask the model something beside the conversation; its words, and the tokens that took.

        Nothing is shown or kept. ProviderError where the answer did not complete.
        """
        from .consulting import consult

        return consult(self, messages)

    def fork(self) -> str:
        """Go on in a new conversation that begins with a copy of this one; returns its id."""
        from .copies import of_records

        records = list(self.journal.records())
        parent = {"conversation": self.id, "record": records[-1].get("id", "")}
        self.journal.close()
        self.journal = self._begin(of_records(records), parent=parent)
        return self.id

    def resume(self, id: str) -> None:
        """Go on in a kept conversation; in a copy of it where it cannot be written.

        Of what was to be a copy and did not become a whole one, the original goes on. HistoryError where
        it cannot even be read; then this one goes on.
        """
        from .copies import to_go_on_with

        former = self.journal
        self.journal = to_go_on_with(id, former, self.host.history, self._warn)
        if self.journal is not former:
            former.close()
            self.last = None

    def choose(self, prefix: str = "") -> str | None:
        """Let the user choose one of the kept conversations, all whose id begins with `prefix`; its id.

        None for no choice. HistoryError where there is none, or several and nobody to choose.
        """
        from .choosing import choose

        return choose(self, prefix)

    def use(self, provider: str | None = None, model: str | None = None) -> None:
        """Let another provider or another model answer from here on. ConfigError where it cannot."""
        if provider is not None:
            former = self.answerer
            self._choose(provider, model)
            self._let_go(former)
        elif model is not None:
            self.model = model

    def warm(self) -> None:
        """Do now what the first question would wait for; an input calls it while a person types."""
        from . import turn  # noqa: F401 (what a turn needs is imported here, not on the way to the prompt)

        self.display.warm()
        self.journal.prepare()
        try:
            if warm := getattr(self.answerer, "warm", None):
                warm()
        except Exception as error:  # noqa: BLE001 (a provider may be a plugin's)
            self._warn(f"{self.provider} could not be prepared: {error}")

    def leave(self) -> None:
        """End the session when the current command is done."""
        self.leaving = True

    def notify(self, text: str, level: Level = "info", *, verbatim: bool = False) -> None:
        """Tell the user one thing, beside the answer and above the line that is being edited.

        `verbatim` leaves its lines as they are; else they are wrapped at words.
        """
        if not isinstance(text, str):  # of a plugin, whose fault it is, and not the renderer's
            raise TypeError(f"a notice is text, not {type(text).__name__}")
        notice = Notice(level, mask(text), verbatim)
        with interrupts.held():
            if above := getattr(self.input, "above", None):
                above(lambda: self.display.show(notice))
            else:
                self.display.show(notice)

    def question(self, text: str, choices: Sequence[str]) -> str | None:
        """Ask the user; None where nobody answers. No clock runs meanwhile."""
        if self.input is None:
            return None
        with interrupts.unlimited(), interrupts.armed():
            try:
                return self.input.ask(text, choices)
            except KeyboardInterrupt as stop:  # perhaps a key's, which no signal has marked
                raise interrupts.users(stop) from None

    def close(self) -> None:
        """Let the log, the provider and the renderer go."""
        try:
            self.journal.close()
            self._let_go(self.answerer)
        finally:
            self.display.close()

    # -- what a turn needs ---------------------------------------------------------------------

    def request(self, turn: int) -> Request:
        """The next request of a turn, as the plugins left it."""
        with interrupts.armed():  # a long conversation is read now
            _ = self.journal.conversation
        request = Request(
            self.model,
            self.config.instructions,
            self.conversation.messages(self.config.send, turn),
            tuple(self.tools.values()),
            self.options,
        )
        return self.host.request(request, self)

    def _run(self, turn: int, prompt: str) -> TurnEnded:
        from .turn import RunningTurn

        self.tools = self.host.tools()
        self.display.observers = self.host.observers(self)
        with self.host.watching():
            self.last = RunningTurn(self, turn, prompt).run()
        return self.last

    # -- making --------------------------------------------------------------------------------

    def _choose(self, name: str | None, model: str | None = None) -> None:
        choice = self.config.provider(name, self.host.offers("mino_providers"))
        answerer: Provider = self.host.make("mino_providers", choice.kind, choice.settings)
        model = model or choice.model or str(getattr(answerer, "model", ""))
        if not model:
            raise UsageError(
                f"no model is known for {choice.name}; name one with --model, or in config.toml;"
                f" `mino models {choice.name}` lists them"
            )
        self.answerer, self.provider, self.model = answerer, choice.name, model
        self.options, self.why = choice.options, choice.why

    def _begin(self, copies: Copies | None = None, **more: object) -> Journal:
        return Journal(lambda: self.host.history, new_head(**more), self._warn, copies=copies)

    def _let_go(self, provider: Provider) -> None:
        if trouble := let_go(provider, self.config.plugins.limit):
            self._warn(f"the provider failed to close: {trouble}")

    def _warn(self, text: str) -> None:
        self.notify(text, "warning")
