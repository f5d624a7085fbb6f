"""The events of Anthropic Messages as deltas: an answer is whole only if a stop reason came.

`message_stop` alone proves nothing, and is not waited for where the connection ends without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mino_core import Delta, ProviderError, TextDelta
from mino_core.transport import WHOLE, as_table, as_text, is_done, parse_event, server_error

from .messages_answer import Answer, Json


def decode(
    events: Iterable[tuple[str, str]], model: str = "", expect_end: Callable[[], object] = lambda: None
) -> Iterator[Delta]:
    """Yield the deltas of one answer; Finished only after a stop reason.

    `model` is the one that was asked: only it gets its thinking back. `expect_end` is called at each
    event from the stop reason on. Raises ProviderError for
    malformed events, error events, and a stop reason that nobody knows.
    """
    answer = Answer()
    try:
        for name, data in events:
            if is_done(data):
                continue
            event = parse_event(name, data)
            kind = as_text(event.get("type")) or name
            if kind == "content_block_delta":
                delta = event.get("delta")
                if isinstance(delta, dict):
                    if delta.get("type") == "text_delta":
                        if text := answer.say(delta.get("text")):
                            yield TextDelta(text)
                    else:
                        yield from answer.delta(event.get("index"), delta)
            elif kind == "message_stop":
                break
            elif kind == "error" or event.get("error"):
                raise server_error(event)
            elif name == WHOLE:
                yield from answer.whole(event)
            else:
                yield from _framing(answer, kind, event)
            if answer.stop:
                expect_end()
    except ProviderError as error:
        if not (answer.stop and error.kind in ("stream", "timeout")):
            raise  # only what breaks after the stop reason does not undo it
    yield from answer.end(model)


def _framing(answer: Answer, kind: object, event: Json) -> Iterator[Delta]:
    """The events around the words; what is unknown is nothing to us."""
    match kind:
        case "content_block_start":
            yield from answer.start(event.get("index"), as_table(event.get("content_block")))
        case "content_block_stop":
            answer.close(event.get("index"))
        case "message_start":
            yield from answer.report(as_table(event.get("message")).get("usage"))
        case "message_delta":
            answer.stopped(as_table(event.get("delta")))
            yield from answer.report(event.get("usage"))
