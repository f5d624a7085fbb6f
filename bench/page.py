"""The page of the documentation that holds the tables: written from the results of a run, never by hand."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from .report import BESIDE, Row

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"
_BEGIN, _END = "<!-- {}: written by `python -m bench --write-docs` -->\n", "<!-- /{} -->\n"


def write(results: Path, page: Path = PAGE) -> None:
    """Put a run's tables into the page; that of other programs only where the run measured some."""
    read = json.loads(results.read_text(encoding="utf-8"))
    rows = [Row(**{name: row[name] for name in Row.__match_args__}) for row in read["rows"]]
    text = page.read_text(encoding="utf-8")
    ours = [row for row in rows if not row.group.startswith(BESIDE)]
    others = [row for row in rows if row.group.startswith(BESIDE)]
    if ours:
        text = _between(text, "budgets", _machine(read["machine"]) + "\n\n" + table(ours))
    if others:
        text = _between(text, "others", _beside(others))
    page.write_text(text, encoding="utf-8")


def table(rows: list[Row]) -> str:
    """The rows as Markdown, group by group."""
    lines = ["| what | measured | floor | ratio | goal |  |", "|---|---|---|---|---|---|"]
    for group, inside in groupby(rows, lambda row: row.group):
        lines.append(f"| **{group}** | | | | | |")
        lines += [f"| {' | '.join(row.cells())} |" for row in inside]
    return "\n".join(lines) + "\n"


def _machine(machine: dict[str, Any]) -> str:
    before, after = machine["load_before"][0], machine["load_after"][0]
    rough = " A rough run." if machine["quick"] else ""
    return (
        f"{machine['day']}, {machine['system']}, {machine['processor']} with {machine['cores']} cores, "
        f"Python {machine['python']}; the load was {before:.1f} before and {after:.1f} after.{rough}"
    )


def _beside(rows: list[Row]) -> str:
    """A line for each measure, a column for each program."""
    names = list(dict.fromkeys(row.what for row in rows))
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for group, inside in groupby(rows, lambda row: row.group):
        found = {row.what: row for row in inside}
        unit = next(iter(found.values())).unit
        cells = [found[name].cells()[1].removesuffix(f" {unit}") if name in found else "–" for name in names]
        lines.append(f"| {group.removeprefix(BESIDE)}, {unit} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _between(text: str, name: str, what: str) -> str:
    begin, end = _BEGIN.format(name), _END.format(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{PAGE} has no place for the table {name!r}: it lacks {begin!r} or {end!r}")
    return f"{before}{begin}\n{what}\n{end}{after}"
