"""The plugin host: find, load and ask plugins; faults stay with their plugin.

There is one way in for everybody, built-ins included: an entry point of the group `mino`, or a
single file. There is one way to call them: through the door, so that a fault costs one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pluggy

from . import discovery, hooks, loading, offers
from .door import Door, Plugin
from .errors import ConfigError, MinoError, PluginError, UsageError
from .faults import Fault, fault, reason
from .observers import Observer, Watch
from .offers import KINDS, Offer, Offers
from .settings import Settings
from .types import Request, Tool, Verdict

if TYPE_CHECKING:
    from .config import Choice, Config
    from .session import Session
    from .types import Event, History, ToolCall

#: Hooks whose offers may change; they are asked anew each time.
_CHANGING = ("mino_commands", "mino_tools")


class Host:
    """Every plugin of this process, and the only way to them.

    `plugins` are all that were found, in order of names; `faults` is what went wrong so far.
    """

    def __init__(self, config: Config, *, safe: bool = False, extensions: Sequence[Path] = ()) -> None:
        self.config = config
        self.plugins: list[Plugin] = []
        self._safe = safe
        self._extensions = tuple(extensions)
        self._door = Door()
        self._manager = pluggy.PluginManager("mino")
        self._manager.add_hookspecs(hooks)
        self._offers: dict[str, Offers] = {}
        self._history: History | None = None
        self._silenced: set[str] = set()
        self._watch: Watch | None = None

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

    # -- loading -------------------------------------------------------------------------------

    def load(self) -> None:
        """Import and register every plugin that may load; UsageError where `-e` names no file."""
        loaded: list[tuple[Plugin, Any]] = []
        for ruling in loading.settle(self._found(), self.config.plugins.disabled, self._safe):
            found = ruling.found
            row = Plugin(
                found.name,
                found.distribution,
                found.version,
                found.source,
                found.path,
                found.origin,
                ruling.state,
            )
            self.plugins.append(row)
            if ruling.why:
                self._door.keep(fault(row.name, ruling.who, "not loaded", ruling.why, ruling.cure), row)
            if row.state == "loaded":
                self._door.plugins[row.name] = row
                loaded.append((row, self._import(row, found)))
        # Pluggy calls first what was registered last, and names are to be called in their order.
        for row, plugin in reversed(loaded):
            if row.state == "loaded":
                self._register(row, plugin)
            if row.state != "loaded":
                del self._door.plugins[row.name]

    def _found(self) -> Iterable[discovery.Found]:
        if self._safe and self._extensions:
            raise UsageError("-e FILE and --safe exclude each other: --safe starts with built-ins only")
        for path in self._extensions:
            if not path.is_file():
                raise UsageError(f"-e {path}: there is no such file")
        kept = discovery.in_folder(self.config.home / "plugins")
        files = dict.fromkeys(path.resolve() for path in chain(kept, self._extensions))
        return chain(discovery.installed(), discovery.files(files))

    def _import(self, row: Plugin, found: discovery.Found) -> Any:
        began = perf_counter()
        plugin = None
        try:
            with self._ask("import", row.name):
                plugin = loading.load(found)
            row.seconds = perf_counter() - began
            with self._ask("import", row.name):
                loading.check_api(plugin, found)
        except PluginError:
            row.seconds = row.seconds or perf_counter() - began
            row.state = "failed"
        return plugin

    def _register(self, row: Plugin, plugin: Any) -> None:
        try:
            with self._ask("hooks", row.name):
                problems = loading.register(self._manager, row.name, plugin)
        except PluginError:
            row.state = "failed"
            return
        for problem in problems:
            self._door.broken(row.name, "hooks", problem, told=True)

    # -- calling a plugin ----------------------------------------------------------------------

    def guard(self, plugin: str, what: str, limit: float | None = 0) -> AbstractContextManager[None]:
        """A block that calls into the plugin of that name: signals are armed, a time limit holds.

        Whatever the plugin does (an exception, SystemExit, a hang) is kept as a Fault and raised as
        PluginError, whose message is the line to show. A MinoError is an answer, not a fault, and
        passes; so do KeyboardInterrupt and Terminated. `limit` is in seconds, 0 for the configured
        one, None for a call that may take its time.
        """
        seconds = self.config.plugins.limit if limit == 0 else limit
        return self._door.guard(plugin, what, limit=seconds, passing=(MinoError,), told=False)

    def _ask(self, what: str, plugin: str) -> AbstractContextManager[None]:
        """As `guard`, for a call whose fault the host itself reports; no error passes as an answer."""
        return self._door.guard(plugin, what, limit=self.config.plugins.limit)

    def _answer(
        self, impl: pluggy.HookImpl, hook: str, have: dict[str, object], check: Callable[[Any], Any]
    ) -> Any:
        """One plugin's answer to a hook, checked; PluginError for every fault, already reported."""
        everything = {**have, "settings": self._settings(impl.plugin_name)}
        with self._ask(hook, impl.plugin_name):
            wanted = loading.arguments(impl, everything)
            return check(impl.function(*(everything[argument] for argument in wanted)))

    def _implementations(self, hook: str) -> list[pluggy.HookImpl]:
        """In the order in which they are asked."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        return caller.get_hookimpls()[::-1]

    def _settings(self, plugin: str) -> Settings:
        table = self.config.plugins.settings.get(plugin)
        return self._no_settings(f"plugins.settings.{plugin}") if table is None else table

    def _no_settings(self, path: str) -> Settings:
        return Settings(path=path, home=self.config.home)

    # -- what plugins offer --------------------------------------------------------------------

    def offers(self, hook: str) -> Offers:
        """What an offering hook offers, by name and by `plugin:name`."""
        if hook in self._offers:
            return self._offers[hook]
        given: list[Offer] = []
        for impl in self._implementations(hook):
            check = partial(self._named, impl.plugin_name, hook)
            try:
                given += self._answer(impl, hook, {}, check)
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
            raise PluginError(f"returned {_kind(answer)}, not a mapping of names")
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

    def commands(self) -> Offers:
        """The slash commands there are now."""
        return self.offers("mino_commands")

    def tools(self) -> dict[str, Tool]:
        """The tools there are now, by the names that the model is told."""
        from . import schema

        ready: dict[str, Tool] = {}
        for key, offer in self.offers("mino_tools").items():
            try:
                with self._ask(f"the tool {key!r}", offer.plugin):
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
        with self.guard(offer.plugin, what):
            made = offer.value(*args)
            missing = [method for method in methods if not callable(getattr(made, method, None))]
        if missing:
            lacking = " and ".join(f"{method}()" for method in missing)
            raise self._door.broken(
                offer.plugin, what, f"made {_kind(made)}, which has no {lacking}", told=False
            )
        for settings in args:
            if isinstance(settings, Settings):
                _check_unread(settings, what)
        return made

    def _table(self, hook: str, name: str) -> Settings:
        choices: dict[str, Choice] = {
            "mino_histories": self.config.history,
            "mino_renderers": self.config.renderer,
            "mino_inputs": self.config.input,
        }
        chosen = choices.get(hook)
        return chosen.settings if chosen and chosen.name == name else self._no_settings(name)

    def _unknown(self, word: str, name: str, there: Offers) -> str:
        known = ", ".join(sorted(there)) or "none"
        lost = [row.name for row in self.plugins if row.state != "loaded"]
        more = f" (not loaded: {', '.join(lost)}; see `mino plugins list`)" if lost else ""
        return f"there is no {word} {name!r}{_nearest(name, list(there))}; there are: {known}{more}"

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
        for impl in self._implementations("mino_request"):
            have: dict[str, object] = {"request": request, "session": session}
            try:
                request = self._answer(impl, "mino_request", have, _is(Request)) or request
            except PluginError:
                continue
        return request

    def approve(self, call: ToolCall, session: Session) -> Verdict | None:
        """The verdict of the first plugin with an opinion; no where it faults, None where none has one."""
        have: dict[str, object] = {"call": call, "session": session}
        for impl in self._implementations("mino_approve"):
            try:
                verdict: Verdict | None = self._answer(impl, "mino_approve", have, _is(Verdict))
            except PluginError as error:
                return Verdict(allowed=False, reason=str(error))
            if verdict is not None:
                return verdict
        return None

    def observers(self, session: Session) -> list[Callable[[Event], None]]:
        """What has to be called with each event of a turn; empty where nobody observes.

        A KeyboardInterrupt passes; everything else that an observer does stays with its plugin.
        Their time is limited only while `watching` is open.
        """
        live = [
            Observer(impl.plugin_name, loading.closure(impl, "event", have))
            for impl in self._implementations("mino_event")
            if impl.plugin_name not in self._silenced
            for have in ({"session": session, "settings": self._settings(impl.plugin_name)},)
        ]
        self._watch = Watch(live, self._silence) if live else None
        return [self._watch.show] if self._watch else []

    def watching(self) -> AbstractContextManager[None]:
        """Limit the time of the observers resolved last, for this block."""
        return self._watch.watching() if self._watch else nullcontext()

    def _silence(self, observer: Observer, error: BaseException, limit: float) -> None:
        self._silenced.add(observer.plugin)
        why = f"{reason(error, limit)}; it sees no more events"
        self._door.broken(observer.plugin, "mino_event", why, told=True)


def _is(wanted: type) -> Callable[[object], Any]:
    """A check that an answer is of a type, or None for none."""

    def check(answer: object) -> object:
        if answer is not None and not isinstance(answer, wanted):
            raise PluginError(f"returned {_kind(answer)}, not a {wanted.__name__}")
        return answer

    return check


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _check_unread(settings: Settings, what: str) -> None:
    """ConfigError naming every key that what was made did not ask for."""
    problems = [
        str(settings.error(key, f"is not a setting of {what}{_nearest(key, settings.asked())}"))
        for key in settings.unread()
    ]
    if problems:
        raise ConfigError("\n".join(problems))
