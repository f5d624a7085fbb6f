"""Tool calls that arrive in fragments, in every way in which servers have been seen to number them."""

from __future__ import annotations

import json
from typing import Any

from mino_core import ToolCall
from mino_core.transport import as_table, as_text, mend_surrogates


class _Call:
    """A call so far."""

    __slots__ = ("id", "name", "pieces")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []


class Calls:
    """The calls of one answer.

    A fragment with an index belongs to the call of that index, unless another id comes with it:
    some servers number every call 0. Without an index it belongs to the call of its id; with
    neither id nor name it continues the last call. A fragment that belongs to none is dropped.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def take(self, fragment: dict[str, Any]) -> None:
        """One element of `delta.tool_calls`."""
        function = as_table(fragment.get("function"))
        index = fragment.get("index")
        call_id, name = as_text(fragment.get("id")), as_text(function.get("name"))
        call = self._find(index, call_id, name)
        if call is None:
            if not call_id and not name:
                return
            call = _Call()
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.id = call.id or call_id
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.pieces.append(as_text(arguments))

    def _find(self, index: object, call_id: str, name: str) -> _Call | None:
        if isinstance(index, int):
            call = self._by_index.get(index)
            return None if call is not None and call_id and call.id and call_id != call.id else call
        if call_id:
            return next((call for call in self._calls if call.id == call_id), None)
        return self._calls[-1] if self._calls and not name else None

    def made(self) -> list[ToolCall]:
        """The calls that have a name, each with an id and its arguments as they came."""
        return [
            ToolCall(call.id or f"call_{n}", call.name, mend_surrogates("".join(call.pieces)))
            for n, call in enumerate(self._calls, 1)
            if call.name
        ]
