"""The events of OpenAI Responses as deltas: what was streamed is the truth, snapshots only fill gaps.

An answer is over at its first terminal event, and complete only if that says `completed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mino_core import Delta, ProviderError, ReasoningDelta, RefusalDelta, TextDelta
from mino_core.transport import WHOLE, as_table, as_text, is_done, parse_event, server_error

from .responses_answer import Answer, Json, Words

#: Events with words: the kind of part, what its words are, which key tells its parts apart.
_DELTAS: dict[str, tuple[str, type[Words], str]] = {
    "response.output_text.delta": ("text", TextDelta, "content_index"),
    "response.refusal.delta": ("refusal", RefusalDelta, "content_index"),
    "response.reasoning_summary_text.delta": ("summary", ReasoningDelta, "summary_index"),
    "response.reasoning_text.delta": ("reasoning", ReasoningDelta, "content_index"),
}
#: Events with the whole of a part: as above, and the key that holds the words.
_WHOLES: dict[str, tuple[str, type[Words], str, str]] = {
    "response.output_text.done": ("text", TextDelta, "content_index", "text"),
    "response.refusal.done": ("refusal", RefusalDelta, "content_index", "refusal"),
    "response.reasoning_summary_text.done": ("summary", ReasoningDelta, "summary_index", "text"),
    "response.reasoning_text.done": ("reasoning", ReasoningDelta, "content_index", "text"),
}
#: Terminal events, with the status of those that do not state it.
_TERMINALS = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}


def decode(events: Iterable[tuple[str, str]], model: str = "") -> Iterator[Delta]:
    """Yield the deltas of one answer; Finished only after a terminal event.

    `model` is the one that was asked: only it gets its reasoning back. Raises ProviderError for
    malformed events, error events, and an answer whose status is not a good one.
    """
    answer = Answer()
    for name, data in events:
        if is_done(data):
            continue
        event = parse_event(name, data)
        kind = as_text(event.get("type")) or name
        if (delta := _DELTAS.get(kind)) is not None:
            part, words, index = delta
            key = (part, event.get("output_index"), event.get(index))
            if key != answer.key:
                yield from answer.turn_to(words, key)
            if text := answer.take(event.get("delta")):
                yield words(text)
        elif (whole := _WHOLES.get(kind)) is not None:
            part, words, index, field = whole
            key = (part, event.get("output_index"), event.get(index))
            yield from answer.fill(words, key, event.get(field))
        elif (status := _TERMINALS.get(kind)) is not None:
            yield from answer.end(as_table(event.get("response")), status, model)
            return
        elif kind == "error" or (event.get("error") and not kind.startswith("response.")):
            told = {key: value for key, value in event.items() if key != "type"}
            raise server_error(event.get("error") or told)
        elif name == WHOLE:
            if not isinstance(event.get("output"), list):
                raise ProviderError("protocol", "the server sent JSON that is no response; check `base_url`")
            yield from answer.end(event, "completed", model)
            return
        else:
            yield from _about_items(answer, kind, event)
    yield from answer.flush()


def _about_items(answer: Answer, kind: str, event: Json) -> Iterator[Delta]:
    """The events that frame the words, and the calls; what is unknown is nothing to us."""
    at = event.get("output_index")
    match kind:
        case "response.output_item.added" | "response.output_item.done":
            yield from answer.item(at, as_table(event.get("item")), is_whole=kind.endswith("done"))
        case "response.content_part.done":
            yield from answer.part(at, event.get("content_index"), as_table(event.get("part")))
        case "response.function_call_arguments.delta":
            answer.find(at, "function_call", event.get("item_id")).pieces.append(as_text(event.get("delta")))
        case "response.function_call_arguments.done":
            answer.find(at, "function_call", event.get("item_id")).update(event)
