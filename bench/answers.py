"""The answers that are streamed: texts of one shape each, cut into deltas of a few characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice

#: The last word of every answer.
END = "ZZENDZZ"

_PROSE = (
    "The **request** travels to the server as `bytes`, and the answer comes back in small pieces. "
    "Each piece carries a few characters, so the reader sees progress early; _latency_ matters more. "
)
_CJK = "终端收到的文字是一小段一小段的，程序每收到一段就显示一段，**宽字符**要占两列，换行的位置也要算对。"


@dataclass(frozen=True, slots=True)
class Script:
    """One answer: `deltas` of `size` characters in a shape, `rate` a second (0: at full speed).

    `marks` is how many further deltas follow, each one word of its own (`q000123q`), 50 a second;
    before them the server pauses, so that whoever reads has caught up.
    """

    shape: str = "prose"
    deltas: int = 200
    size: int = 5
    rate: float = 0.0
    marks: int = 0


def cut(script: Script) -> tuple[list[str], list[str]]:
    """The deltas, and the marks that follow them; END is the last of all."""
    text = "".join(_until(script.deltas * script.size, _SHAPES[script.shape]()))
    deltas = [text[at : at + script.size] for at in range(0, len(text), script.size)]
    closing = "\n```\n\n" if script.shape == "code" else "\n\n"
    if not script.marks:
        return [*deltas, closing + END], []
    if script.shape == "table" and deltas:
        deltas.append(" |\n")  # the row that was cut ends here
    before, after = _AROUND.get(script.shape, ("", " "))
    marks = [f"{before}q{n:06d}q{after}" for n in range(script.marks)]
    return deltas, [*marks, closing + END]


#: What stands around a mark so that the shape goes on.
_AROUND = {"code": ("", "\n"), "table": ("| 0 | row | 0 | ", " |\n"), "lists": ("\n- ", "")}


def _until(length: int, pieces: Iterator[str]) -> Iterator[str]:
    while length > 0:
        piece = next(pieces)[:length]
        length -= len(piece)
        yield piece


def _prose() -> Iterator[str]:
    for n in count(1):
        if n % 12 == 0:
            yield f"\n\n## Section {n // 12}\n\n"
        elif n % 12 == 6:
            yield "\n\n- first point with `code`\n- second point with **bold**\n- third point\n\n"
        elif n % 3 == 0:
            yield "\n\n"
        yield _PROSE


def _paragraph() -> Iterator[str]:
    while True:
        yield _PROSE


def _code() -> Iterator[str]:
    yield "Here is the program:\n\n```python\n"
    for n in count():
        yield (
            f"def handler_{n}(request, limit={n}):\n    # step {n}\n"
            f"    return [x * {n} for x in request.items if x > limit]\n\n"
        )


def _table() -> Iterator[str]:
    yield "| id | name | value | note |\n|---:|:-----|:-----:|------|\n"
    for n in count():
        yield f"| {n} | row `{n}` | {n * 7919 % 10007} | some **text** in cell {n} |\n"


def _lists() -> Iterator[str]:
    for n in count():
        yield f"{'  ' * (n % 3)}- item number {n} with `code` and **bold** text\n"


def _cjk() -> Iterator[str]:
    for n in count(1):
        yield _CJK
        if n % 4 == 0:
            yield "\n\n"


_SHAPES: dict[str, Callable[[], Iterator[str]]] = {
    "prose": _prose,
    "paragraph": _paragraph,
    "code": _code,
    "table": _table,
    "lists": _lists,
    "cjk": _cjk,
}
SHAPES = tuple(_SHAPES)


def words(n: int, shape: str = "prose") -> str:
    """Some `n` characters of prose, for messages that are already there."""
    return "".join(islice(_until(n, _SHAPES[shape]()), None))
