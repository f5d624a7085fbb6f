"""What every slash command promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mino_core.errors import MinoError
from mino_core.hooks import Command
from mino_core.session import Session
from mino_core.types import Finished, TextDelta

from .home import home
from .promises import promise, suite
from .scripted import Item, Scripted
from .sessions import session

if TYPE_CHECKING:
    import pytest

_ODD = (
    "",
    "  ",
    "x",
    "-",
    "--help",
    "'open",
    "[red] {0} %s",
    "é 漢 \u2028",
    "-1",
    "0",
    "9" * 400,
    "a\nb",
    "../..",
)


@suite
class CommandConformance:
    """Subclass it and name the command:

        class TestMine(CommandConformance):
            def command(self):
                return mine

    `lines` are further rests of a line, for which the command does what it is for.
    """

    lines: ClassVar[tuple[str, ...]] = ()

    def command(self) -> Command:
        """The command to test."""
        raise NotImplementedError

    def test_its_help_is_one_line(self) -> None:
        first = (self.command().__doc__ or "").partition("\n")[0].strip()
        promise(
            0 < len(first) <= 100,
            f"the first line of its docstring is {first!r}",
            "/help lists the commands, each with that line.",
        )

    def test_any_rest_of_the_line_is_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        _alone(monkeypatch, tmp_path)
        command = self.command()
        for asked in (False, True):
            with session(tmp_path, _talker()) as opened:
                for line in (*_ODD, *self.lines):
                    if asked:
                        opened.ask("a question")
                    _run(command, opened, line)
        printed = "".join(capfd.readouterr())
        promise(
            not printed,
            f"it printed {printed!r}",
            "the screen belongs to the renderer; `session.notify` tells the user something.",
        )

    def test_the_conversation_goes_on_after_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _alone(monkeypatch, tmp_path)
        talker = _talker()
        for line in ("", *self.lines):
            with session(tmp_path, talker) as opened:
                opened.ask("first")
                _run(self.command(), opened, line)
                opened.answerer = talker
                ended = opened.ask("last")
            promise(
                ended.outcome == "completed" and talker.requests[-1].messages[-1].text == "last",
                f"after {line!r}, the next question ended as {ended.outcome} ({ended.error})",
                "no command may cost the session.",
            )

    def test_completion_offers_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        complete = getattr(self.command(), "complete", None)
        if complete is None:
            return
        _alone(monkeypatch, tmp_path)
        with session(tmp_path, _talker()) as opened:
            before = len(list(opened.journal.records()))
            for line in (*_ODD, *self.lines):
                offered = list(complete(opened, line))
                promise(
                    all(isinstance(word, str) for word in offered),
                    f"complete(session, {line!r}) offers {offered!r}",
                    "the editor shows strings.",
                )
            promise(
                len(list(opened.journal.records())) == before,
                "completion changed the conversation",
                "it is asked at any key.",
            )


def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nothing of the real home be seen or touched."""
    environ = home(tmp_path)
    for name in ("HOME", "MINO_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, environ[name])
    for name in ("EDITOR", "VISUAL", "SHELL", "PAGER"):
        monkeypatch.setenv(name, "false")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)


def _talker() -> Scripted:
    answer: list[Item] = [TextDelta("an answer"), Finished("stop")]
    return Scripted(*[answer] * 200)


def _run(command: Command, opened: Session, line: str) -> None:
    try:
        said = command(opened, line)
    except MinoError:
        return  # it is shown in one sentence
    except (Exception, SystemExit) as error:
        broken = f"with {line!r} it raised {error!r}"
        why = "a MinoError is shown as a sentence; anything else is reported as a fault of the plugin."
        raise AssertionError(f"{broken}\nWhy it matters: {why}") from error
    promise(
        said is None or isinstance(said, str),
        f"with {line!r} it returned {said!r}",
        "a returned string is asked as the prompt; everything else must be None.",
    )
