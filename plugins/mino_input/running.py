"""One run of a prompt_toolkit application on mino's own terms: its signals, its errors, no timers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from prompt_toolkit.application import Application

_T = TypeVar("_T")
#: Seconds after which a lone escape is the key itself, and not the beginning of another's sequence.
ESCAPE = 0.1


def run(app: Application[_T], begin: Callable[[], None] | None = None) -> _T:
    """The result of an application. What goes wrong in a callback is raised, and shown nowhere.

    SIGINT and SIGTERM keep the handlers that they have; what those raise comes through, with the
    terminal left in order.
    """

    def fail(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if app.is_running and not app.is_done:
            app.exit(exception=context.get("exception") or RuntimeError(context["message"]))

    async def whole() -> _T:
        asyncio.get_running_loop().set_exception_handler(fail)
        return await app.run_async(pre_run=begin, set_exception_handler=False, handle_sigint=False)

    return asyncio.run(whole())
