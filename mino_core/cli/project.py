"""A project's `.mino` folder at the start of a run: a person is asked once, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mino_core import interrupts

if TYPE_CHECKING:
    from mino_core.session import Session


def ask_once(session: Session) -> None:
    """Ask about a folder that nobody has decided about yet."""
    trust = session.host.trust
    project = trust.project()
    if project is None or trust.decision(project) is not None:
        return
    if project.problem:
        session.notify(f"{project.folder} is ignored: {project.problem}", "warning")
        return
    try:
        trust.ask(session, project)
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
