"""What stands before a tool: the question whether the model may use it."""

from __future__ import annotations

from mino_core import Session, ToolCall, Verdict, hookimpl

_YES, _NO, _ALWAYS = "yes", "no", "always in this session"


@hookimpl(trylast=True)
def mino_approve(call: ToolCall, session: Session) -> Verdict:
    """Ask the user, when no other plugin has an opinion; `--yes` is a yes to everything."""
    if session.config.flags.yes:
        return Verdict(allowed=True)
    answer = session.question(f"Run {call.name} {call.arguments}?", (_YES, _NO, _ALWAYS))
    if answer is None:
        return Verdict(allowed=False, reason="nobody is there to allow it; --yes allows every call")
    if answer == _NO:
        return Verdict(allowed=False, reason="the user said no")
    return Verdict(allowed=True, remember="session" if answer == _ALWAYS else "no")
