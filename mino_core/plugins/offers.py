"""What plugins offer, by name: who keeps a name that two of them want."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mino_core.types import Tool
from mino_core.values import value

from .discovery import is_name

#: For each offering hook: what one of its things is called, and the methods of what a factory makes.
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "mino_providers": ("provider kind", ("stream",)),
    "mino_commands": ("command", ()),
    "mino_histories": ("history backend", ("conversations", "open", "remove")),
    "mino_renderers": ("renderer", ("show",)),
    "mino_inputs": ("input", ("read", "ask")),
    "mino_tools": ("tool", ()),
    "mino_subcommands": ("subcommand", ()),
}
#: What every server takes as a tool's name: ASCII, and not longer than this.
_LONGEST_TOOL = 64


@value
class Offer:
    """One thing that a plugin offers under a name."""

    name: str
    plugin: str
    value: Any

    @property
    def whole_name(self) -> str:
        """`plugin:name`, which always reaches it."""
        return f"{self.plugin}:{self.name}"


class Offers(Mapping[str, Offer]):
    """Offers by the shortest name that reaches each; `plugin:name` reaches every one."""

    def __init__(self, short: Mapping[str, Offer], everything: Iterable[Offer]) -> None:
        self._short = dict(short)
        self._whole = {offer.whole_name: offer for offer in everything}

    def __getitem__(self, name: str) -> Offer:
        return self._short[name] if name in self._short else self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._short)

    def __len__(self) -> int:
        return len(self._short)

    def __repr__(self) -> str:
        return f"<offers {sorted(self._short)}>"


@value
class Clash:
    """A name that more than one plugin wants; `text` says who has it now."""

    plugins: tuple[str, ...]
    text: str


def unfit(hook: str, name: object, value: object) -> str:
    """Why something cannot be offered under a name, or nothing."""
    word, _ = KINDS[hook]
    if not isinstance(name, str) or not (_is_tool(name) if hook == "mino_tools" else _is_name(name)):
        return f"{name!r} cannot be the name of a {word}: letters, digits, '-' and '_'"
    if hook == "mino_commands" and name != name.lower():
        return f"{name!r} cannot be the name of a command: those are in lower case"
    if not callable(value) and not (hook == "mino_tools" and isinstance(value, Tool)):
        return f"the {word} {name!r} is not callable but {type(value).__name__}"
    return ""


def _is_name(name: str) -> bool:
    """A folder of commands gives names with colons."""
    return all(map(is_name, name.split(":")))


def _is_tool(name: str) -> bool:
    return is_name(name) and name.isascii() and "." not in name and len(name) <= _LONGEST_TOOL


def settle(
    hook: str, given: Iterable[Offer], builtin: Collection[str], plugins: Collection[str]
) -> tuple[Offers, list[Clash]]:
    """Who has which name. A built-in keeps it; of two strangers neither has it.

    Among built-ins, what comes from a user's file (it says which, as `file`) yields to what is code.
    `x:y` belongs to the plugin x where there is one: a command in a folder called x yields.
    """
    wanted: dict[str, list[Offer]] = {}
    given = list(given)
    for offer in given:
        wanted.setdefault(offer.name, []).append(offer)
    short: dict[str, Offer] = {}
    clashes: list[Clash] = []
    for name, rivals in wanted.items():
        keeper = _keeper(name, rivals, builtin, plugins)
        if keeper is not None:
            short[name] = keeper
        losers = [offer for offer in rivals if offer is not keeper]
        short.update((offer.whole_name, offer) for offer in losers)
        if losers:
            clashes.append(_clash(KINDS[hook][0], name, rivals, keeper))
    return Offers(short, given), clashes


def _keeper(
    name: str, rivals: list[Offer], builtin: Collection[str], plugins: Collection[str]
) -> Offer | None:
    if ":" in name and name.partition(":")[0] in plugins:
        return None
    if len(rivals) == 1:
        return rivals[0]
    ours = [offer for offer in rivals if offer.plugin in builtin]
    code = [offer for offer in ours if getattr(offer.value, "file", None) is None]
    keepers = code or ours
    return keepers[0] if len(keepers) == 1 else None


def _clash(word: str, name: str, rivals: list[Offer], keeper: Offer | None) -> Clash:
    wanting = tuple(dict.fromkeys(offer.plugin for offer in rivals))
    others = " or ".join(repr(offer.whole_name) for offer in rivals if offer is not keeper)
    if len(wanting) == 1:
        who = f"the plugin {wanting[0]!r}, whose name for it is taken by another plugin's"
    else:
        who = "both " + " and ".join(map(repr, wanting))
    end = f"{keeper.plugin!r} keeps it; use {others}" if keeper else f"use {others}"
    return Clash(wanting, f"the {word} {name!r} is offered by {who}: {end}, or disable one in [plugins]")
