"""The plugin host: what plugins offer, made and asked; faults stay with their plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core.errors import ConfigError, MinoError, PluginError, did_you_mean
from mino_core.faults import Fault, reason
from mino_core.settings import Settings, refuse_unread
from mino_core.types import Request, Tool, Verdict

from . import loading, offers
from .answers import as_request, checked, kind_of
from .door import Plugin
from .made import Made
from .offers import KINDS, Offer, Offers
from .registry import Registry, printing_aside
from .trust import Trust

if TYPE_CHECKING:
    from pluggy import HookImpl

    from mino_core.config import Choice, Config
    from mino_core.session import Session
    from mino_core.types import Event, History, ToolCall

    from .observers import Observer, Watch
    from .project import Project

#: Hooks whose offers may change; they are asked anew each time.
_CHANGING = ("mino_commands", "mino_tools")


class Host:
    """Every plugin of this process, and the only way to them."""

    def __init__(self, config: Config, *, safe: bool = False, extensions: Sequence[Path] = ()) -> None:
        self.config = config
        self._registry = Registry(config)
        self._door = self._registry.door
        self._safe = safe
        self._extensions = tuple(extensions)
        self._offers: dict[str, Offers] = {}
        self._history: History | None = None
        self._silenced: set[str] = set()
        #: The user's word on the `.mino` folder of the project here.
        self.trust = Trust(config, self._adopt, safe=safe)
        self._watch: Watch | None = None

    @property
    def plugins(self) -> list[Plugin]:
        """Every plugin found, loaded or not, in order of names."""
        return self._registry.plugins

    @property
    def faults(self) -> list[Fault]:
        """What plugins broke so far, each fault once."""
        return self._door.faults

    @property
    def report(self) -> Callable[[Fault], None] | None:
        """What is told of each new fault that nobody else will show; None before there is a screen."""
        return self._door.report

    @report.setter
    def report(self, report: Callable[[Fault], None] | None) -> None:
        self._door.report = report

    def load(self) -> None:
        """Import and register every plugin that may load; UsageError where `-e` names no file."""
        project = self.trust.project()
        trusted = project.plugins if project and self.trust.decision(project) else {}
        self._registry.load(self._extensions, trusted, safe=self._safe)
        if self.config.state.get("installed") and not self._safe:
            from .memory import missing

            for fault in missing(self.config, self.plugins):
                self._door.keep(fault)

    def _adopt(self, project: Project) -> None:
        self._registry.adopt(project.plugins)
        self._offers.clear()

    def remember(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Let `change` edit what mino itself remembers, state.toml; ConfigError where that cannot be kept."""
        from .memory import change as edit

        edit(self.config.home, change)

    def remember_faults(self) -> None:
        """Keep the last fault of each plugin for `mino plugins`; where that cannot be, it is not kept.

        That a plugin is missing is not kept: it is found anew at each start, until it is back.
        """
        there = {row.name for row in self.plugins}
        if faults := [fault for fault in self.faults if fault.plugin in there]:
            from .memory import keep_faults

            keep_faults(self.config, faults)

    def guard(self, plugin: str, what: str, *, waits: bool = False) -> AbstractContextManager[None]:
        """A block that calls into the plugin of that name: signals are armed, a time limit holds.

        Whatever the plugin does (an exception, SystemExit, a hang) is kept as a Fault and raised as
        PluginError, whose message is the line to show. A MinoError is an answer, not a fault, and
        passes; so does the user's stop. The time limit is the configured one, unless the call is one
        that `waits`: for a person, for a model.
        """
        limit = None if waits else self.config.plugins.limit
        return self._door.guard(plugin, what, limit=limit, passing=(MinoError,), told=False)

    # -- what plugins offer --------------------------------------------------------------------

    def offers(self, hook: str) -> Offers:
        """What an offering hook offers, by name and by `plugin:name`."""
        if hook in self._offers:
            return self._offers[hook]
        given: list[Offer] = []
        for impl in self._registry.implementations(hook):
            check = partial(self._named, impl.plugin_name, hook)
            try:
                given += self._registry.answer(impl, hook, check, host=self)
            except PluginError:
                continue
        rows = self._door.plugins
        builtin = {row.name for row in rows.values() if row.source == "built-in"}
        settled, clashes = offers.settle(hook, given, builtin, rows)
        for clash in clashes:
            self._door.keep(Fault(clash.plugins[0], hook, clash.text), *map(rows.get, clash.plugins))
        if hook not in _CHANGING:
            self._offers[hook] = settled
        return settled

    def _named(self, plugin: str, hook: str, answer: object) -> list[Offer]:
        """The offers in one plugin's answer; what cannot be offered costs only itself."""
        if not isinstance(answer, Mapping):
            raise PluginError(f"returned {kind_of(answer)}, not a mapping of names")
        given = []
        for name, value in answer.items():
            if why := offers.unfit(hook, name, value):
                self._door.broken(plugin, hook, why, told=True)
            else:
                given.append(Offer(name, plugin, value))
        self._door.plugins[plugin].offers[hook] = tuple(offer.name for offer in given)
        return given

    def survey(self) -> None:
        """Ask every offering hook, so that each plugin's row says what it offers."""
        for hook in KINDS:
            self.offers(hook)

    def unknown_names(self) -> list[str]:
        """A line for each name in the configuration that no plugin offers."""
        from .names import unknown

        return unknown(self.config, self.offers)

    def commands(self) -> Offers:
        """The slash commands there are now."""
        return self.offers("mino_commands")

    def tools(self) -> dict[str, Tool]:
        """The tools there are now, by the names that the model is told."""
        from mino_core.tools import schema

        ready: dict[str, Tool] = {}
        for key, offer in self.offers("mino_tools").items():
            try:
                with self._registry.ask(offer.plugin, f"the tool {key!r}"):
                    # No server takes a colon in a tool's name.
                    tool = schema.as_tool(key.replace(":", "__"), offer.value)
            except PluginError:
                continue
            ready[tool.name] = tool
        return ready

    def make(self, hook: str, name: str, *args: Any) -> Any:
        """Make what is offered under a name: call its factory with `args`.

        Without Settings among them, the table of what the configuration chose comes first, if this
        is that. Raises ConfigError where there is no such name, where a setting is wrong, and where
        the factory did not ask for a key; PluginError for a fault.
        """
        word, methods = KINDS[hook]
        there = self.offers(hook)
        if name not in there:
            raise ConfigError(self._unknown(word, name, there))
        offer, what = there[name], f"the {word} {name!r}"
        if not any(isinstance(arg, Settings) for arg in args):
            args = (self._table(hook, name), *args)
        with printing_aside(), self.guard(offer.plugin, what):
            made = offer.value(*args)
            missing = [method for method in methods if not callable(getattr(made, method, None))]
        if missing:
            lacking = " and ".join(f"{method}()" for method in missing)
            raise self._door.broken(
                offer.plugin, what, f"made {kind_of(made)}, which has no {lacking}", told=False
            )
        for settings in args:
            if isinstance(settings, Settings):
                refuse_unread(settings, what)
        if not methods or self._door.plugins[offer.plugin].source == "built-in":
            return made
        blame = partial(self._door.broken, offer.plugin, what, told=False)
        return Made(made, blame, stops=hook == "mino_inputs")

    def _table(self, hook: str, name: str) -> Settings:
        choices: dict[str, Choice] = {
            "mino_histories": self.config.history,
            "mino_renderers": self.config.renderer,
            "mino_inputs": self.config.input,
        }
        chosen = choices.get(hook)
        if chosen is None:
            return self.config.settings(name, {})
        there, meant = self.offers(hook), chosen.meant or chosen.name
        if chosen.name == name == meant:
            return chosen.settings
        if meant not in there or there[meant].plugin != there[name].plugin:
            return self.config.settings(name, {})
        table = chosen.table if chosen.meant else dict(chosen.settings)
        settings = self.config.settings(chosen.settings.path, table)
        for key in table:  # one plugin's things share their keys, but each may have some of its own
            settings.get(key)
        return settings

    def _unknown(self, word: str, name: str, there: Offers) -> str:
        known = ", ".join(sorted(there)) or "none"
        lost = dict.fromkeys(row.name for row in self.plugins if row.state != "loaded")
        more = f" (not loaded: {', '.join(lost)}; see `mino plugins list`)" if lost else ""
        return f"there is no {word} {name!r}; there are: {known}{more}{did_you_mean(name, there)}"

    @property
    def history(self) -> History:
        """The history that the configuration chooses, made at first use."""
        if self._history is None:
            history: History = self.make("mino_histories", self.config.history.name)
            self._history = history
        return self._history

    # -- moments -------------------------------------------------------------------------------

    def request(self, request: Request, session: Session) -> Request:
        """The request as the plugins want it; one that faults leaves it as it was."""
        for impl in self._registry.implementations("mino_request"):
            try:
                changed = self._registry.answer(
                    impl, "mino_request", as_request, request=request, session=session
                )
            except PluginError:
                continue
            request = changed or request
        return request

    def approve(self, call: ToolCall, session: Session) -> Verdict | None:
        """The verdict of the first plugin with an opinion; no where it faults, None where none has one.

        A yes that was to be remembered stands for the plugin that said it, and for nobody before it.
        """
        for impl in self._registry.implementations("mino_approve"):
            if (impl.plugin_name, call.name) in session.allowed:
                return Verdict(allowed=True)
            try:
                verdict: Verdict | None = self._registry.answer(
                    impl, "mino_approve", checked(Verdict), call=call, session=session
                )
            except PluginError as error:
                return Verdict(allowed=False, reason=str(error))
            if verdict is not None:
                if verdict.allowed and verdict.remember == "session":
                    session.allowed.add((impl.plugin_name, call.name))
                return verdict
        return None

    def observers(self, session: Session) -> list[Callable[[Event], None]]:
        """What has to be called with each event of a turn; empty where nobody observes.

        The user's stop passes; everything else that an observer does stays with its plugin. What an
        observer asks by itself is seen by none.
        """
        if self._watch is not None and self._watch.is_busy:
            return [self._watch.show]
        live = [
            self._observer(impl, session)
            for impl in self._registry.implementations("mino_event")
            if impl.plugin_name not in self._silenced
        ]
        self._watch = None
        if not live:
            return []
        from .observers import Watch

        self._watch = Watch(live, self._silence)
        return [self._watch.show]

    def _observer(self, impl: HookImpl, session: Session) -> Observer:
        from .observers import Observer

        have = {"session": session, "settings": self.config.plugin(impl.plugin_name)}
        return Observer(impl.plugin_name, loading.closure(impl, "event", have))

    def watching(self) -> AbstractContextManager[None]:
        """Watch the time of the observers resolved last with one timer for the whole of this block."""
        return self._watch.watching() if self._watch else nullcontext()

    def _silence(self, observer: Observer, error: BaseException, limit: float) -> None:
        self._silenced.add(observer.plugin)
        why = f"{reason(error, limit)}; it sees no more events"
        self._door.broken(observer.plugin, "mino_event", why, told=True)
