"""Server-sent events out of bytes, however they are cut, and judged by the bytes, not by a header.

The rules are the WHATWG's (HTML, section "Server-sent events") with three deviations: an event whose
data is blank is skipped, an event that is pending at a clean end counts if it is whole, and there
is a limit to the size of an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from mino_core.errors import ProviderError

from .decoding import WHOLE, as_table, is_done, server_error
from .foreign import plain, title_of

#: Bytes of one line, of the data of one event, and of a body that turns out to be no stream.
LIMIT = 16 << 20

_BOM = b"\xef\xbb\xbf"
#: What may stand before a body begins: a mark, blanks.
_BLANK = _BOM + b" \t\r\n\v\f"


class Reader:
    """Takes bytes, gives events as (name, data). Its cost is linear in the bytes, however many calls.

    Raises ProviderError (`protocol`) where an event is larger than LIMIT.
    """

    def __init__(self) -> None:
        self._open = bytearray()  # the line that has no end yet
        self._skip_lf = False  # the last byte was a CR that may be half of a CRLF
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._size = 0
        #: Whether a field or a comment came: without one this is no event stream.
        self.is_stream = False

    def feed(self, chunk: bytes) -> list[tuple[str, str]]:
        """The events that these bytes complete."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._skip_lf = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        elif b"\n" not in chunk:
            self._open += chunk
            if len(self._open) > LIMIT:
                raise _too_large()
            return []
        whole, _, rest = chunk.rpartition(b"\n")
        if self._open:
            whole = bytes(self._open) + whole
            self._open.clear()
        self._open += rest
        if self._at_start:
            self._at_start = False
            whole = whole.removeprefix(_BOM)
        events: list[tuple[str, str]] = []
        # Whole lines, so a character that was cut between two reads is whole too.
        for line in whole.decode("utf-8", "replace").split("\n"):
            self._take(line, events)
        return events

    def close(self) -> list[tuple[str, str]]:
        """The event that a clean end leaves pending, if it is whole: JSON or `[DONE]`."""
        events = self.feed(b"\n\n")
        if events and not _is_whole(events[-1][1]):
            events.pop()
        return events

    def _take(self, line: str, events: list[tuple[str, str]]) -> None:
        if not line:
            if self._data:
                data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
                if data and not data.isspace():
                    events.append((self._name, data))
                self._data.clear()
                self._size = 0
            self._name = ""
            return
        field, _, value = line.partition(":")
        if field == "data":
            self.is_stream = True
            self._data.append(value.removeprefix(" "))
            self._size += len(value)
            if self._size > LIMIT:
                raise _too_large()
        elif field == "event":
            self.is_stream = True
            self._name = value.removeprefix(" ")
        elif field in ("", "id", "retry"):  # an empty field is a comment
            self.is_stream = True


def read_events(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """The events of a whole body.

    A body without a single field is judged at its end: JSON is one event named WHOLE, anything else
    a ProviderError (`protocol`; `server` for a JSON error). What `chunks` raises passes through.
    """
    reader = Reader()
    body = bytearray()  # kept only while this may be no stream
    has_begun = is_page = False
    for chunk in chunks:
        if not reader.is_stream:
            body += chunk
            if len(body) > LIMIT:
                raise _too_large()
            if not has_begun and chunk.strip(_BLANK):
                has_begun, is_page = True, body.lstrip(_BLANK).startswith(b"<")
            if is_page:
                continue  # its style sheet may look like a comment: `:root {`
        yield from reader.feed(chunk)
        if body and reader.is_stream:
            body.clear()
    yield from reader.close()
    if not reader.is_stream and body:
        yield from _judged(bytes(body).decode("utf-8-sig", "replace").strip())


def _judged(body: str) -> Iterator[tuple[str, str]]:
    if not body:
        return
    if body[0] not in "{[":
        raise _is_other(body)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderError(
            "protocol",
            f"the server sent a malformed or truncated JSON body: {plain(body, 100)}; check `base_url`",
        ) from None
    about = as_table(value[0] if isinstance(value, list) and value else value)
    if about.get("error") or about.get("type") == "error":
        raise server_error(value)
    if value is not about:
        raise _is_other(body)
    yield WHOLE, body


def _is_other(body: str) -> ProviderError:
    found = title_of(body) or plain(body, 120)
    return ProviderError("protocol", f"the server sent no event stream but this: {found}; check `base_url`")


def _is_whole(data: str) -> bool:
    if is_done(data):
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _too_large() -> ProviderError:
    return ProviderError("protocol", f"the server sent an event larger than {LIMIT >> 20} MiB")
