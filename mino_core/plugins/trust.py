"""The user's word on a project's folder: asked once, kept in state.toml, and over when the folder changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core.errors import UsageError
from mino_core.faults import one_line

if TYPE_CHECKING:
    from mino_core.config import Config
    from mino_core.session import Session

    from .project import Project

NAME = ".mino"
_YES, _NO = "yes", "no"
#: What state.toml's `[trust]` says of a folder, before the hash over what was in it.
_TRUSTED, _REFUSED = "trusted", "refused"
_WORDS = {_TRUSTED: True, _REFUSED: False}


class Trust:
    """What was decided so far. `adopt` loads the plugins of a project that is trusted from now on."""

    def __init__(self, config: Config, adopt: Callable[[Project], None], *, safe: bool) -> None:
        self._config = config
        self._adopt = adopt
        self._safe = safe
        self._decided = dict(config.state.get("trust", {}))

    def project(self) -> Project | None:
        """The `.mino` folder of the project here, as it is now; None where there is none, or in safe mode."""
        if self._safe:
            return None
        try:
            folder = nearest(os.getcwd(), self._config.home, self._config.environ.get("HOME", ""))
        except OSError:
            return None  # the working directory is gone
        if folder is None:
            return None
        from .project import read

        return read(folder)

    def decision(self, project: Project) -> bool | None:
        """Whether exactly what is in that folder is trusted; None where nobody has decided."""
        word, _, digest = self._kept(project).partition(" ")
        return None if project.problem or digest != project.digest else _WORDS.get(word)

    def was_given(self, project: Project) -> bool:
        """Whether that folder is trusted, or was once, whatever was in it then."""
        return self._kept(project).startswith(f"{_TRUSTED} ")

    def _kept(self, project: Project) -> str:
        return str(self._decided.get(str(project.folder), ""))

    def ask(self, session: Session, project: Project) -> bool | None:
        """Let a person decide about exactly what is in that folder now; None where nobody answers.

        What is there is listed. A question that is not answered will be asked again.
        """
        if self.decision(project):
            has = "is trusted as it is now"
        elif self.was_given(project):
            has = "has changed since you trusted it"
        else:
            has = "comes with this directory"
        answer = session.question(_question(project, has), (_YES, _NO))
        if answer is None:
            return None
        self.decide(project, answer == _YES)
        return answer == _YES

    def decide(self, project: Project, answer: bool) -> None:
        """Remember the user's decision. Where it is yes, the project's plugins are loaded, now.

        UsageError where nobody could have looked at all of it; ConfigError where it cannot be kept.
        """
        if project.problem:
            raise UsageError(f"{project.folder} cannot be trusted: {project.problem}")
        decided = {str(project.folder): f"{_TRUSTED if answer else _REFUSED} {project.digest}"}
        from . import memory

        memory.change(self._config.home, lambda table: table.setdefault("trust", {}).update(decided))
        self._decided |= decided
        if answer:
            self._adopt(project)


def nearest(place: str, home: Path, house: str) -> Path | None:
    """The nearest `.mino` of a folder or one above it.

    The search ends before `house`, the user's home directory; `home`, which is MINO_HOME, is nobody's
    project.
    """
    stop = os.path.realpath(house) if house else ""
    while place != stop:
        folder = os.path.join(place, NAME)
        if os.path.isdir(folder) and not (home.exists() and os.path.samefile(folder, home)):
            return Path(folder)
        place, below = os.path.dirname(place), place
        if place == below:
            break
    return None


def _question(project: Project, has: str) -> str:
    lines = [f"{one_line(str(project.folder))} {has}. In it:"]
    lines += [f"  commands/{one_line(name)}" for name in project.commands]
    lines += [
        f"  {one_line(str(path.relative_to(project.folder)))}, code that runs as you"
        for path in project.plugins
    ]
    return "\n".join([*lines, "Trust it? Its commands and plugins are used only then."])
