"""What every dialect does with an event: read its JSON, its numbers and its errors, trusting nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from mino_core.errors import ProviderError
from mino_core.types import Usage

from .foreign import plain

#: The name of the event under which the body of an answer arrives that is JSON, not a stream.
WHOLE = "\0whole"

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_WORDS = 2_000
#: What an error calls itself that may be gone the next time: overload, a limit, a fault of the server.
_PASSES = re.compile(
    r"\[(?:\w*(?:overloaded|rate_limit|server_?error)\w*|408|409|429|5\d\d)\]", re.IGNORECASE
)


#: JSON as the standard has it: what is no number there (NaN, Infinity) is nothing here.
_decode = json.JSONDecoder(parse_constant=lambda _: None).decode


def parse_event(name: str, data: str) -> dict[str, Any]:
    """The JSON object of one event; an empty one where the JSON is something else.

    Raises ProviderError: `protocol` where the data is no JSON, `server` where the event's name is
    `error`, whatever its data (llama.cpp and gateways put anything there).
    """
    try:
        value = _decode(data)
    except (ValueError, RecursionError):
        if name == "error":
            raise server_error(data) from None
        raise ProviderError("protocol", f"the server sent malformed JSON: {plain(data, 100)}") from None
    if name == "error":
        raise server_error(as_table(value))
    return value if isinstance(value, dict) else {}


def is_done(data: str) -> bool:
    """Whether an event is the `[DONE]` behind which nothing comes; it says nothing about success."""
    return data.strip() == "[DONE]"


def server_error(value: object) -> ProviderError:
    """The error (kind `server`) for an error object, in whatever shape the server sent it."""
    words = plain(error_text(value), 250) or "the server reported an error"
    if _PASSES.match(words):
        words += "; ask again in a while"
    return ProviderError("server", words, request_id=named_request(value))


def named_request(value: object) -> str:
    """The id that an error's envelope gives its request, or nothing."""
    return plain(as_text(as_table(value).get("request_id")), 80)


def error_text(value: object) -> str:
    """The server's own words in an error object, with its type or code in front: `[type] message`.

    Takes the envelope or what is inside it; unbounded and raw, for `plain` to make presentable.
    """
    match value:
        case str():
            return value[:_MAX_WORDS]
        case [first, *_]:
            return error_text(first)
        case {"error": inner} if inner:
            return error_text(inner)
        case dict():
            return _error_object(value)
    return json.dumps(value)[:_MAX_WORDS]


def _error_object(error: dict[str, Any]) -> str:
    words: Any = next((error[key] for key in ("message", "msg", "detail") if error.get(key)), "")
    if isinstance(words, list | dict):
        words = error_text(words)
    labels = [error[key] for key in ("type", "code", "status") if error.get(key)]
    label = next((label for label in labels if label != "error"), "")
    raw = as_table(error.get("metadata")).get("raw") or ""
    if place := ".".join(map(str, as_list(error.get("loc")))):
        words = f"{place}: {words}"  # FastAPI: which field it is about
    tag = f"[{label}]" if isinstance(label, str | int) and label != "" else ""
    said = " ".join(str(piece) for piece in (tag, words, raw) if piece)
    return said[:_MAX_WORDS] if words or tag else json.dumps(error)[:_MAX_WORDS]


def as_table(value: object) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """A number of tokens: an integer from 0 up that somebody may have counted, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def usage(
    *,
    input: object = None,
    output: object = None,
    cache_read: object = None,
    cache_write: object = None,
    reasoning: object = None,
    total: object = None,
) -> Usage | None:
    """The Usage of raw numbers, each checked; None where none is usable. The total is summed if missing."""
    input_tokens, output_tokens, total_tokens = count(input), count(output), count(total)
    if total_tokens is None and input_tokens is not None and output_tokens is not None:
        total_tokens = input_tokens + output_tokens
    made = Usage(
        input_tokens, count(cache_read), count(cache_write), output_tokens, count(reasoning), total_tokens
    )
    return None if made == Usage() else made


def mend_surrogates(text: str) -> str:
    """The text with halves of a pair joined and lone ones replaced by U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class SurrogateJoiner:
    """Joins the halves of a surrogate pair that came in two deltas; lone halves become U+FFFD.

    A trailing high half is held back until the next `feed`; `flush` gives it up.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be shown of the text so far."""
        if self._held:
            text, self._held = self._held + text, ""
        if text.isascii() or not _SURROGATE.search(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return mend_surrogates(text)

    def flush(self) -> str:
        """U+FFFD where a half is still held, else nothing."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""
