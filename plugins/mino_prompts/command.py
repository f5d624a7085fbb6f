"""One Markdown file as a slash command: what it asks for is fetched, then its text is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mino_core import ToolContext, UsageError

from .markdown import Markdown
from .template import fill

if TYPE_CHECKING:
    from mino_core import Session

#: More bytes of one file than this are no part of a prompt.
_LARGEST = 1 << 20


class FileCommand:
    """Asks the text of a file. `file` says which: it yields its name to a command that is code."""

    def __init__(self, file: Path, markdown: Markdown) -> None:
        self.file = file
        self._markdown = markdown
        hint = f" ({markdown.hint})" if markdown.hint else ""
        self.__doc__ = f"{markdown.description or 'Says nothing'}{hint}\n\nFrom {file}"

    def __call__(self, session: Session, rest: str) -> str | None:
        """Fill in the text. With a model of its own the file asks itself, else the text is returned."""
        prompt = fill(self._markdown.body, rest, _read, lambda commands: _run(session, commands))
        if not self._markdown.model:
            return prompt
        usual = session.model
        session.use(model=self._markdown.model)
        try:
            session.ask(prompt)
        finally:
            session.use(model=usual)
        return None


def _read(name: str) -> str:
    """The text of a file, relative to the working directory. UsageError where there is none to have."""
    path = Path(name).expanduser()
    try:
        if (size := path.stat().st_size) > _LARGEST:
            raise UsageError(f"@{{{name}}} has {size:,} bytes; at most {_LARGEST:,} go into a prompt")
        return path.read_bytes().decode("utf-8").removesuffix("\n")
    except OSError as error:
        raise UsageError(f"@{{{name}}} cannot be read: {error.strerror}; nothing was sent") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"@{{{name}}} is no text; nothing was sent") from error


def _run(session: Session, commands: list[str]) -> list[str]:
    """What the commands say, once a person has agreed to each exactly as it will run."""
    if not session.config.flags.yes:
        for command in commands:
            _confirm(session, command)
    return [_said(command) for command in commands]


def _confirm(session: Session, command: str) -> None:
    answer = session.question(f"Run this, for its output to be sent?\n\n  {_visible(command)}", ("yes", "no"))
    if answer is None:
        raise UsageError(
            f"nobody is there to agree to {_visible(command)}; nothing was sent (--yes agrees beforehand)"
        )
    if answer != "yes":
        raise UsageError("not run, and nothing was sent")


def _visible(command: str) -> str:
    """A command with nothing hidden: what draws nothing, or moves what is drawn, is spelt out."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in command
    ).replace("\n", "\n  ")


def _said(command: str) -> str:
    """A command's output, with its exit code where that tells of a failure. Ctrl-C ends it."""
    ran = ToolContext().run(["/bin/sh", "-c", command])
    output = ran.output.rstrip("\n")
    return f"{output}\n[it ended with {ran.code}]".lstrip("\n") if ran.code else output
