"""What had to be repaired in a conversation that was read, in one sentence."""

from __future__ import annotations

from mino_core.types import ToolCall, ToolResult

from .conversation import Conversation, Turn


def repairs(conversation: Conversation, missed: int = 0) -> str:
    """What is not as mino writes it, and how it is taken; empty where all is well.

    `missed` is how many lines of the log hold no record.
    """
    turns = conversation.turns
    damaged = missed + conversation.skipped
    mixed = sum(sum(message.role == "user" for message in turn.messages) > 1 for turn in turns)
    orphans = sum(map(_orphans, turns))
    found = [
        _count(damaged, "damaged record left out", "damaged records left out"),
        _count(conversation.blank, "empty reply left out", "empty replies left out"),
        _count(orphans, "tool call or result without the other", "tool calls or results without the other"),
        _count(mixed, "turn with several questions", "turns with several questions"),
    ]
    told = ", ".join(filter(None, found))
    return (
        f"this conversation was repaired while it was read: {told}; nothing was changed where it is kept"
        if told
        else ""
    )


def _orphans(turn: Turn) -> int:
    """How many calls have no result, and results no call."""
    calls, results = set(), set()
    for message in turn.messages:
        for part in message.parts:
            match part:
                case ToolCall(id=id):
                    calls.add(id)
                case ToolResult(call_id=id):
                    results.add(id)
    return len(calls ^ results)


def _count(n: int, one: str, several: str) -> str:
    return f"1 {one}" if n == 1 else f"{n} {several}" if n else ""
