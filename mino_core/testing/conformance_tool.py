"""What every tool promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mino_core import interrupts, tools
from mino_core.errors import PluginError
from mino_core.plugins.offers import unfit
from mino_core.types import Tool, ToolCall, ToolResult

from .promises import promise, suite

if TYPE_CHECKING:
    import pytest


def call(tool: Tool | Callable[..., object], **arguments: object) -> ToolResult:
    """What a model is told that calls the tool with these arguments, as mino would tell it."""
    made = tools.as_tool(_name(tool), tool)
    asked = ToolCall("call_1", made.name, json.dumps(arguments))
    with interrupts.installed():
        return tools.run(made, asked, tools.ToolContext())


@suite
class ToolConformance:
    """Subclass it and name the tool:

        class TestMine(ToolConformance):
            arguments = ({"text": "one two"},)

            def tool(self):
                return mine

    `arguments` are calls that have to work; give at least one.
    """

    arguments: ClassVar[tuple[Mapping[str, object], ...]] = ()

    def tool(self) -> Tool | Callable[..., object]:
        """The tool to test."""
        raise NotImplementedError

    def test_a_model_is_told_its_name_its_purpose_and_its_parameters(self) -> None:
        tool = self._tool()
        promise(
            not unfit("mino_tools", tool.name, tool),
            f"it cannot be offered: {unfit('mino_tools', tool.name, tool)}",
            "servers refuse a whole request for the name of one tool in it.",
        )
        promise(
            tool.description.strip(),
            f"{tool.name} has no description; of a function, that is its docstring",
            "a model calls what it understands.",
        )
        promise(
            tool.parameters.get("type") == "object",
            f"the schema of {tool.name} is of type {tool.parameters.get('type')!r}, not `object`",
            "the arguments of a call are one JSON object.",
        )

    def test_what_is_sent_of_it_is_json(self) -> None:
        tool = self._tool()
        try:
            json.dumps(dict(tool.parameters), allow_nan=False)
            why = ""
        except (TypeError, ValueError) as error:
            why = str(error)
        promise(not why, f"the schema of {tool.name} is no JSON: {why}", "it is part of every request.")

    def test_the_calls_it_is_for_work(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        promise(self.arguments, "`arguments` names no call", "a tool that was never called is not tested.")
        for arguments in self.arguments:
            result = call(self.tool(), **arguments)
            promise(
                not result.is_error,
                f"with {dict(arguments)} it failed: {result.content}",
                "that is what it is for.",
            )
        printed = "".join(capfd.readouterr())
        promise(
            not printed,
            f"it printed {printed!r}",
            "what it returns is for the model, `context.output` for the user; the screen is the renderer's.",
        )

    def _tool(self) -> Tool:
        tool = self.tool()
        try:
            return tools.as_tool(_name(tool), tool)
        except PluginError as error:
            raise AssertionError(
                f"{error}\nWhy it matters: without a schema no model can call it."
            ) from error


def _name(tool: Tool | Callable[..., object]) -> str:
    return tool.name if isinstance(tool, Tool) else str(getattr(tool, "__name__", "tool"))
