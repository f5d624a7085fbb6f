"""Plays the session of the README against the embedded model and prints what the terminal shows.

    python tests/docs/record.py ["QUESTION" ...]

The model has to be there: `mino local install`. Without questions, those of the README are asked.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from doc_pages import ENGLISH, Block, blocks
from doc_world import World, typed
from mino_core.testing import Server


def session() -> Block:
    """The block of the README that shows a session."""
    (found,) = [block for block in blocks(ENGLISH) if block.text.startswith("$ mino\nmino: ")]
    return found


def record(tmp_path: Path, cache: str, questions: list[str]) -> list[str]:
    """What a terminal shows of a chat with the embedded model, which is in this cache directory."""
    with Server() as server:
        world = World(tmp_path, server)
        world.unchoose()
        world.environ["XDG_CACHE_HOME"] = cache
        seen, code = world.play("mino", questions)
    assert code == 0, seen
    return seen


if __name__ == "__main__":
    asked = sys.argv[1:] or typed(session().text.splitlines())
    with tempfile.TemporaryDirectory() as folder:
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        print("$ mino", *record(Path(folder), cache, asked), sep="\n")
