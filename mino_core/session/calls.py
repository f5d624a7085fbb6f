"""What the model wants done: each call is allowed or not, run, shown, and answered with a result."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mino_core import interrupts
from mino_core.types import Message, Tool, ToolCall, ToolEnded, ToolOutput, ToolResult, ToolStarted, Verdict

if TYPE_CHECKING:
    from mino_core.session import Session

_NOT_RUN = "not run: the user stopped the turn"
_CUT = "stopped by the user while it ran: it may have done some of its work"


def run(session: Session, turn: int, calls: Iterable[ToolCall]) -> None:
    """Run the calls of one reply in order; each has a result, also where the user stops them."""
    waiting = list(calls)
    begun: list[ToolCall] = []
    try:
        while waiting:
            _keep(session, turn, _answer(session, waiting[0], begun))
            waiting.pop(0)
    finally:
        for call in waiting:
            told = _CUT if begun and call is begun[-1] else _NOT_RUN
            _keep(session, turn, ToolResult(call.id, told, is_error=True))


def _keep(session: Session, turn: int, result: ToolResult) -> None:
    session.journal.said(turn, Message("tool", (result,)))


def _answer(session: Session, call: ToolCall, begun: list[ToolCall]) -> ToolResult:
    tool = session.tools.get(call.name)
    if tool is None:
        known = ", ".join(session.tools) or "none"
        return _refused(session, call, f"there is no tool {call.name!r}; there are: {known}")
    verdict = session.host.approve(call, session) or Verdict(allowed=False, reason="no plugin allowed it")
    if verdict.allowed:
        begun.append(call)
        return _run(session, tool, call)
    why = f": {verdict.reason}" if verdict.reason else ""
    return _refused(session, call, f"the call was not allowed{why}")


def _refused(session: Session, call: ToolCall, why: str) -> ToolResult:
    result = ToolResult(call.id, why, is_error=True)
    session.display.show(ToolEnded(call.id, result, 0.0))
    return result


def _run(session: Session, tool: Tool, call: ToolCall) -> ToolResult:
    from mino_core import tools

    started = time.monotonic()
    session.display.show(ToolStarted(call))
    context = tools.ToolContext(output=lambda text: session.display.show(ToolOutput(call.id, text)))
    with interrupts.armed():
        result = tools.run(tool, call, context)
    session.display.show(ToolEnded(call.id, result, time.monotonic() - started))
    return result
