"""The user's word on a project's folder: asked once, kept in state.toml, and over when the folder changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core.errors import UsageError

from . import memory, project
from .project import Project

if TYPE_CHECKING:
    from mino_core.config import Config


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
        house = self._config.environ.get("HOME")
        try:
            return project.find(Path.cwd(), self._config.home, Path(house).resolve() if house else None)
        except OSError:
            return None  # the working directory is gone

    def decision(self, project: Project) -> bool | None:
        """Whether exactly what is in that folder is trusted; None where nobody has decided."""
        return project.decision(self._decided)

    def was_given(self, project: Project) -> bool:
        """Whether that folder is trusted, or was once, whatever was in it then."""
        return project.was_trusted(self._decided)

    def decide(self, project: Project, answer: bool) -> None:
        """Remember the user's decision. Where it is yes, the project's plugins are loaded, now.

        UsageError where nobody could have looked at all of it; ConfigError where it cannot be kept.
        """
        if project.problem:
            raise UsageError(f"{project.folder} cannot be trusted: {project.problem}")
        decided = {str(project.folder): project.decided(answer)}
        memory.change(self._config.home, lambda table: table.setdefault("trust", {}).update(decided))
        self._decided |= decided
        if answer:
            self._adopt(project)
