"""A plugin for another mino is skipped, and both versions are named."""

import pytest
from mino_core import __version__, interrupts
from mino_core.plugins import loading
from mino_core.plugins.requirement import unmet
from shelf import Shelf, lines, row


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        ("mino-shell", True),
        ("mino-shell>=1", True),
        ("mino_shell >= 1.2, < 2", True),
        ("Mino.Shell (>=1.2.3)", True),
        ("mino-shell[local]>=1.2.4", False),
        ("mino-shell<1.2.3", False),
        ("mino-shell<=1.2.3", True),
        ("mino-shell>1.2.3", False),
        ("mino-shell==1.2.3.0", True),
        ("mino-shell==1.2.*", True),
        ("mino-shell==1.3.*", False),
        ("mino-shell!=1.2.*", False),
        ("mino-shell!=1.2.4", True),
        ("mino-shell~=1.1", True),
        ("mino-shell~=1.2.1", True),
        ("mino-shell~=1.3", False),
        ("mino-shell~=1.1.0", False),
        ("mino-shell>=2; python_version >= '3'", False),
        ("mino-shell>=2; extra == 'test'", True),
        ("mino-shell>=2.0rc1", True),  # not plain numbers: an installer's business
        ("mino-shell @ https://example.com/mino.whl", True),
        ("mino-shell-more>=9", True),
        ("other>=9", True),
    ],
)
def test_a_requirement_is_met_or_not(requirement, met):
    found = unmet(["Name: x", f"Requires-Dist: {requirement}"], "mino_shell", "1.2.3")
    assert (not found) is met


def test_a_version_that_is_not_plain_numbers_is_no_reason_to_skip():
    assert unmet(["Requires-Dist: mino-shell<1"], "mino_shell", "1.0.dev1") == ""


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    with interrupts.installed():
        yield Shelf(tmp_path, monkeypatch)


def test_a_distribution_for_another_mino_is_skipped_with_both_versions(shelf):  # PL-13
    shelf.plugin("late", "raise AssertionError('imported')")
    metadata = next(shelf.site.glob("mino_late*/METADATA"))
    metadata.write_text("Name: mino-late\nVersion: 1.0\nRequires-Dist: mino-shell>=99,<100\n\nmino-shell\n")
    host = shelf.host()
    (line,) = lines(host)
    assert f"it is written for mino >=99,<100, and this is mino {__version__}" in line
    assert "plugin 'late' (mino-late 1.0)" in line
    assert row(host, "late").state == "failed"


@pytest.mark.parametrize("stated", [loading.API + 1, loading.API - 1, "1"])
def test_a_module_for_another_api_is_skipped_with_both_numbers(shelf, stated):  # PL-13
    shelf.plugin("other", f"MINO_API = {stated!r}")
    (line,) = lines(shelf.host())
    assert f"written for mino's API {stated!r}, and this mino has API {loading.API}" in line


def test_what_is_deprecated_works_and_is_noted_not_told(shelf, monkeypatch):
    """How a hook or an argument will go: for one API longer it works, and `mino plugins check` says so."""
    from mino_core import hooks

    aged = hooks.hookspec(
        hooks.mino_request,
        warn_on_impl=DeprecationWarning("use mino_new"),
        warn_on_impl_args={"session": DeprecationWarning("it is None now")},
    )
    monkeypatch.setattr(hooks, "mino_request", aged)
    shelf.plugin("old", "@hookimpl\ndef mino_request(request, session):\n    return None\n")
    shelf.plugin("new", "@hookimpl\ndef mino_event(event):\n    pass\n")
    host = shelf.host()
    assert lines(host) == []
    assert row(host, "old").notes == [
        "mino_request is deprecated: use mino_new",
        "the argument 'session' of mino_request is deprecated: it is None now",
    ]
    assert row(host, "new").notes == []
