"""What stands behind blocks of plain text: what mino really says, by page."""

from __future__ import annotations

from pathlib import Path

from doc_world import World
from mino_core.testing import run


def _mistakes(world: World) -> str:
    """What mino says of a file with two mistakes."""
    lines = ["[session]", 'provder = "deepseek"', *[""] * 6, "max_rounds = 0"]
    path = Path(world.environ["MINO_HOME"]) / "config.toml"
    path.write_text("\n".join(lines))
    done = run(["-p", "hi"], world.environ)
    path.unlink()
    assert done.code == 2
    return done.err.removeprefix("Error: ").replace(f"{path.parent}/", "")


TEXTS = {"docs/reference/configuration.md": _mistakes}
