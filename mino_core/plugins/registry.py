"""The plugins that are loaded, and how one of them is asked.

There is one way in for everybody, built-ins included: an entry point of the group `mino`, or a
single file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from mino_core import hooks
from mino_core.errors import PluginError, UsageError
from mino_core.faults import fault
from mino_core.outlets import ToStandardError

from . import discovery, loading
from .door import Door, Plugin
from .traces import Descriptors, hear

if TYPE_CHECKING:
    from mino_core.config import Config


@contextmanager
def printing_aside() -> Iterator[None]:
    """Send what a plugin prints in this block to standard error, made safe for a terminal.

    An answer in a pipe, and what a subcommand says, are not the plugin's. Where standard output is
    taken care of already, nothing is done.
    """
    if sys.stdout is not sys.__stdout__:
        yield
        return
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = ToStandardError()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Manager(pluggy.PluginManager):
    """Of a module, looks only at what is marked: each of its other names would cost pluggy a search."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        if isinstance(plugin, ModuleType) and not hasattr(vars(plugin).get(name), "mino_impl"):
            return None
        return super().parse_hookimpl_opts(plugin, name)


class Registry:
    """Every plugin found, in order of names, and a manager that holds the hooks of those loaded."""

    def __init__(self, config: Config) -> None:
        self.plugins: list[Plugin] = []
        self.door = Door()
        self._config = config
        self._found: list[discovery.Found] = []
        self._loaded: dict[str, Any] = {}
        self._manager = _Manager("mino")
        self._manager.add_hookspecs(hooks)

    # -- loading -------------------------------------------------------------------------------

    def load(self, extensions: Sequence[Path], project: Mapping[Path, bytes], *, safe: bool) -> None:
        """Import and register every plugin that may load; UsageError where `-e` names no file.

        `project` holds the files of a trusted project.
        """
        self._admit(chain(self._everything(extensions, safe=safe), discovery.project_files(project)), safe)

    def adopt(self, project: Mapping[Path, bytes]) -> None:
        """Load the files of a project that is trusted from now on; those loaded already stay as they are."""
        there = {found.path for found in self._found}
        new = {path: code for path, code in project.items() if path not in there}
        self._admit(discovery.project_files(new), safe=False)

    def _admit(self, new: Iterable[discovery.Found], safe: bool) -> None:
        former = set(self._found)
        self._found += new
        for ruling in loading.settle(self._found, self._config.plugins.disabled, safe):
            one = ruling.found
            if one in former:
                continue
            row = Plugin(one, ruling.state)
            self.plugins.append(row)
            if ruling.why:
                self.door.keep(fault(row.name, ruling.who, "not loaded", ruling.why, ruling.cure), row)
            if row.state == "loaded":
                self.door.plugins[row.name] = row
                self._loaded[row.name] = self._import(row, one)
        self.plugins.sort(key=lambda row: row.name)
        self._register_all()

    def _register_all(self) -> None:
        """Register what is imported anew: pluggy calls first what came last, and names have an order."""
        for _, plugin in self._manager.list_name_plugin():
            self._manager.unregister(plugin)
        for name in sorted(self._loaded, reverse=True):
            row = self.door.plugins[name]
            if row.state == "loaded":
                self._register(row, self._loaded[name])
            if row.state != "loaded":
                del self.door.plugins[name], self._loaded[name]

    def _everything(self, extensions: Sequence[Path], *, safe: bool) -> Iterable[discovery.Found]:
        if safe and extensions:
            raise UsageError("-e FILE and --safe exclude each other: --safe starts with built-ins only")
        for path in extensions:
            if not path.is_file():
                raise UsageError(f"-e {path}: there is no such file")
        kept = discovery.in_folder(self._config.home / "plugins")
        files = dict.fromkeys(path.resolve() for path in chain(kept, extensions))
        return chain(discovery.installed(), discovery.files(files))

    def _import(self, row: Plugin, found: discovery.Found) -> Any:
        began = perf_counter()
        plugin = None
        descriptors = None
        if row.source != "built-in":
            hear()
            descriptors = Descriptors()
        try:
            with self.ask(row.name, "import"):
                plugin = loading.load(found)
                row.seconds = perf_counter() - began
                loading.check_api(plugin, found)
        except PluginError:
            row.seconds = row.seconds or perf_counter() - began
            row.state = "failed"
        if descriptors is not None:
            if gone := descriptors.restore():
                self.door.broken(row.name, "import", f"closed {gone}, or put something else there", told=True)
            descriptors.close()
        return plugin

    def _register(self, row: Plugin, plugin: Any) -> None:
        try:
            with self.ask(row.name, "hooks"):
                problems = loading.register(self._manager, row.name, plugin)
        except PluginError:
            row.state = "failed"
            return
        for problem in problems:
            self.door.broken(row.name, "hooks", problem, told=True)
        row.notes = loading.notes(self._manager, plugin)

    # -- asking --------------------------------------------------------------------------------

    @contextmanager
    def ask(self, plugin: str, what: str) -> Iterator[None]:
        """Guard a call whose PluginError nobody shows: the door reports its fault."""
        with printing_aside(), self.door.guard(plugin, what, limit=self._config.plugins.limit):
            yield

    def answer(
        self,
        impl: pluggy.HookImpl,
        hook: str,
        check: Callable[[Any], Any],
        **have: object,
    ) -> Any:
        """One plugin's answer to a hook, checked; PluginError for every fault, already reported."""
        have["settings"] = self._config.plugin(impl.plugin_name)
        with self.ask(impl.plugin_name, hook):
            wanted = loading.arguments(impl, have)
            return check(impl.function(*(have[argument] for argument in wanted)))

    def implementations(self, hook: str) -> list[pluggy.HookImpl]:
        """In the order in which they are asked."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        return caller.get_hookimpls()[::-1]
