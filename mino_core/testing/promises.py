"""How a suite says what is broken."""

from __future__ import annotations


def promise(kept: object, broken: str, why: str) -> None:
    """Fail where a promise is not kept, with what was seen and why it matters."""
    if not kept:
        raise AssertionError(f"{broken}\nWhy it matters: {why}")
