"""The user's word on a project's folder: asked once, kept in state.toml, and over when the folder changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mino_core.errors import UsageError
from mino_core.faults import one_line

from . import memory, project
from .project import Project

if TYPE_CHECKING:
    from mino_core.config import Config
    from mino_core.session import Session

_YES, _NO = "yes", "no"


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

    def ask(self, session: Session, project: Project) -> bool | None:
        """Let a person decide about exactly what is in that folder now; None where nobody answers.

        What is there is listed. A question that is not answered will be asked again.
        """
        answer = session.question(_question(project, again=self.was_given(project)), (_YES, _NO))
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
        decided = {str(project.folder): project.decided(answer)}
        memory.change(self._config.home, lambda table: table.setdefault("trust", {}).update(decided))
        self._decided |= decided
        if answer:
            self._adopt(project)


def _question(project: Project, *, again: bool) -> str:
    has = "has changed since you trusted it" if again else "comes with this directory"
    lines = [f"{one_line(str(project.folder))} {has}. In it:"]
    lines += [f"  commands/{one_line(name)}" for name in project.commands]
    lines += [
        f"  {one_line(str(path.relative_to(project.folder)))}, code that runs as you"
        for path in project.plugins
    ]
    return "\n".join([*lines, "Trust it? Its commands and plugins are used only then."])
