"""`/trust`: look again at the folder that comes with a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mino_core import UsageError

if TYPE_CHECKING:
    from mino_core import Session


def trust(session: Session, rest: str) -> None:
    """Look at what is in this project's .mino, and decide whether to trust it."""
    host = session.host
    project = host.trust.project()
    if rest.strip():
        raise UsageError("usage: /trust")
    if project is None:
        session.notify("There is no .mino with commands or plugins here.")
    else:
        answer = host.trust.ask(session, project)
        told = {True: "Trusted, as it is now.", False: "Not trusted; it is ignored.", None: "Not decided."}
        session.notify(told[answer])
