"""The one door to plugins: whatever a plugin does behind it stays a line with the plugin's name.

Signals are armed and the time limit holds while a plugin runs. What it raises becomes a Fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from mino_core import interrupts
from mino_core.errors import PluginError
from mino_core.faults import Fault, fault, reason

from .discovery import Found
from .loading import State


class Plugin:
    """One plugin that was found, and what became of it.

    `state` is loaded, disabled, failed or skipped, `source` built-in, distribution, file or project
    (a file of a trusted project). `origin` is its distribution and version, or its file, in words.
    `seconds` is how long its import took, `offers` the names under each hook that was asked so far,
    `notes` what is odd about it and no fault.
    """

    __slots__ = (
        "distribution",
        "faults",
        "name",
        "notes",
        "offers",
        "origin",
        "path",
        "seconds",
        "source",
        "state",
        "version",
    )

    def __init__(self, found: Found, state: State) -> None:
        self.name = found.name
        self.distribution = found.distribution
        self.version = found.version
        self.source = found.source
        self.path = found.path
        self.origin = found.origin
        self.state = state
        self.seconds = 0.0
        self.offers: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        self.faults: list[Fault] = []


class Door:
    """Guards calls into plugins and keeps what they break.

    `plugins` are those that are loaded. `faults` has each fault once, however often it happens;
    `report`, once it is set, is told of each new one that is not raised.
    """

    def __init__(self) -> None:
        self.plugins: dict[str, Plugin] = {}
        self.faults: list[Fault] = []
        self.report: Callable[[Fault], None] | None = None

    @contextmanager
    def guard(
        self,
        plugin: str,
        what: str,
        *,
        limit: float | None,
        passing: tuple[type[BaseException], ...] = (),
        told: bool = True,
    ) -> Iterator[None]:
        """Turn what a plugin raises into a Fault and a PluginError; `passing` are no faults.

        `told` says that nobody will show the PluginError, so `report` has to.
        """
        try:
            with nullcontext() if limit is None else interrupts.limit(limit), interrupts.armed():
                yield
        except BaseException as error:  # SystemExit and TimedOut end here as well
            if isinstance(error, passing) or interrupts.is_users(error):
                raise
            raise self.broken(plugin, what, reason(error, limit), told=told) from error

    def broken(self, plugin: str, what: str, why: str, *, told: bool) -> PluginError:
        """Keep a fault; the result is the error that says the same."""
        row = self.plugins.get(plugin)
        made = fault(plugin, row.origin if row else "", what, why)
        self.keep(made, row, told=told)
        return PluginError(made.text)

    def keep(self, made: Fault, *rows: Plugin | None, told: bool = True) -> None:
        """Keep a fault that concerns these plugins."""
        for row in rows:
            if row is not None and made not in row.faults:
                row.faults.append(made)
        if made not in self.faults:
            self.faults.append(made)
            if told and self.report is not None:
                with interrupts.held():  # a plugin may be running, and a renderer now writes
                    self.report(made)
