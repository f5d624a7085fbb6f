"""The page on protocols says only what something shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/protocols.md").read_text("utf-8")
SHOWN = PAGE[PAGE.index("## Connections") :]


def test_the_page_names_every_transcript_and_no_other():
    there = {path.stem for path in (ROOT / "tests/wire/transcripts").glob("*.sse")}
    named = set(re.findall(r"`((?:chat|messages|responses)-[a-z0-9-]+)`", SHOWN))
    assert named == there


def test_the_page_counts_the_transcripts():
    there = len(list((ROOT / "tests/wire/transcripts").glob("*.sse")))
    assert f"of {there}, and" in SHOWN


def test_every_test_that_is_named_is_there():
    for row in SHOWN.splitlines():
        files = re.findall(r"`(test_\w+\.py)`", row)
        sources = [path.read_text("utf-8") for file in files for path in (ROOT / "tests").rglob(file)]
        assert len(sources) == len(files), row
        for words in re.findall(r"(?<!\*)\*([A-Za-z, ]+)\*(?!\*)", row):
            called = f"_{words.replace(' ', '_')}"  # a test, or a row of its table
            assert any(called in source or f'{words}"' in source for source in sources), (row, words)
