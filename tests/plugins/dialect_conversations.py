"""Conversations of every kind that a history can hold, for properties of the dialects."""

from __future__ import annotations

from hypothesis import strategies as st
from mino_core import File, Image, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, is_blank

TEXTS = st.text(st.sampled_from("ab \n,é漢😀"), min_size=1, max_size=8)
WORDS = TEXTS.filter(lambda text: not is_blank(text))
IDS = st.sampled_from(["call_1", "call_2", "call/1", "toolu_" + "y" * 70, ""])
NAMES = st.sampled_from(["now", "tool:now", "functions.now", "n" * 70, "今", " ", ""])
ARGUMENTS = st.sampled_from(["", "{}", '{"path": "."}', '{"cut', "[1]"])


@st.composite
def replies(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> Message:
    """A reply with calls, and with the echo of both dialects, whose places may or may not fit."""
    parts: list[Part] = [
        draw(st.sampled_from([Text, Text, Reasoning, Refusal]))(draw(texts))
        for _ in range(draw(st.integers(0, 3)))
    ]
    calls = [ToolCall(one, draw(NAMES), draw(ARGUMENTS)) for one in draw(st.lists(IDS, max_size=2))]
    said = len(Message("assistant", tuple(parts)).text)
    cut = draw(st.integers(0, max(said, 1)))
    places = [{"text": cut}, {"text": said - cut}, *({"call": call.id} for call in calls)]
    opaque = {
        "openai-responses": {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"},
        "anthropic-messages": {"type": "thinking", "thinking": "t", "signature": "s"},
    }
    at = draw(st.lists(st.integers(0, len(places)), max_size=2))
    meta = {}
    for kind, item in opaque.items():
        order = list(places)
        for place in at:
            order.insert(place, item)
        meta[kind] = {"model": draw(st.sampled_from(["demo", "other"])), "order": order}
    return Message("assistant", (*parts, *calls), meta if draw(st.booleans()) else {})


@st.composite
def conversations(draw: st.DrawFn, tidy: bool = True) -> list[Message]:
    """Turns of a question and any number of rounds. A turn may have failed, or stopped at its calls.

    `tidy` questions have words and every result is that of a call; else nothing is sure.
    """
    messages: list[Message] = []
    texts = WORDS if tidy else TEXTS
    for _ in range(draw(st.integers(1, 4))):
        extra = draw(
            st.lists(
                st.sampled_from([Image("image/png", "cG5n"), File("application/pdf", "cGRm")]), max_size=1
            )
        )
        messages.append(Message("user", (Text(draw(texts)), *extra)))
        for _ in range(draw(st.integers(0, 3))):
            reply = draw(replies(texts))
            messages.append(reply)
            calls = [part for part in reply.parts if isinstance(part, ToolCall)]
            if tidy and (not calls or draw(st.booleans())):
                break  # answered, or cut before its tools ran
            results = [ToolResult(call.id, draw(TEXTS), draw(st.booleans())) for call in calls]
            if not tidy:
                results = draw(st.lists(st.sampled_from([*results, ToolResult("nobody", "?")]), max_size=3))
            messages += [Message("tool", (result,)) for result in results]
    return messages


def moments(messages: list[Message]) -> list[int]:
    """How many messages there are whenever a request goes out: after a question, after all results."""
    return [
        n
        for n, message in enumerate(messages, 1)
        if message.role != "assistant" and (n == len(messages) or messages[n].role != "tool")
    ]
