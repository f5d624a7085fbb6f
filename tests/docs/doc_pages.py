"""The pages of the documentation, taken apart: fenced blocks, commands, headings, links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
PAGES = (ENGLISH, CHINESE, ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", *sorted(ROOT.glob("docs/**/*.md")))
#: What a block may be; the tests know what to do with each.
LANGUAGES = ("python", "toml", "console", "text", "jsonl", "markdown")

_FENCE = re.compile(r"^( *)```(.*)$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `language` is the first word behind its fence, `line` that of the fence.

    `named` is the second word: the file that a block is in which no line can say so.
    """

    page: str
    line: int
    language: str
    text: str
    named: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language})"

    @property
    def file(self) -> str:
        """The file that the block says it is: its first line is a comment with a path and nothing else."""
        said = re.match(r"# (\S+\.(?:py|toml))\n", self.text)
        return said[1] if said else self.named

    def commands(self) -> list[tuple[str, list[str]]]:
        """The commands of a console block, each with the lines that it is shown to write."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
            else:
                raise AssertionError(f"{self}: {line!r} stands before any command")
        for _, lines in found:
            while lines and not lines[-1]:
                lines.pop()
        return found


def name(path: Path) -> str:
    """How the tests call a page."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    found: list[Block] = []
    begun: tuple[int, int, list[str]] | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if begun is None and fence:
            begun, lines = (number, len(fence[1]), [*fence[2].split(" "), ""]), []
        elif begun is not None and fence and not fence[2]:
            text = "".join(f"{each}\n" for each in lines)
            found.append(Block(name(path), begun[0], begun[2][0], text, begun[2][1]))
            begun = None
        elif begun is not None:
            lines.append(line[begun[1] :])
    assert begun is None, f"{name(path)}:{begun}: a block that never ends"
    return found


def prose(path: Path) -> str:
    """A page without its blocks."""
    return re.sub(r"^( *)```.*?^ *```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(path: Path) -> list[str]:
    """Where a page leads."""
    return _LINK.findall(prose(path))


def anchors(path: Path) -> set[str]:
    """The names that a page's headings can be reached by."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(path: Path, heading: str) -> dict[str, str]:
    """The first table below a heading: what stands in its first column, without marks, and the rest."""
    after = re.split(rf"^#+ {re.escape(heading)}$", path.read_text("utf-8"), flags=re.MULTILINE)[1]
    rows: dict[str, str] = {}
    for line in after.splitlines():
        if line.startswith("|"):
            first, _, rest = line.strip("|").partition("|")
            rows[first.replace("`", "").strip()] = rest.strip()
        elif rows:
            break
    return dict(list(rows.items())[2:])
