"""The page on protocols says only what something shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/protocols.md").read_text("utf-8")
QUIRKS = PAGE[PAGE.index("## Quirks") :]


def test_every_transcript_that_is_named_is_there():
    there = {path.stem for path in (ROOT / "tests/wire/transcripts").glob("*.sse")}
    named = set(re.findall(r"`((?:chat|messages|responses)-[a-z0-9-]+)`", QUIRKS))
    assert named <= there


def test_every_test_that_is_named_is_there():
    for row in QUIRKS.splitlines():
        files = re.findall(r"`(test_\w+\.py)`", row)
        sources = [path.read_text("utf-8") for file in files for path in (ROOT / "tests").rglob(file)]
        assert len(sources) == len(files), row
        for words in re.findall(r"\*([a-z ]+)\*", row):
            assert any(f"_{words.replace(' ', '_')}" in source for source in sources), (row, words)
