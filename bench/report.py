"""What was measured, as rows: a value, what it is a multiple of, its goal, and whether that is met."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: What the names of groups begin with in which all clients stand; the rest is what was measured.
BESIDE = "beside others: "


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `value` and `floor` are in `unit`, `ratio` is the one in the other. The goal is `most`, for the
    ratio if there is a floor, else for the value; a row without a goal is there to compare with.
    """

    group: str
    what: str
    value: float
    unit: str
    floor: float | None = None
    floor_is: str = ""
    most: float | None = None

    @property
    def ratio(self) -> float | None:
        """The value in floors."""
        return self.value / self.floor if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        judged = self.value if self.ratio is None else self.ratio
        return None if self.most is None else judged <= self.most

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        floor = f"{_number(self.floor)} {self.floor_is}" if self.floor is not None else ""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}×"
        goal = "" if self.most is None else f"≤ {self.most:g}{'×' if ratio else ' ' + self.unit}"
        met = {None: "", True: "met", False: "NOT MET"}[self.met]
        return self.what, f"{_number(self.value)} {self.unit}".strip(), floor, ratio, goal.strip(), met


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


@dataclass(slots=True)
class Report:
    """Every row, and the machine and day they are from; printed group by group as they come."""

    quick: bool
    rows: list[Row] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.time)
    load: tuple[float, float, float] = field(default_factory=os.getloadavg)

    def add(self, *rows: Row) -> None:
        """Take the rows of one group, and print them."""
        self.rows += rows
        if rows:
            print(f"\n{rows[0].group}", flush=True)
        print(_lined([row.cells() for row in rows]), flush=True)

    def value(self, what: str) -> float:
        """What was measured for a row."""
        return next(row.value for row in self.rows if row.what == what)

    def leave_out(self, what: str, why: str) -> None:
        """Say what could not be measured."""
        self.missing[what] = why
        print(f"\nleft out: {what}: {why}", flush=True)

    def machine(self) -> dict[str, Any]:
        """Where and when."""
        return {
            "day": time.strftime("%Y-%m-%d", time.gmtime(self.began)),
            "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_before": self.load,
            "load_after": os.getloadavg(),
            "quick": self.quick,
        }

    def write(self, path: Path) -> None:
        """Everything as JSON."""
        rows = [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in self.rows]
        text = json.dumps(
            {"machine": self.machine(), "rows": rows, "missing": self.missing, "seconds": self.seconds},
            indent=1,
            ensure_ascii=False,
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def _lined(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
