"""What stands beside an answer, in words: notices, errors, tools and what the turn used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mino_core import Notice, SessionEnded, SessionStarted, ToolEnded, ToolStarted, TurnEnded

if TYPE_CHECKING:
    from mino_core import Event, Screen, Settings, ToolCall, ToolResult

LABEL = "Assistant> "
THINKING = "Thinking: "
REFUSED = "Model refused: "

#: How an aside looks: without colours, only the quiet ones look like anything.
QUIET, ALARMING = "2", "31"
_LEVELS = {"info": "", "warning": "Warning: ", "error": "Error: "}
#: What a line of a list begins with: a name, and room. The rest is wrapped behind it.
_ENTRY = re.compile(r" *\S+ {2,}(?=\S)")
#: Letters of a tool's arguments or result that may be in its one quiet line.
_MOST = 1000


class Aside(NamedTuple):
    """Lines of mino's own, wrapped, and the parameters of the SGR sequence that they are drawn with."""

    text: str
    sgr: str = ""


class Asides:
    """What is said beside an answer. Setting: `usage`, whether a turn ends with a line of token counts."""

    def __init__(self, settings: Settings, screen: Screen) -> None:
        self._screen = screen
        self._usage = settings.flag("usage", True)
        self._tools: dict[str, str] = {}

    def of(self, event: Event) -> Iterator[Aside]:
        """What to say of one event."""
        is_verbatim = isinstance(event, Notice) and event.verbatim
        for said, sgr in self._said(event):
            text = said.rstrip("\n")
            if self._screen.is_terminal and not is_verbatim:
                text = _wrapped(text, self._screen.columns)
            if text:
                yield Aside(text, sgr)

    def expect(self, call: ToolCall) -> None:
        """Know the name of a call, which may be refused and then is never started."""
        self._tools[call.id] = call.name

    def _said(self, event: Event) -> Iterator[Aside]:
        match event:
            case SessionStarted(banner=banner, quiet=quiet):
                self._usage = self._usage and not quiet
                yield Aside(banner)
            case ToolStarted(call):
                self.expect(call)
                yield Aside(_tool_started(call, self._screen.columns), QUIET)
            case ToolEnded(call_id, result, seconds):
                name = self._tools.pop(call_id, "tool")
                yield Aside(_tool_ended(name, result, seconds, self._screen.columns), QUIET)
            case Notice(level, text):
                yield Aside(_LEVELS.get(level, "") + text, ALARMING if level == "error" else "")
            case TurnEnded():
                self._tools.clear()
                yield Aside(_error(event), ALARMING)
                if self._usage:
                    yield Aside(_usage(event), QUIET)
            case SessionEnded(farewell):
                yield Aside(farewell)


def shows_reasoning(settings: Settings) -> bool:
    """The setting `reasoning`: `show` or `hide`."""
    choice = settings.text("reasoning", "show")
    if choice not in ("show", "hide"):
        raise settings.error("reasoning", f"must be 'show' or 'hide', not {choice!r}")
    return choice == "show"


def _wrapped(text: str, columns: int) -> str:
    """The text with its lines broken at words where the window ends; a word wider than it stays whole."""
    if all(len(line) * (1 if line.isascii() else 2) <= columns for line in text.split("\n")):
        return text  # without importing what knows how wide letters are
    from .look import PLAIN
    from .width import cells
    from .wrap import Wrapper

    rows: list[str] = []
    for line in text.split("\n"):
        margin = len(line) - len(line.lstrip(" "))
        entry = _ENTRY.match(line)
        rest = margin if entry is None else cells(entry.group())
        wrapper = Wrapper(columns, ((" " * margin, PLAIN),), ((" " * rest, PLAIN),))
        wrapper.add([(line[margin:], PLAIN)])
        rows += ["".join(letters for letters, _ in row.spans) for row in wrapper.finish()]
    return "\n".join(rows)


def _error(event: TurnEnded) -> str:
    """`Error: ` and why the turn did not complete, or nothing."""
    if event.error is None:
        return ""
    return f"Error: {event.error.message or event.error.kind}"


def _usage(event: TurnEnded) -> str:
    """The tokens of a turn and the time to its first one; what was not reported is `n/a`.

    A cancelled turn says so. Of a turn that failed before anything was counted there is nothing to say.
    """
    used, first = event.usage, event.first_token_seconds
    cancelled = "cancelled" if event.outcome == "cancelled" else ""
    if used is None and event.outcome != "completed":
        return f"[{cancelled}]" if cancelled else ""
    counts = (
        ("input", used and used.input_tokens),
        ("output", used and used.output_tokens),
        ("total", used and used.total_tokens),
        ("cached", used and used.cache_read_tokens),
    )
    parts = [f"{name} {'n/a' if count is None else count}" for name, count in counts]
    wait = "n/a" if first is None else f"{first:.2f} s"
    return f"[{cancelled and f'{cancelled}; '}tokens: {', '.join(parts)}; first token {wait}]"


def _tool_started(call: ToolCall, columns: int) -> str:
    """The call, as far as it fits into a row."""
    return _glance(f"{call.name} {call.arguments[:_MOST]}", columns)


def _tool_ended(name: str, result: ToolResult, seconds: float, columns: int) -> str:
    """What came of it, as far as it fits into a row."""
    outcome = "failed" if result.is_error else "done"
    said = result.content[:_MOST].strip()
    return _glance(f"{name} {outcome} in {seconds:.1f} s{': ' + said if said else ''}", columns)


def _glance(text: str, columns: int) -> str:
    from .width import beginning, cells

    words = " ".join(text.split())
    if cells(words) + 2 > columns:
        words = beginning(words, columns - 3) + "…"
    return f"[{words}]"
