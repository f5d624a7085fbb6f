"""Well-known servers, as data: `mino --provider deepseek` needs nothing but a key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mino_core.values import value

#: How the name of every key variable ends; so an environment without one needs no presets read.
KEY_SUFFIX = "_API_KEY"


@value
class Preset:
    """One server: what `[providers.NAME]` would say about it.

    `keys` are the environment variables that may hold its key, in order; `model` is a model that
    is sure to exist there, or None.
    """

    name: str
    kind: str
    base_url: str
    keys: tuple[str, ...] = ()
    model: str | None = None

    def key(self, environ: Mapping[str, str]) -> str | None:
        """The first of the variables that holds something."""
        return next((name for name in self.keys if environ.get(name, "").strip()), None)


@cache
def presets() -> Mapping[str, Preset]:
    """All of them by name, in the order in which their keys are looked for."""
    import tomllib

    text = Path(__file__).with_name("presets.toml").read_text("utf-8")
    return {
        name: Preset(name, table["kind"], table["base_url"], tuple(table.get("keys", ())), table.get("model"))
        for name, table in tomllib.loads(text).items()
    }
