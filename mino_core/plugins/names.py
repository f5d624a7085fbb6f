"""Whether what the configuration chooses is there, once it is known what the plugins offer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from mino_core.config.choice import left_out
from mino_core.errors import ConfigError, did_you_mean

from .offers import KINDS

if TYPE_CHECKING:
    from mino_core.config import Config


def unknown(config: Config, offers: Callable[[str], Collection[str]]) -> list[str]:
    """A line for each chosen name that nothing has; `offers` gives the names under a hook."""
    found: list[str] = []
    try:
        config.provider(kinds=offers("mino_providers"))
    except ConfigError as error:
        found.append(str(error))
    for key, name, hook in (
        ("history.backend", config.history.name, "mino_histories"),
        ("renderer.name", config.renderer.name, "mino_renderers"),
        ("input.name", config.input.name, "mino_inputs"),
    ):
        word, there = KINDS[hook][0], offers(hook)
        if name not in there:
            known = ", ".join(sorted(there)) or "none"
            problem = f"there is no {word} {name!r}; there are: {known}{did_you_mean(name, there)}"
            found.append(str(config.error(key, problem + left_out(config))))
    return found
