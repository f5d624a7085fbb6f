"""What holds for every test."""

from collections.abc import Iterator

import pytest
from record_schema import check


@pytest.fixture(autouse=True)
def _written_records_are_as_documented(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every conversation that a test leaves behind is held against the schema.

    What damages files on purpose is marked `damages`.
    """
    yield
    folder = getattr(request.node, "funcargs", {}).get("tmp_path")
    is_whole = request.node.get_closest_marker("damages") is None
    if is_whole and folder is not None and folder.is_dir():
        check(folder)
