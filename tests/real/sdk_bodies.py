"""What the types of the official SDKs say of bodies. Run by a Python that has them: sdk_bodies.py < paths.

Each file is `<dialect>-<case>.json`; a fault is a line with its name and how often its messages are wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from anthropic.types import MessageParam, ToolUnionParam
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import ResponseInputItemParam, ToolParam
from pydantic import TypeAdapter, ValidationError

#: By dialect: the key of the conversation, the types of its messages and of its tools.
TYPES: dict[str, tuple[str, Any, Any]] = {
    "chat": ("messages", ChatCompletionMessageParam, ChatCompletionToolUnionParam),
    "responses": ("input", ResponseInputItemParam, ToolParam),
    "messages": ("messages", MessageParam, ToolUnionParam),
}


def read_all(value: Any) -> None:
    """Iterate over all there is: what is typed as an iterable is checked only then."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | int | float | None):
        for item in value:
            read_all(item)


for line in sys.stdin:
    path = Path(line.strip())
    key, *types = TYPES[path.name.partition("-")[0]]
    body = json.loads(path.read_text("utf-8"))
    for part, kind in zip((key, "tools"), types, strict=True):
        adapter = TypeAdapter(list[kind])  # type: ignore[valid-type]  # it must live while all is read
        try:
            read_all(adapter.validate_python(body.get(part, [])))
        except ValidationError as error:
            print(f"{path.name}: {error.error_count()} faults in {part}, such as {error.errors()[0]}")
