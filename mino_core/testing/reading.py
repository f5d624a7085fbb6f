"""Reads lines as the shell does, with an Input under test: `python -m mino_core.testing.reading`.

Arguments: `module:factory`, the file that tells what was read, `quiet` or `echo`, and `ahead` where
the input is to be made only after something was typed. Each line of that file is one outcome:
`line "..."`, `answer "..."`, `end` or `interrupt`. A line that is `ask QUESTION` asks that question,
with the choices yes and no.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

from mino_core import interrupts
from mino_core.keyboard import typing_ahead
from mino_core.screen import Screen
from mino_core.settings import Settings


def main(factory: str, told: str, quiet: str, ahead: str = "") -> None:
    """Read until the end of input."""
    module, _, name = factory.partition(":")
    make = getattr(import_module(module), name)
    file = Path(told)
    with interrupts.installed():
        screen = Screen()
        with (
            typing_ahead(screen, quiet=quiet == "quiet"),
            file.open("a", encoding="utf-8", buffering=1) as out,  # it is there: keys are kept from here on
        ):
            if ahead:
                interrupts.wait(0)
            made = make(Settings({}, path="input", home=file.parent), screen)
            try:
                while True:
                    try:
                        with interrupts.armed():
                            line = made.read("You> ")
                    except EOFError:
                        out.write("end\n")
                        return
                    except KeyboardInterrupt:
                        out.write("interrupt\n")
                        continue
                    out.write(f"line {json.dumps(line)}\n")
                    if line.startswith("ask "):
                        with interrupts.armed():
                            answer = made.ask(line[4:], ["yes", "no"])
                        out.write(f"answer {json.dumps(answer)}\n")
            finally:
                if close := getattr(made, "close", None):
                    close()


if __name__ == "__main__":
    main(*sys.argv[1:])
