"""How long to fuzz: a moment, as part of the suite, or FUZZ_SECONDS in all, as `make fuzz` asks."""

from __future__ import annotations

import os
import time

import pytest

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test again and again, with other examples each time, for its share of the seconds."""
    if not SECONDS:
        return None
    until = time.monotonic() + SECONDS / len(pyfuncitem.session.items)
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    runs = 0
    while time.monotonic() < until:
        pyfuncitem.obj(**arguments)
        runs += 1
    pyfuncitem.add_report_section("call", "fuzz", f"{runs} runs")
    return True
