"""Runs of several things in turn, so that what disturbs one of them disturbs all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from math import log
from typing import TypeVar

_T = TypeVar("_T")


def interleaved(rounds: int, runs: Mapping[str, Callable[[], _T]]) -> dict[str, list[_T]]:
    """Each run's results, round by round; one round before them fills the caches and is forgotten."""
    results: dict[str, list[_T]] = {name: [] for name in runs}
    for n in range(rounds + 1):
        for name, run in runs.items():
            result = run()
            if n:
                results[name].append(result)
    return results


def medians(results: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of each."""
    return {name: statistics.median(values) for name, values in results.items()}


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def exponent(small: float, large: float, times: float) -> float:
    """How cost grows: 1 is linear, 2 quadratic, where the work became `times` as much."""
    return log(large / small) / log(times)
