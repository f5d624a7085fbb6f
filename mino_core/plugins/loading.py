"""From something found to a registered plugin: which may load, importing it, checking what it marks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from inspect import isroutine
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mino_core import hooks
from mino_core.errors import PluginError, did_you_mean
from mino_core.values import value

from .discovery import Found, is_name

if TYPE_CHECKING:
    import pluggy
    from pluggy import HookImpl

#: The version of the hooks and words that plugins are written against; a module states it as MINO_API.
API = 1
State: TypeAlias = Literal["loaded", "disabled", "failed", "skipped"]
#: Flags of code objects that do nothing when called: generators, coroutines, asynchronous generators.
_LAZY = 0x20 | 0x80 | 0x200


@value
class Ruling:
    """What becomes of a plugin that was found; where it does not load, `why`, whose fault, and the cure."""

    found: Found
    state: State
    why: str = ""
    who: str = ""
    cure: str = ""


def settle(found: Iterable[Found], disabled: Collection[str], safe: bool) -> Iterator[Ruling]:
    """Which plugins load, in order of names.

    Two strangers with one name: neither loads. A stranger with the name of a built-in does not
    load, nor does a project's with the name of any other. `disabled` holds names of plugins, or of
    strangers' distributions.
    """
    everything = sorted(found, key=lambda one: (one.name, one.source != "built-in", one.origin))
    wanted: dict[str, list[Found]] = {}
    for one in everything:
        if not _off(one, disabled, safe):
            wanted.setdefault(one.name, []).append(one)
    for one in everything:
        rivals = wanted.get(one.name, [one])
        others = [each for each in rivals if each.source != "project"]
        if off := _off(one, disabled, safe):
            yield Ruling(one, off)
        elif one.problem:
            cure = "" if is_name(one.name) else _cure([one])
            yield Ruling(one, "failed", one.problem, one.origin, cure)
        elif len(rivals) == 1 or one.source == "built-in":
            yield Ruling(one, "loaded")
        elif rivals[0].source == "built-in":
            yield Ruling(one, "skipped", "a built-in plugin has that name", one.origin, _cure([one]))
        elif one.source == "project":
            yield Ruling(one, "skipped", f"{others[0].origin} has that name", one.origin, _cure([one]))
        elif len(others) == 1:
            yield Ruling(one, "loaded")
        else:
            both = " and ".join(each.origin for each in others)
            yield Ruling(one, "skipped", "they have one name, so neither is loaded", both, _cure(others))


def _cure(rivals: list[Found]) -> str:
    """How to be rid of one of several plugins with one name."""
    for one in rivals:
        if one.distribution:
            return f"to go without it: mino plugins disable {one.distribution}"
    return f"rename {rivals[0].path}"


def _off(one: Found, disabled: Collection[str], safe: bool) -> State | None:
    stranger = one.source != "built-in"
    if one.name in disabled or (stranger and one.distribution in disabled):
        return "disabled"
    return "skipped" if safe and stranger else None


def load(found: Found) -> Any:
    """Import a plugin: a module, or the attribute of one that its entry point names."""
    if found.source in ("file", "project"):
        return _run(found)
    module, _, attributes = found.value.partition("[")[0].partition(":")
    plugin: Any = import_module(module.strip())
    for attribute in filter(None, attributes.strip().split(".")):
        plugin = getattr(plugin, attribute)
    return plugin


def _run(found: Found) -> ModuleType:
    """A file as a module, without leaving a `__pycache__` beside what may be anywhere."""
    module = ModuleType(f"mino_file_{found.name}")
    module.__file__ = str(found.path)
    source = found.code if found.source == "project" else found.path.read_bytes()
    code = compile(source, module.__file__, "exec", dont_inherit=True)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their module up there
    try:
        exec(code, vars(module))  # noqa: S102 (the user's own file, named by the user)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def check_api(plugin: Any, found: Found) -> None:
    """PluginError where the plugin, or the module its entry point names, is for another API."""
    module = sys.modules.get(found.value.partition(":")[0].strip())
    for home in (plugin, module):
        stated = getattr(home, "MINO_API", API)
        if stated != API:
            raise PluginError(f"it is written for mino's API {stated!r}, and this mino has API {API}")


def register(manager: pluggy.PluginManager, name: str, plugin: Any) -> list[str]:
    """Register a plugin; the result says which of its hooks do not count, and why.

    PluginError where the plugin as a whole cannot be used; then nothing of it is registered.
    """
    import warnings

    import pluggy

    if other := manager.get_name(plugin):
        raise PluginError(f"it is the same object as the plugin {other!r}")
    try:
        with warnings.catch_warnings():  # that a hook is deprecated is told by `notes`
            warnings.simplefilter("ignore", DeprecationWarning)
            manager.register(plugin, name)
    except pluggy.PluginValidationError as error:
        raise PluginError(str(error).partition("\n")[2] or str(error)) from error  # we name the plugin
    problems: list[str] = []
    try:
        for caller in manager.get_hookcallers(plugin) or ():
            for impl in caller.get_hookimpls():
                if impl.plugin is plugin:
                    problems += _check(caller.name, impl, caller.has_spec())
    except PluginError:
        manager.unregister(plugin)
        raise
    return problems + _unmarked(plugin)


def notes(manager: pluggy.PluginManager, plugin: Any) -> list[str]:
    """What is odd about a registered plugin: that it has no hook, or uses what a later API will not have."""
    callers = manager.get_hookcallers(plugin) or ()
    told = [] if callers else ["has no hook: nothing in it is marked with @hookimpl"]
    for caller in callers:
        if caller.spec is None:
            continue
        hook, arguments = caller.spec.warn_on_impl, caller.spec.warn_on_impl_args or {}
        told += [f"{caller.name} is deprecated: {hook}"] if hook else []
        named = {name for impl in caller.get_hookimpls() if impl.plugin is plugin for name in impl.argnames}
        told += [
            f"the argument {name!r} of {caller.name} is deprecated: {arguments[name]}"
            for name in arguments
            if name in named
        ]
    return told


def _check(hook: str, impl: HookImpl, known: bool) -> list[str]:
    if impl.wrapper or impl.hookwrapper:
        raise PluginError(f"{hook} is a hook wrapper, and mino has none")
    code = getattr(impl.function, "__code__", None)
    if code is not None and code.co_flags & _LAZY:
        raise PluginError(f"{hook} must be an ordinary function, not a generator or a coroutine")
    if known or impl.optionalhook:
        return []
    return [f"there is no hook {hook}{did_you_mean(hook, names())}"]


def _unmarked(plugin: Any) -> list[str]:
    """What has a hook's name, or was marked as one, and pluggy does not see."""
    written: dict[str, Any] = getattr(plugin, "__dict__", {})
    return [
        f"{hook} is not marked with @hookimpl"
        for hook in names()
        if callable(written.get(hook)) and not hasattr(written[hook], "mino_impl")
    ] + [
        f"{name} is marked with @hookimpl and is no function but {type(value).__name__}"
        for name, value in written.items()
        if "mino_impl" in getattr(value, "__dict__", ()) and not isroutine(value)
    ]


def names() -> list[str]:
    """The names of all hooks, in the order in which `hooks` explains them."""
    return [name for name, value in vars(hooks).items() if hasattr(value, "mino_spec")]


def arguments(impl: HookImpl, have: Collection[str]) -> list[str]:
    """The arguments to hand an implementation, all positional: those it names, also with a default."""
    return [*impl.argnames, *takewhile(lambda name: name in have, impl.kwargnames)]


def closure(impl: HookImpl, moment: str, have: dict[str, object]) -> Callable[[Any], object]:
    """An implementation as a function of its one changing argument, `moment`."""
    function = impl.function
    wanted = arguments(impl, {moment, *have})
    if wanted == [moment]:
        return function
    if wanted[:1] == [moment]:
        rest = [have[name] for name in wanted[1:]]
        return lambda value: function(value, *rest)
    return lambda value: function(*(value if name == moment else have[name] for name in wanted))
