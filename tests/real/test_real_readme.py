"""The session in the README is a recording: the embedded model still says the same."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "docs"))
from doc_world import same, typed
from record import record, session

pytestmark = pytest.mark.real


def test_the_session_in_the_readme_is_what_a_terminal_shows(model_cache, tmp_path):
    ((_, shown),) = session().commands()
    seen = record(tmp_path, str(model_cache), typed(shown))
    assert seen[0] == shown[0]
    assert same(shown, seen), "\n".join(seen)
