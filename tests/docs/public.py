"""Writes docs/reference/python.md, the page of all that a plugin may import, from the docstrings.

python tests/docs/public.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType, UnionType
from typing import get_args

import mino_core
import mino_core.testing
import mino_core.transport
from doc_pages import ROOT

PAGE = ROOT / "docs/reference/python.md"
_HEAD = """\
# Python

All that a plugin may import; other modules of mino change without notice. An argument with a `=` may be
left out. This page is written by `tests/docs/write.py` from the docstrings, which say more.
"""
#: Where the names that are no classes and no functions are explained, by comments above them.
_SOURCES = [*ROOT.glob("mino_core/*.py"), *ROOT.glob("mino_core/t*/*.py")]


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(map(_package, (mino_core, mino_core.transport, mino_core.testing)))


def _package(package: ModuleType) -> str:
    text = f"\n## `{package.__name__}`\n\n{_summary(package)}\n"
    for name in sorted(package.__all__, key=str.lower):
        value = getattr(package, name)
        text += f"\n**`{name}{_signature(value)}`** {_explained(name, value)}\n"
        methods = [f"- `{method}{_signature(code)}` {_summary(code)}\n" for method, code in _methods(value)]
        text += "\n" + "".join(methods) if methods else ""
    return text


def _explained(name: str, value: object) -> str:
    if inspect.isclass(value) or inspect.isfunction(value):
        return _summary(value)
    if isinstance(value, Enum):
        return f"A step of a reply: {value.value}."
    if isinstance(value, UnionType):
        return "One of " + ", ".join(f"`{each.__name__}`" for each in get_args(value)) + "."
    sources = (source.read_text("utf-8") for source in _SOURCES)
    comment = rf"((?:^#:? .*\n)+)(?:[A-Z]+, )*{name}\b.* ="
    found = next(
        (match for match in (re.search(comment, text, re.MULTILINE) for text in sources) if match), None
    )
    assert found, f"there is no comment above {name}"
    return " ".join(found[1].replace("#: ", "").replace("# ", "").split())


def _summary(value: object) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _signature(value: object) -> str:
    """The names of the arguments, those that may be left out with a `=`; the types are in the code."""
    if getattr(value, "_is_protocol", False) or isinstance(value, property):
        return ""
    if not inspect.isfunction(value) and (not inspect.isclass(value) or "__init__" not in vars(value)):
        return ""
    told = []
    for argument in inspect.signature(value).parameters.values():
        stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        told.append(stars + argument.name + ("" if argument.default is argument.empty else "="))
    return f"({', '.join(told[told[:1] == ['self'] :])})"


def _methods(value: object) -> Iterator[tuple[str, object]]:
    for name, code in vars(value).items() if inspect.isclass(value) else ():
        documented = inspect.isfunction(code) or isinstance(code, property)
        if documented and name[0] != "_" and not name.startswith("test_"):
            yield name, code
