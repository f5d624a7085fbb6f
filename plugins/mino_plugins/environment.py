"""Which environment this mino lives in, and the one right command there to add or remove a package.

A virtual environment belongs to whoever made it: what pip puts into one of pipx or of `uv tool` is
gone, without a word, after its next upgrade. A Python that the system manages takes nothing.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from mino_core import UsageError

#: The distribution that plugins are put beside.
OURS = "mino-shell"
Kind: TypeAlias = Literal["pipx", "uv tool", "pip", "uv pip", "managed"]


class Environment(NamedTuple):
    """`kind` says what keeps it, `prefix` is where it is, `python` its interpreter."""

    kind: Kind
    prefix: Path
    python: str

    def installing(self, requirements: Iterable[str]) -> list[str]:
        """The command that adds these. UsageError where there is none, saying what to do."""
        wanted = list(requirements)
        match self.kind:
            case "pipx":
                return ["pipx", "inject", self.prefix.name, *wanted]
            case "uv tool":
                main, others = _receipt(self.prefix)
                return _uv_tool(main, dict.fromkeys([*others.values(), *wanted]))
            case "uv pip":
                return ["uv", "pip", "install", "--python", self.python, *wanted]
            case "pip":
                return [self.python, "-m", "pip", "install", *wanted]
        raise UsageError(
            "this Python is managed by the system and takes no packages from anyone else; give mino an"
            " environment of its own, in one of two ways:\n"
            f"  pipx install {OURS} && pipx inject {OURS} {' '.join(wanted)}\n"
            f"  uv tool install {OURS} {' '.join(f'--with {one}' for one in wanted)}"
        )

    def removing(self, distributions: Iterable[str]) -> list[str]:
        """The command that takes these away again. UsageError where there is none."""
        wanted = list(distributions)
        match self.kind:
            case "pipx":
                return ["pipx", "uninject", self.prefix.name, *wanted]
            case "uv tool":
                main, others = _receipt(self.prefix)
                gone = set(map(normal, wanted))
                return _uv_tool(main, [one for name, one in others.items() if name not in gone])
            case "uv pip":
                return ["uv", "pip", "uninstall", "--python", self.python, *wanted]
            case "pip":
                return [self.python, "-m", "pip", "uninstall", "--yes", *wanted]
        raise UsageError(
            "this Python is managed by the system: its own package manager removes what it holds;"
            f" `mino plugins disable {wanted[0]}` goes without it"
        )


def here(
    prefix: str = sys.prefix, base: str = sys.base_prefix, stdlib: str = "", *, has_pip: bool | None = None
) -> Environment:
    """The environment of this process."""
    from importlib.util import find_spec

    place = Path(prefix)
    pip = find_spec("pip") is not None if has_pip is None else has_pip
    kind: Kind = "pip" if pip else "uv pip"
    if (place / "uv-receipt.toml").is_file():
        kind = "uv tool"
    elif (place / "pipx_metadata.json").is_file():
        kind = "pipx"
    elif prefix == base and Path(stdlib or sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file():
        kind = "managed"
    return Environment(kind, place, sys.executable)


def is_there(distribution: str) -> bool:
    """Whether a distribution is installed here."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def normal(name: str) -> str:
    """A distribution's name as installers compare them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _uv_tool(main: str, others: Iterable[str]) -> list[str]:
    """`uv tool` keeps what it is told and nothing else, so everything is named each time."""
    command = ["uv", "tool", "install", main]
    for one in others:
        editable = one.startswith("-e ")
        command += ["--with-editable", one.removeprefix("-e ")] if editable else ["--with", one]
    return command


def _receipt(prefix: Path) -> tuple[str, dict[str, str]]:
    """What mino was asked for as, and the others beside it by name, from what `uv tool` wrote down."""
    import tomllib

    file = prefix / "uv-receipt.toml"
    try:
        table = tomllib.loads(file.read_text("utf-8"))
        wanted = {normal(one["name"]): _requirement(one) for one in table["tool"]["requirements"]}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}); run: uv tool install {OURS} --with PLUGIN, naming every plugin"
        ) from error
    return wanted.pop(OURS, OURS).removeprefix("-e "), wanted


def _requirement(one: Mapping[str, Any]) -> str:
    """One line of the receipt as it is given on a command line."""
    if place := one.get("editable"):
        return f"-e {place}"
    if place := one.get("path") or one.get("directory"):
        return str(place)
    extras = f"[{','.join(one['extras'])}]" if one.get("extras") else ""
    if url := one.get("url") or (f"git+{one['git']}" if one.get("git") else ""):
        return f"{one['name']}{extras} @ {url}"
    return f"{one['name']}{extras}{one.get('specifier', '')}"
