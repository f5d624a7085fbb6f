"""Whether this mino is one that a distribution asks for, by the lines of its metadata.

Installers see to that; but mino is upgraded on its own, and a plugin of another time then fails deep
inside. Only plain numbers are compared: whatever else a version may be is left to installers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def unmet(metadata: Iterable[str], name: str, version: str) -> str:
    """What the lines `Requires-Dist` ask of the distribution `name` and `version` is not; else nothing.

    `name` is normalised with underscores.
    """
    for line in metadata:
        key, _, rest = line.partition(":")
        if key != "Requires-Dist":
            continue
        requirement, _, marker = rest.partition(";")
        wanted, clauses = _split(requirement)
        if wanted != name or "extra" in marker:
            continue
        if not all(_holds(clause, version) for clause in clauses):
            return ",".join(clauses)
    return ""


def _split(requirement: str) -> tuple[str, list[str]]:
    """`mino-shell[local] (>=1, <2)` as its normalised name and its clauses."""
    text = requirement.replace("(", "").replace(")", "").strip()
    end = next((n for n, char in enumerate(text) if not (char.isalnum() or char in "-_.")), len(text))
    name, rest = text[:end], text[end:].strip()
    if rest.startswith("["):
        rest = rest.partition("]")[2]
    clauses = [clause.replace(" ", "") for clause in rest.split(",") if clause.strip()]
    return name.lower().replace("-", "_").replace(".", "_"), clauses


def _holds(clause: str, version: str) -> bool:
    """Whether a version is within one clause; True where one of the two is not plain numbers."""
    sign = clause[:2] if clause[:2] in ("~=", *_COMPARE) else clause[:1]
    bound, here = clause[len(sign) :], _numbers(version)
    any_last = bound.endswith(".*")
    wanted = _numbers(bound.removesuffix(".*"))
    if here is None or wanted is None or sign not in ("~=", *_COMPARE):
        return True
    width = max(len(here), len(wanted))
    if sign == "~=":
        return here[: len(wanted) - 1] == wanted[:-1] and _pad(here, width) >= _pad(wanted, width)
    if any_last:
        return _COMPARE[sign](_pad(here, width)[: len(wanted)], wanted)
    return _COMPARE[sign](_pad(here, width), _pad(wanted, width))


def _numbers(version: str) -> list[int] | None:
    parts = version.split(".")
    return [int(part) for part in parts] if all(map(str.isdecimal, parts)) else None


def _pad(numbers: list[int], width: int) -> list[int]:
    return numbers + [0] * (width - len(numbers))
