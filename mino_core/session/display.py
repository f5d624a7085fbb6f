"""The one way to the screen and to the observers: every event passes here, in order.

Text is made safe for a terminal before the renderer sees it, so that no renderer can forget to.
A renderer that fails is replaced by a plain one, which shows what the other had not yet shown.
Observers come after the renderer, and see the text as it was said.
"""

from __future__ import annotations

from collections.abc import Callable

from mino_core import outlets
from mino_core.errors import MinoError, ProviderError
from mino_core.faults import let_go
from mino_core.screen import Sanitiser, Screen, sanitise
from mino_core.secret import mask
from mino_core.types import (
    Event,
    Finished,
    Idle,
    Notice,
    ReasoningDelta,
    RefusalDelta,
    Renderer,
    RoundStarted,
    SessionEnded,
    SessionStarted,
    TextDelta,
    ToolCall,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from mino_core.values import replace

IDLE = Idle()


class Display:
    """Shows events. `plain` makes the renderer that takes over from a faulty one."""

    def __init__(self, screen: Screen, renderer: Renderer, plain: Callable[[], Renderer]) -> None:
        self.screen = screen
        self.renderer = renderer
        #: What sees each event after the renderer; set anew for each turn.
        self.observers: list[Callable[[Event], None]] = []
        self._plain = plain
        self._is_plain = False
        self._early: list[Event] | None = []
        self._unshown: list[Event] = []
        self._safe: dict[type[TextDelta | ReasoningDelta | RefusalDelta], Sanitiser] = {
            TextDelta: Sanitiser(),
            ReasoningDelta: Sanitiser(),
            RefusalDelta: Sanitiser(),
        }
        #: For what the tool that runs writes: a CR and its LF may come in two pieces.
        self._safe_output = Sanitiser()

    def show(self, event: Event) -> None:
        """Show one event, then let the observers see it. What comes before SessionStarted follows it."""
        if self._early is not None:
            if not isinstance(event, SessionStarted):
                self._early.append(event)
                return
            early, self._early = self._early, None
            for one in (event, *early):
                self.show(one)
            return
        if outlets.waiting():
            self.show_strays()
        if not isinstance(event, Finished):
            self._draw(event)
        for observe in self.observers:
            observe(event)

    def show_strays(self) -> None:
        """Show what was printed past the renderer, as notices."""
        for line in list(outlets.drain()):  # showing one looks for more
            if line.strip():
                self.show(Notice("info", mask(line)))

    def tick(self, seconds: float) -> None:
        """Let the renderer show that mino waits, where it can."""
        tick = getattr(self.renderer, "tick", None)
        if tick is None:
            return
        try:
            tick(seconds)
        except Exception as error:  # noqa: BLE001 (a renderer may be a plugin's)
            self._take_over(error)

    def warm(self) -> None:
        """Let the renderer import what it needs, now that a person reads the prompt."""
        warm = getattr(self.renderer, "warm", None)
        if warm is None:
            return
        try:
            warm()
        except Exception as error:  # noqa: BLE001 (a renderer may be a plugin's)
            self._take_over(error)

    def close(self) -> None:
        """Let the renderer leave the terminal clean."""
        if trouble := let_go(self.renderer):
            self.screen.aside(f"\nWarning: the renderer failed to close: {trouble}\n")

    def _draw(self, event: Event) -> None:
        if self.screen.is_terminal:
            if isinstance(event, TextDelta | ReasoningDelta | RefusalDelta):
                safe = self._safe[type(event)].feed(event.text)
                if safe is not event.text:
                    event = type(event)(safe)
            elif isinstance(event, ToolOutput):
                event = ToolOutput(sanitise(event.call_id), self._safe_output.feed(event.text))
            elif not isinstance(event, Idle):
                if isinstance(event, RoundStarted | ToolStarted | TurnEnded):
                    for kind, sanitiser in self._safe.items():
                        if rest := sanitiser.end():
                            self._hand_over(kind(rest))
                    self._safe_output = Sanitiser()
                event = _safe(event)
        self._hand_over(event)

    def _hand_over(self, event: Event) -> None:
        self._unshown.append(event)
        try:
            self.renderer.show(event)
        except Exception as error:  # noqa: BLE001 (a renderer may be a plugin's)
            self._take_over(error)
        else:
            if isinstance(event, Idle | TurnEnded):
                self._unshown.clear()

    def _take_over(self, error: BaseException) -> None:
        """Put the plain renderer in place of the one that failed, from the text not yet shown."""
        if self._is_plain:
            raise error  # plain is ours: this is a bug in mino
        self.screen.forget()  # it comes again, below
        self.close()
        self.renderer, self._is_plain = self._plain(), True
        self.renderer.show(
            Notice(
                "warning",
                f"{_words(error)}; from here on the text is plain",
            )
        )
        for event in self._unshown:
            self.renderer.show(event)
        self._unshown.clear()


def _words(error: BaseException) -> str:
    """What failed: a stranger's renderer says itself whose it is."""
    if isinstance(error, MinoError):
        return sanitise(str(error))
    return sanitise(f"the renderer failed ({type(error).__name__}: {error})")


def _safe(event: Event) -> Event:
    """The same event with the texts in it made safe for a terminal."""
    match event:
        case Notice():
            return replace(event, text=sanitise(event.text))
        case TurnStarted(turn, prompt):
            return TurnStarted(turn, sanitise(prompt))
        case ToolCall():
            return _safe_call(event)
        case ToolStarted(call):
            return ToolStarted(_safe_call(call))
        case ToolEnded(call_id, result, seconds):
            safe_id, content = sanitise(call_id), sanitise(result.content)
            return ToolEnded(safe_id, replace(result, call_id=safe_id, content=content), seconds)
        case SessionStarted():
            return replace(
                event,
                provider=sanitise(event.provider),
                model=sanitise(event.model),
                banner=sanitise(event.banner),
            )
        case SessionEnded(farewell):
            return SessionEnded(sanitise(farewell))
        case TurnEnded(error=ProviderError() as error):
            safe_error = ProviderError(
                error.kind,
                sanitise(error.message),
                error.status,
                sanitise(error.request_id),
                error.retry_after,
            )
            return replace(event, error=safe_error)
    return event


def _safe_call(call: ToolCall) -> ToolCall:
    return ToolCall(sanitise(call.id), sanitise(call.name), sanitise(call.arguments))
