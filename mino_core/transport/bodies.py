"""Bodies: JSON on its way out, packed bytes on their way in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mino_core.errors import ProviderError

from .decoding import mend_surrogates
from .foreign import plain


class Pieces(list[Any]):
    """A list in a body. Of its first `settled` items, the JSON is `known`, without brackets."""

    settled = 0
    known = b""

    def as_json(self) -> list[bytes]:
        """The whole list, in pieces: it may be long, and is copied once."""
        more = as_json(self[self.settled :])[1:-1]
        return [b"[", self.known, b"," if self.known and more else b"", more, b"]"]


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body as JSON in UTF-8, lone surrogates replaced; ProviderError (`config`) where it is none."""
    pieces = []
    for key, value in body.items():
        if isinstance(value, Pieces):
            pieces += [b",", as_json(str(key)), b":", *value.as_json()]
        else:
            pieces += [b",", as_json({key: value})[1:-1]]
    return b"".join([b"{", *pieces[1:], b"}"])


def as_json(value: object) -> bytes:
    """A part of a body, likewise."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ProviderError("config", f"the request is not JSON: {error}; check the options") from error
    return mend_surrogates(text).encode()


def unpacked(chunks: Iterable[bytes], packing: str) -> Iterator[bytes]:
    """The bytes that were meant; some servers pack an answer although `identity` was asked for."""
    if packing in ("", "identity"):
        yield from chunks
        return
    import zlib

    if packing not in ("gzip", "x-gzip", "deflate"):
        raise ProviderError("protocol", f"the answer is packed as {plain(packing, 40)}, unasked", 200)
    unpack = None
    for chunk in chunks:
        rest = chunk
        while rest:
            if unpack is None or unpack.eof:  # there may be several packs, one behind the other
                unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: tells gzip and zlib apart by itself
            try:
                yield unpack.decompress(rest)
            except zlib.error as error:
                raise ProviderError("protocol", f"the packed answer is damaged: {error}", 200) from error
            rest = unpack.unused_data
