"""`mino plugins new`: a package that is small, complete, and passes its own tests at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core import UsageError, __version__, say, say_json

if TYPE_CHECKING:
    from mino_core import Host

#: For each kind, what a package of it is about, and how it is used.
_ABOUT: Mapping[str, tuple[str, str]] = {
    "provider": ("A kind of provider for mino.", "mino --provider {name} --model MODEL"),
    "command": ("A slash command for mino.", 'echo "/{name} the sea" | mino -i'),
    "history": ("A place where mino keeps conversations.", "mino --history {name}"),
    "renderer": ("A way in which mino draws answers.", "mino --renderer {name}"),
    "input": ("A way in which mino reads a line.", "mino --input {name}"),
    "tool": (
        "A tool that mino's model may call.",
        'mino -p "How often does each word occur in: one two one"',
    ),
}
KINDS = tuple(_ABOUT)
#: Kinds of which one is a function, and has the plugin's name.
_FUNCTIONS = ("command", "tool")
_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def write(host: Host, name: str, kind: str, into: str, *, dry: bool, as_json: bool) -> int:
    """Write the package `mino-NAME` into a folder. UsageError where its name or its place is taken."""
    name = name.removeprefix("mino-")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a plugin: lower-case letters, digits and '-'")
    if name.startswith("test") or (kind in _FUNCTIONS and _is_taken(name.replace("-", "_"))):
        raise UsageError(
            f"{name!r} means something in Python, to pytest or to the package itself; take another name"
        )
    if any(plugin.name == name and plugin.source == "built-in" for plugin in host.plugins):
        raise UsageError(f"a built-in plugin is called {name!r}; another one of that name would not load")
    folder = Path(into).expanduser() / f"mino-{name}"
    files = _files(name, kind)
    if os.path.lexists(folder):
        raise UsageError(f"{folder} is there already")
    if not dry:
        _write(folder, files)
    if as_json:
        say_json({"folder": str(folder), "files": list(files), "written": not dry})
    else:
        say("\n".join(f"{folder / path}" for path in files))
        if not dry:
            say(f"Try it: cd {folder} && python -m pytest; README.md says more")
    return 0


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}") from error


def _is_taken(word: str) -> bool:
    """Whether a function of that name could not be written, or would hide what the package uses."""
    import builtins
    import keyword

    return keyword.iskeyword(word) or hasattr(builtins, word) or word in ("call", "hookimpl")


def _files(name: str, kind: str) -> dict[str, str]:
    """The files of the package, by their paths in it."""
    module = f"mino_{name.replace('-', '_')}"
    about, use = _ABOUT[kind]
    words = {
        "name": name,
        "module": module,
        "function": name.replace("-", "_"),
        "Class": "".join(part.capitalize() for part in (*name.split("-"), kind)),
        "about": about,
        "use": use.format(name=name),
        "mino": __version__,
    }
    places = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{module}/__init__.py": f"{kind}.py",
        f"tests/test_{module}.py": f"test_{kind}.py",
    }
    return {place: _filled(template, words) for place, template in places.items()}


def _filled(template: str, words: Mapping[str, str]) -> str:
    from string import Template

    return Template((_TEMPLATES / f"{template}.in").read_text("utf-8")).substitute(words)
