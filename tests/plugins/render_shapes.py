"""Answers of every shape."""

from __future__ import annotations

import random

_WORDS = (
    "lorem ipsum dolor sit **amet** consectetur `code` adipiscing elit, sed *do* eiusmod tempor incididunt "
    "ut labore [et](https://e.x/y) dolore magna aliqua."
)


def _prose(paragraphs, words):
    dice = random.Random(1)
    pool = _WORDS.split()
    return "".join(" ".join(dice.choice(pool) for _ in range(words)) + "\n\n" for _ in range(paragraphs))


_ROW = "| some | words `x` | here |\n"
_ROWS = "".join(f"| {i} | 苹果 {i} | text {i} |\n" for i in range(1000))
SHAPES = {
    "prose": _prose(20, 60),
    "one paragraph": _prose(1, 3000),
    "a table": f"| a | b | c |\n|---|---|---|\n{_ROWS}",
    "small tables": f"| a | b | c |\n|---|---|---|\n{_ROW * 6}\nthen\n\n" * 30,
    "a fence": "```python\n" + "def f(x):\n    return x + 1  # comment\n" * 1500 + "```\n",
    "a long line of code": "```\n" + "x = 1; " * 3000,
    "a list": "".join(f"{i + 1}. item number {i} with **bold** text\n" for i in range(1000)),
    "a nested list": "".join("  " * (i % 10) + f"- item {i} with **bold**\n" for i in range(1000)),
    "quotes": "".join("> " * (1 + i // 50 % 4) + f"quoted {i} and *more*\n" for i in range(500)),
    "ideographs": "这是一个很长的段落，**重点**内容在这里，需要换行。" * 250,
    "one word": "x" * 10_000,
    "marks": "e" + "\u0301" * 10_000,
    "unclosed": "*a [b `c` $5 " * 250,
}
