"""Where mino's own files are, in an environment that may say little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mino_core.errors import ConfigError


def home_directory(environ: Mapping[str, str]) -> Path:
    """MINO_HOME, or `.mino` in the home directory; ConfigError where there is neither."""
    told = environ.get("MINO_HOME", "").strip()
    return expand(told or "~/.mino", environ).absolute()


def expand(path: str, environ: Mapping[str, str]) -> Path:
    """A path in which a leading `~` is the home directory of this environment."""
    first, _, rest = path.partition("/")
    if first != "~":
        return Path(path)
    home = environ.get("HOME", "").strip()
    if not home:
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            raise ConfigError("there is no home directory: set HOME, or MINO_HOME") from None
    return Path(home, rest)
