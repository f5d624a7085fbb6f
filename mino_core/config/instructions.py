"""What a model is told ahead of each conversation: by a flag, by a file, or by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mino_core.config import Config

#: The file that says it, in MINO_HOME, where no other is named.
FILE = "SOUL.md"
#: What a model is told where the user has written no SOUL.md.
INSTRUCTIONS = (
    "You are mino, a helpful assistant in a terminal. Answer plainly and to the point, in Markdown."
)


def read(config: Config, path: Path) -> tuple[str, str | None]:
    """What a model is told, and a warning where the file that says it cannot be read."""
    if config.flags.system is not None:
        return config.flags.system, None
    try:
        return path.read_bytes().decode("utf-8-sig").strip(), None
    except FileNotFoundError:
        if path == config.home / FILE:
            return INSTRUCTIONS, None
        raise config.error("session.instructions", f"there is no file {path}") from None
    except UnicodeDecodeError:
        problem = "it is not UTF-8 text"
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else str(error)
    return INSTRUCTIONS, f"{path} cannot be read ({problem}); the default instructions hold"
