"""How a suite says what is broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from mino_core.faults import reason

_Suite = TypeVar("_Suite", bound=type)
_WHY = "\nWhy it matters: "


def promise(kept: object, broken: str, why: str) -> None:
    """Fail where a promise is not kept, with what was seen and why it matters."""
    if not kept:
        raise AssertionError(broken + _WHY + why)


def suite(cls: _Suite) -> _Suite:
    """Let whatever fails or is raised in a test of this class say which promise that breaks."""
    for name, test in list(vars(cls).items()):
        if name.startswith("test_"):
            setattr(cls, name, _telling(test))
    return cls


def _telling(test: Callable[..., None]) -> Callable[..., None]:
    @wraps(test)
    def told(*args: Any, **named: Any) -> None:
        try:
            test(*args, **named)
        except (Exception, SystemExit) as error:
            failed = isinstance(error, AssertionError)
            if failed and _WHY in str(error):
                raise
            promised = test.__name__.removeprefix("test_").replace("_", " ")
            raise AssertionError(
                f"broken is the promise that {promised}: {error if failed else reason(error)}"
                f"{_WHY}mino does with it what this suite does, and so its users would meet the same."
            ) from (None if failed else error)

    return told
