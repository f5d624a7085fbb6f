"""From an annotated function to a JSON schema."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from mino_core import PluginError, Tool, ToolCall, ToolContext
from mino_core.tools import as_tool, run


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Path, {"type": "string"}),
        (Any, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (list[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        (dict, {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Colour, {"enum": ["red", "blue"], "type": "string"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045 (what is tested)
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    ],
)
def test_each_annotation_has_its_schema(annotation, schema):
    def tool(value): ...

    tool.__annotations__["value"] = annotation
    assert as_tool("t", tool).parameters == {
        "type": "object",
        "properties": {"value": schema},
        "additionalProperties": False,
        "required": ["value"],
    }


class Unknown:
    pass


@pytest.mark.parametrize(
    "annotation",
    [Unknown, set[int], dict[int, str], tuple[int, ...], Callable[[], None], list[Unknown], bytes, "Nowhere"],
)
def test_an_annotation_that_json_cannot_express_names_function_and_parameter(annotation):
    def tool(value): ...

    tool.__annotations__["value"] = annotation
    with pytest.raises(PluginError, match="'t'"):
        as_tool("t", tool)


async def promising(text: str): ...


def yielding(text: str):
    yield text


async def both(text: str):
    yield text


@pytest.mark.parametrize("function", [promising, yielding, both])
def test_what_would_only_make_a_coroutine_or_a_generator_is_no_tool(function):
    for value in (function, Tool("t", "About.", {"type": "object"}, function)):
        with pytest.raises(PluginError, match="the tool 't' must be an ordinary function"):
            as_tool("t", value)


def test_parameters_without_a_name_or_annotation_are_refused():
    with pytest.raises(PluginError, match="the parameter 'value' of the tool 't' has no annotation"):
        as_tool("t", lambda value: None)

    def many(*values: int): ...

    with pytest.raises(PluginError, match="which has no name a model could use"):
        as_tool("t", many)


def search(pattern: str, path: Path = Path(), limit: int = 20, kind: str | None = None) -> str:
    """Search files for a pattern.

    Looks into every file below a directory.

    Args:
        pattern (str): What to look for,
            as a regular expression.
        limit: How many: at most this many.

    Returns:
        The lines found.
    """
    return f"{pattern} {path / 'x'} {limit} {kind}"


def test_the_docstring_describes_the_tool_and_its_parameters():
    tool = as_tool("search", search)
    assert tool.description == "Search files for a pattern.\n\nLooks into every file below a directory."
    assert tool.parameters["properties"] == {
        "pattern": {"type": "string", "description": "What to look for, as a regular expression."},
        "path": {"type": "string"},
        "limit": {"type": "integer", "default": 20, "description": "How many: at most this many."},
        "kind": {"type": "string"},
    }
    assert tool.parameters["required"] == ["pattern"]


def test_the_context_is_not_in_the_schema():
    def tool(context: ToolContext, name: str) -> str:
        return f"{name} in {context.roots[0].name}"

    made = as_tool("t", tool)
    assert list(made.parameters["properties"]) == ["name"]
    context = ToolContext(roots=[Path("/some/where")])
    assert run(made, ToolCall("1", "t", '{"name": "me"}'), context).content == "me in where"


def test_values_become_what_the_function_says():
    def paint(colour: Colour, path: Path | None = None) -> str:
        return f"{colour!r} {path!r}"

    made = as_tool("paint", paint)
    call = ToolCall("1", "paint", '{"colour": "blue", "path": "a/b"}')
    assert run(made, call, ToolContext()).content == f"{Colour.BLUE!r} {Path('a/b')!r}"


def test_methods_and_callable_objects_are_tools():
    class Box:
        def put(self, thing: str) -> str:
            """Put a thing in."""
            return thing

        def __call__(self, thing: str) -> str:
            """Use the box."""
            return thing

    for value in (Box().put, Box()):
        made = as_tool("box", value)
        assert made.parameters["required"] == ["thing"]
        assert run(made, ToolCall("1", "box", '{"thing": "x"}'), ToolContext()).content == "x"


def test_a_tool_with_a_schema_is_taken_as_it_is_under_its_name():
    tool = Tool("a", "about", {"type": "object"}, lambda: None)
    assert as_tool("a", tool) is tool
    assert as_tool("b", tool).name == "b"
