"""A tool that the model may call: `mino_tools`.

Its name, its annotations and its docstring are all that the model is told of it. What it returns is
what the model reads; what it hands to `context.output` is for the person who looks on.
"""

import secrets
from typing import Literal

from mino_core import ToolContext, hookimpl

MINO_API = 1


def roll(context: ToolContext, dice: int = 1, sides: Literal[4, 6, 8, 10, 12, 20] = 6) -> dict[str, object]:
    """Roll dice, since a model cannot.

    Args:
        dice: How many.
        sides: How many sides each of them has.
    """
    if not 1 <= dice <= 100:
        raise ValueError("roll between 1 and 100 dice")  # the model reads this, and can do better
    shown = [secrets.randbelow(sides) + 1 for _ in range(dice)]
    context.output(f"{' '.join(map(str, shown))}\n")
    return {"rolls": shown, "sum": sum(shown)}


@hookimpl
def mino_tools():
    return {"roll": roll}
