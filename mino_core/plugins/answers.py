"""What plugins answer, checked: nothing of a wrong shape gets past the plugin that made it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mino_core.errors import PluginError
from mino_core.types import Message, Request, Tool


def checked(wanted: type) -> Callable[[object], Any]:
    """A check that an answer is of a type, or None for none."""

    def check(answer: object) -> object:
        if answer is not None and not isinstance(answer, wanted):
            raise PluginError(f"returned {kind_of(answer)}, not a {wanted.__name__}")
        return answer

    return check


def as_request(answer: object) -> Request | None:
    """A request that an encoder can read, or None for none."""
    changed: Request | None = checked(Request)(answer)
    if changed is None:
        return None
    for part, wanted in (("model", str), ("instructions", str), ("options", Mapping)):
        if not isinstance(value := getattr(changed, part), wanted):
            raise PluginError(f"returned a Request whose {part} is {kind_of(value)}")
    for part, each in (("messages", Message), ("tools", Tool)):
        those = getattr(changed, part)
        if not isinstance(those, tuple) or not all(isinstance(one, each) for one in those):
            raise PluginError(f"returned a Request whose {part} are not a tuple of {each.__name__}")
    return changed


def kind_of(value: object) -> str:
    """What a value is, in words."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
