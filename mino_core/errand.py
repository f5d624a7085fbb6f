"""`!command`: run in the user's shell, shown, and kept for the next message.

It has no terminal of its own: nothing is on its standard input. Ctrl-C ends it and all its children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import interrupts
from .attachments import fenced
from .secret import mask
from .types import Text

if TYPE_CHECKING:
    from .session import Session


def run(session: Session, command: str) -> Text:
    """Run a command and show what it says; the same as a part of a message, known secrets masked.

    KeyboardInterrupt where the user stops it.
    """
    from .tools import ToolContext

    shell = session.config.environ.get("SHELL") or "/bin/sh"
    lines = _Lines(session)
    with interrupts.armed():
        try:
            ran = ToolContext(output=lines.add).run([shell, "-c", command])
        except OSError as error:
            session.notify(f"cannot run {shell}: {error.strerror}", "error")
            return Text("")
        finally:
            lines.end()
    output = mask(ran.output)
    how = f"ended with {ran.code}" if ran.code >= 0 else f"was ended by signal {-ran.code}"
    count = len(output.splitlines())
    said = f"{count} {'line' if count == 1 else 'lines'}" if output.strip() else "nothing"
    session.notify(f"[it {how} and said {said}; this goes along with your next message, or ! drops it]")
    return Text(fenced(f"$ {mask(command)}   ({how})", output))


class _Lines:
    """Shows text in whole lines, as it comes. The blank ones at its end are left out."""

    def __init__(self, session: Session) -> None:
        self._session = session
        #: What no newline has followed yet, in pieces; and blank lines that nothing has followed yet.
        self._open: list[str] = []

    def add(self, text: str) -> None:
        """More of it."""
        if "\n" not in text:  # a line without an end would be put together anew with each of its pieces
            self._open.append(text)
            return
        whole, _, rest = "".join([*self._open, text]).rpartition("\n")
        shown = whole.rstrip("\n")
        blank = "\n" * (len(whole) - len(shown) + 1)
        if shown:
            self._show(shown)
            blank = blank[1:]
        self._open = [blank + rest]

    def end(self) -> None:
        """No more will come."""
        if shown := "".join(self._open).rstrip("\n"):
            self._show(shown)
        self._open = []

    def _show(self, text: str) -> None:
        self._session.notify(text, verbatim=True)
