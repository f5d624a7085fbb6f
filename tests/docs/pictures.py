"""Draws the pictures of the README: a real mino on a real terminal, and a server that says what is below.

Run it as `python tests/docs/pictures.py`. It writes `docs/pictures/dark.svg` and `light.svg`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from mino_core import ToolCall, Usage
from mino_core.testing import Server, Terminal, chat, home, mino

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
_CONFIG = """
[session]
provider = "demo"
[providers.demo]
kind = "openai-chat"
base_url = "{url}/v1"
model = "demo-1"
"""
_TOOL = '''
from mino_core import Verdict, hookimpl

def read_file(path: str) -> str:
    """Read a file."""
    return open(path).read()

@hookimpl
def mino_tools():
    return {"read_file": read_file}

@hookimpl
def mino_approve(call):
    return Verdict(allowed=True)
'''
_FIRST = """\
`fib.py` doubles the work with **every step**. Keeping what is known makes it linear:

```python
from functools import cache

@cache
def fib(n: int) -> int:
    \"\"\"The n-th number of Fibonacci.\"\"\"
    return n if n < 2 else fib(n - 1) + fib(n - 2)
```

| n | calls before | calls now |
|--:|-------------:|----------:|
| 10 | 177 | 11 |
| 20 | 21 891 | 21 |
| 30 | 2 692 537 | 31 |
"""
_SECOND = """\
1. **缓存**：每个 `n` 只算一次，之后直接取出。
2. 适合*纯函数*；参数必须可哈希，见[文档](https://docs.python.org/3/library/functools.html)。
"""


def draw(folder: Path = FOLDER) -> None:
    """Hold the conversation, and draw it twice."""
    with tempfile.TemporaryDirectory() as place, Server() as server:
        env = home(Path(place), _CONFIG.format(url=server.url), FORCE_HYPERLINK="1")
        plugins = Path(env["MINO_HOME"]) / "plugins"
        plugins.mkdir(exist_ok=True)
        (plugins / "files.py").write_text(_TOOL)
        (Path(env["HOME"]) / "fib.py").write_text(
            "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        )
        server.reply(
            *chat(ToolCall("1", "read_file", '{"path": "fib.py"}'), usage=Usage(420, None, None, 18))
        )
        server.reply(*chat(*_FIRST, usage=Usage(507, 420, None, 161)))
        server.reply(*chat(*_SECOND, usage=Usage(702, 668, None, 57)))
        with Terminal(mino(), env, columns=84, rows=36) as terminal:
            for n, question in enumerate(("Why is fib.py slow?", "用中文说说缓存"), 1):
                terminal.wait_for("You>", count=n)
                terminal.type(f"{question}\r")
            terminal.wait_for("You>", count=3)
            terminal.svg(folder / "dark.svg")
            terminal.svg(folder / "light.svg", light=True)


if __name__ == "__main__":
    draw()
