"""Running a tool for the model: its arguments are checked, and whatever happens becomes a result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mino_core import interrupts
from mino_core.faults import reason
from mino_core.types import Tool, ToolCall, ToolResult

from . import schema
from .context import Ran, ToolContext
from .schema import as_tool

__all__ = ["Ran", "ToolContext", "as_tool", "run"]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def run(tool: Tool, call: ToolCall, context: ToolContext) -> ToolResult:
    """Run a tool with the arguments of a call.

    Wrong arguments and whatever the tool raises are sentences for the model, never a traceback.
    Only the user's stop passes.
    """
    arguments = call.parsed
    if arguments is None:
        return _failed(call, f"the arguments of {tool.name} must be one JSON object")
    if problem := _mismatch(tool, arguments):
        return _failed(call, problem)
    try:
        with interrupts.armed():
            arguments |= dict.fromkeys(schema.context_parameters(tool.run), context)
            return ToolResult(call.id, _text(tool.run(**arguments)))
    except BaseException as error:  # the tool's door: SystemExit ends here as well
        if interrupts.is_users(error):
            context.cancelled = True
            raise
        return _failed(call, f"{tool.name} failed: {reason(error)}")


def _failed(call: ToolCall, why: str) -> ToolResult:
    return ToolResult(call.id, why, is_error=True)


def _mismatch(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, in a sentence that lets the model correct itself."""
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    missing = [name for name in tool.parameters.get("required", ()) if name not in arguments]
    if missing:
        return f"{tool.name} needs {', '.join(missing)}"
    unknown = [name for name in arguments if name not in properties]
    if unknown and tool.parameters.get("additionalProperties") is False:
        known = ", ".join(properties) or "nothing"
        return f"{tool.name} does not take {', '.join(unknown)}; it takes {known}"
    for name, value in arguments.items():
        wanted = properties.get(name, {})
        kind, choices = wanted.get("type"), wanted.get("enum")
        if isinstance(kind, str) and kind in _TYPES and not _is(value, kind):
            return f"{tool.name}: {name} must be of type {kind}, not {value!r}"
        if choices is not None and value not in choices:
            return f"{tool.name}: {name} must be one of {', '.join(map(repr, choices))}, not {value!r}"
    return ""


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _text(said: object) -> str:
    """What a tool returned, as the model reads it: text as it is, anything else as JSON."""
    if isinstance(said, str):
        return said
    return "done" if said is None else json.dumps(said, ensure_ascii=False, default=str)
