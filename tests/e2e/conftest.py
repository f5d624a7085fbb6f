"""What the tests of the terminal share."""

import threading

import pytest


@pytest.fixture
def gate():
    """Closed; opened at the latest when the test is over."""
    gate = threading.Event()
    yield gate
    gate.set()
