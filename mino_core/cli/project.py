"""A project's `.mino` folder at the start of a run: a person is asked once, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mino_core import interrupts
from mino_core.faults import one_line

if TYPE_CHECKING:
    from mino_core.plugins.project import Project
    from mino_core.session import Session

_YES, _NO = "yes", "no"


def ask(session: Session) -> bool | None:
    """Let the user decide about exactly what is in the folder now; None where there is no answer.

    What is there is listed; a question that is not answered is asked again the next time.
    """
    trust = session.host.trust
    project = trust.project()
    if project is None:
        return None
    if project.problem:
        session.notify(f"{project.folder} is ignored: {project.problem}", "warning")
        return None
    answer = session.question(_question(project, again=trust.was_given(project)), (_YES, _NO))
    if answer is None:
        return None
    trust.decide(project, answer == _YES)
    return answer == _YES


def ask_once(session: Session) -> None:
    """Ask about a folder that nobody has decided about yet."""
    trust = session.host.trust
    project = trust.project()
    if project is None or trust.decision(project) is not None:
        return
    try:
        ask(session)
    except interrupts.Terminated:
        raise
    except KeyboardInterrupt:
        pass  # not decided; the chat begins without it


def tell(session: Session) -> None:
    """Where nobody can be asked, an untrusted folder is ignored, and that is said."""
    trust = session.host.trust
    project = trust.project()
    if project is not None and not trust.decision(project):
        why = project.problem or "it is not trusted; a chat in this directory asks about it"
        session.notify(f"{project.folder} is ignored: {why}", "warning")


def _question(project: Project, *, again: bool) -> str:
    has = "has changed since you trusted it" if again else "comes with this directory"
    lines = [f"{one_line(str(project.folder))} {has}. In it:"]
    lines += [f"  commands/{one_line(name)}" for name in project.commands]
    lines += [
        f"  {one_line(str(path.relative_to(project.folder)))}, code that runs as you"
        for path in project.plugins
    ]
    return "\n".join([*lines, "Trust it? Its commands and plugins are used only then."])
