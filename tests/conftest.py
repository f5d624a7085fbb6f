"""What holds for every test."""

from collections.abc import Iterator

import pytest
from record_schema import check


@pytest.fixture(autouse=True)
def _written_records_are_as_documented(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every conversation that the real program leaves behind in a test is held against the schema.

    A module that damages files on purpose says `DAMAGES_FILES = True`.
    """
    yield
    folder = getattr(request.node, "funcargs", {}).get("tmp_path")
    is_whole = "e2e" in request.path.parts and not getattr(request.module, "DAMAGES_FILES", False)
    if is_whole and folder is not None and folder.is_dir():
        check(folder)
