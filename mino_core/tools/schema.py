"""From an annotated function to a JSON schema: its types, defaults and docstring say it all."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mino_core.errors import PluginError
from mino_core.types import Tool
from mino_core.values import replace

from .context import ToolContext

_PLAIN: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    Path: "string",
    dict: "object",
    list: "array",
    None: "null",
    type(None): "null",
}
#: What does nothing when it is called.
_LAZY = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
_ARGUMENT = re.compile(r"(\w+)\s*(?:\([^)]*\))?:\s*(.*)")
_SECTION = re.compile(r"[A-Z]\w+:")


def as_tool(name: str, value: Tool | Callable[..., object]) -> Tool:
    """A Tool under this name; of a function, its docstring is the description.

    PluginError, naming function and parameter, where its parameters cannot be put into a schema, and
    where a call would only make a coroutine or a generator.
    """
    if any(is_lazy(value.run if isinstance(value, Tool) else value) for is_lazy in _LAZY):
        raise PluginError(f"the tool {name!r} must be an ordinary function, not a generator or a coroutine")
    if isinstance(value, Tool):
        return value if value.name == name else replace(value, name=name)
    about, arguments = _docstring(inspect.getdoc(value) or "")
    properties: dict[str, Any] = {}
    required: list[str] = []
    converted: dict[str, Callable[[Any], Any]] = {}
    for parameter in parameters(name, value):
        if parameter.annotation is ToolContext:
            continue
        schema = _property(name, parameter)
        if said := arguments.get(parameter.name):
            schema.setdefault("description", said)
        properties[parameter.name] = schema
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        if convert := _conversion(parameter.annotation):
            converted[parameter.name] = convert
    whole: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        whole["required"] = required
    return Tool(name, about, whole, _converting(value, converted) if converted else value)


def parameters(name: str, function: Callable[..., object]) -> list[inspect.Parameter]:
    """A tool's parameters with their annotations resolved; PluginError where that cannot be."""
    try:
        found = list(inspect.signature(function, eval_str=True).parameters.values())
    except Exception as error:  # an annotation is code, of a plugin
        raise PluginError(f"the annotations of the tool {name!r} cannot be read: {error}") from error
    for parameter in found:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise PluginError(f"the tool {name!r} takes {parameter}, which has no name a model could use")
        if parameter.annotation is parameter.empty:
            raise PluginError(f"the parameter {parameter.name!r} of the tool {name!r} has no annotation")
    return found


def context_parameters(function: Callable[..., object]) -> list[str]:
    """The names of the parameters that take a ToolContext; none where the signature is hidden."""
    try:
        found = inspect.signature(function, eval_str=True).parameters.values()
    except Exception:  # noqa: BLE001 (annotations are code; without them there is nothing to fill)
        return []
    return [parameter.name for parameter in found if parameter.annotation is ToolContext]


def _property(tool: str, parameter: inspect.Parameter) -> dict[str, Any]:
    annotation, default = parameter.annotation, parameter.default
    if default is None:
        annotation = _without_none(annotation)  # a model that has no value leaves it out
    try:
        schema = _schema(annotation)
    except TypeError as error:
        raise PluginError(
            f"the parameter {parameter.name!r} of the tool {tool!r} cannot be put into a schema: {error}"
        ) from error
    if default is not parameter.empty and default is not None:
        default = default.value if isinstance(default, Enum) else default
        try:
            schema["default"] = json.loads(json.dumps(default))
        except (TypeError, ValueError):
            pass  # a default that JSON cannot hold is the function's own business
    return schema


def _schema(annotation: Any) -> dict[str, Any]:
    """The JSON schema of one annotation; TypeError where there is none."""
    if annotation is Any:
        return {}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _choice([member.value for member in annotation])
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        said = [extra for extra in inner[1:] if isinstance(extra, str)]
        return _schema(inner[0]) | ({"description": said[0]} if said else {})
    if origin is Literal:
        return _choice(list(inner))
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is dict and inner[0] is str:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in inner]}
    raise TypeError(f"{getattr(annotation, '__name__', annotation)} is not a type of JSON")


def _choice(values: list[Any]) -> dict[str, Any]:
    kinds = {_PLAIN.get(type(value)) for value in values}
    if None in kinds:
        raise TypeError(f"not all of {values} are values of JSON")
    return {"enum": values} | ({"type": kinds.pop()} if len(kinds) == 1 else {})


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    rest = tuple(one for one in get_args(annotation) if one is not type(None))
    return Union[rest] if rest else annotation  # noqa: UP007 (made of a tuple)


def _conversion(annotation: Any) -> Callable[[Any], Any] | None:
    """What makes the annotated type of the JSON value, where that is not the type itself."""
    annotation = _without_none(annotation)
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, type) and issubclass(annotation, Enum | Path):
        return annotation
    return None


def _converting(
    function: Callable[..., object], converted: Mapping[str, Callable[[Any], Any]]
) -> Callable[..., object]:
    @wraps(function)
    def run(**arguments: Any) -> object:
        for name, convert in converted.items():
            if arguments.get(name) is not None:
                arguments[name] = convert(arguments[name])
        return function(**arguments)

    return run


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description, and what an `Args:` section says of each parameter."""
    about, found, rest = text.partition("\nArgs:\n")
    if not found:
        return text.strip(), {}
    arguments: dict[str, str] = {}
    name = ""
    for line in map(str.rstrip, rest.split("\n")):
        if _SECTION.fullmatch(line):
            break  # the next section
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        if (match := _ARGUMENT.fullmatch(words)) and depth <= 4:
            name = match[1]
            arguments[name] = match[2]
        elif name and words:
            arguments[name] = f"{arguments[name]} {words}".strip()
    return about.strip(), arguments
