"""What holds for every test."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from record_schema import check

# A busy machine is no fault; and a gate that is to hold must not draw lots.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("patient"), derandomize=True)
settings.load_profile("gate" if os.environ.get("CI") else "patient")


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
