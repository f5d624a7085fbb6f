"""Markdown files as commands in a real session: what they ask, what they fetch, and who may say so."""

import os

import pytest
from mino_core import Finished, TextDelta, UsageError
from mino_core.testing import CommandConformance
from stage import Stage

from mino_prompts.command import FileCommand
from mino_prompts.markdown import Markdown
from mino_prompts.trust import trust

ANSWER = [TextDelta("an answer"), Finished("stop")]


@pytest.fixture
def stage(tmp_path, monkeypatch):
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return Stage(tmp_path, ANSWER, ANSWER)


@pytest.fixture
def write(tmp_path):
    """Writes a command of the user's own."""

    def write(name, text):
        path = tmp_path / "home/.mino/commands" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return write


class Someone:
    """Answers questions, and remembers them."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def read(self, prompt):
        raise EOFError

    def ask(self, question, choices):
        self.asked.append(question)
        return self.answers.pop(0)


def do(session, name, rest=""):
    return session.commands()[name].value(session, rest)


def test_a_file_is_a_command_by_its_place(stage, write):
    write("fix.md", "Fix $1.")
    write("git/commit.md", "Commit.")
    write("Deep Folder/More Deep/Some Thing.md", "Words.")
    write("notes.txt", "no command")
    write(".hidden.md", "no command")
    write("_draft/x.md", "no command")
    with stage.opened() as session:
        own = {name for name, offer in session.commands().items() if offer.plugin == "prompts"}
        assert own == {"trust", "fix", "git:commit", "deep-folder:more-deep:some-thing"}
        assert do(session, "fix", "it") == "Fix it."


def test_a_change_is_seen_without_a_restart(stage, write):
    with stage.opened() as session:
        assert "late" not in session.commands()
        path = write("late.md", "One.")
        assert do(session, "late") == "One."
        write("late.md", "Another.")
        assert do(session, "late") == "Another."
        path.unlink()
        assert "late" not in session.commands()


def test_help_says_what_a_file_says_of_itself(stage, write):
    path = write("fix.md", "---\ndescription: Mend a file\nargument-hint: <file>\n---\nFix $1.")
    with stage.opened() as session:
        do(session, "help")
        assert "/fix" in stage.renderer.notices[-1]
        assert "Mend a file (<file>)" in stage.renderer.notices[-1]
        do(session, "help", "fix")
        assert str(path) in stage.renderer.notices[-1]


def test_a_model_of_its_own_answers_that_prompt_and_no_other(stage, write):
    write("think.md", "---\nmodel: large\n---\nThink about $ARGUMENTS.")
    with stage.opened() as session:
        assert do(session, "think", "life") is None
        session.ask("next")
        assert [request.model for request in stage.provider.requests] == ["large", "m"]
        assert stage.provider.requests[0].messages[-1].text == "Think about life."


def test_a_command_that_is_code_keeps_its_name(stage, write):
    write("exit.md", "Leave us.")
    with stage.opened() as session:
        assert session.commands()["exit"].plugin == "commands"
        assert session.commands()["prompts:exit"].value(session, "") == "Leave us."
        (line,) = [text for text in stage.renderer.notices if "'exit'" in text]
        assert "'commands' keeps it; use 'prompts:exit'" in line


def test_a_file_of_the_users_own_is_stronger_than_a_strangers_command(stage, write):
    write("shout.md", "Mine.")
    stage.commands = {"shout": lambda session, rest: "theirs"}
    with stage.opened() as session:
        assert do(session, "shout") == "Mine."


def test_a_folder_with_the_name_of_a_plugin_gives_way(stage, write):
    write("history/x.md", "Words.")
    with stage.opened() as session:
        assert "history:x" not in list(session.commands())
        assert do(session, "prompts:history:x") == "Words."


def test_a_folder_that_is_linked_into_itself_is_read_once(stage, write):
    path = write("dir/x.md", "Words.")
    (path.parent / "again").symlink_to(path.parent.parent)
    with stage.opened() as session:
        assert [name for name in session.commands() if name.endswith("x")] == ["dir:x"]


def test_a_file_that_nobody_may_read_costs_only_itself(stage, write):
    write("good.md", "Words.")
    (write("good.md", "Words.").parent / "broken.md").symlink_to("nowhere")
    with stage.opened() as session:
        assert do(session, "good") == "Words."
        assert "broken" not in session.commands()


# -- @{file} -----------------------------------------------------------------------------------


def test_a_file_stands_where_it_is_named(stage, write, tmp_path):
    (tmp_path / "work/notes.txt").write_text("milk\neggs\n")
    write("shop.md", "Buy:\n@{$1}\nToday.")
    with stage.opened() as session:
        assert do(session, "shop", "notes.txt") == "Buy:\nmilk\neggs\nToday."


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.txt", "@{nowhere.txt} cannot be read: No such file or directory; nothing was sent"),
        (".", "@{.} cannot be read: Is a directory"),
        ("picture.png", "@{picture.png} is no text"),
        ("large.txt", "has 1,048,577 bytes; at most 1,048,576"),
    ],
)
def test_a_file_that_cannot_be_had_is_one_sentence_and_nothing_is_asked(stage, write, tmp_path, name, words):
    (tmp_path / "work/picture.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "work/large.txt").write_bytes(b"x" * 1_048_577)
    write("read.md", "@{$1}")
    with stage.opened() as session:
        with pytest.raises(UsageError) as told:
            do(session, "read", name)
        assert words in str(told.value)
    assert stage.provider.requests == []


# -- !{command} --------------------------------------------------------------------------------


def test_a_command_runs_once_a_person_has_agreed_to_exactly_that(stage, write):
    write("say.md", "It says: !{printf '%s.' $1}")
    with stage.opened() as session:
        session.input = Someone("yes")
        assert do(session, "say", "'a; touch b'") == "It says: a; touch b."
        (question,) = session.input.asked
        assert "\n  printf '%s.' 'a; touch b'" in question
    assert not os.path.exists("b")


def test_each_command_is_asked_for_before_any_is_run(stage, write):
    write("two.md", "!{touch one} !{touch two}")
    with stage.opened() as session:
        session.input = Someone("yes", "no")
        with pytest.raises(UsageError, match="not run, and nothing was sent"):
            do(session, "two")
    assert not os.path.exists("one")


def test_nothing_in_what_is_asked_is_hidden(stage, write):
    write("sly.md", "!{echo \u202e $1}")
    with stage.opened() as session:
        session.input = Someone("no")
        with pytest.raises(UsageError):
            do(session, "sly", "'\x1b[2K\rls'")
        (question,) = session.input.asked
        assert "echo \\u202e '\\x1b[2K\\rls'" in question


def test_where_nobody_can_agree_nothing_runs(stage, write):
    write("touch.md", "!{touch one}")
    words = "nobody is there to agree to touch one; nothing was sent"
    with stage.opened() as session, pytest.raises(UsageError, match=words):
        do(session, "touch")
    assert not os.path.exists("one")


def test_yes_agrees_beforehand(stage, write):
    write("touch.md", "!{touch one; echo done}")
    with stage.opened("--yes") as session:
        assert do(session, "touch") == "done"
    assert os.path.exists("one")


def test_a_command_that_fails_says_so_to_the_model(stage, write):
    write("fail.md", "!{echo no; exit 3}|!{exit 4}")
    with stage.opened("--yes") as session:
        assert do(session, "fail") == "no\n[it ended with 3]|[it ended with 4]"


# -- a project's -------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "work/.mino/commands"
    folder.mkdir(parents=True)
    (folder / "build.md").write_text("Build $1.")
    return folder


def test_a_projects_commands_are_there_once_it_is_trusted(stage, project):
    with stage.opened() as session:
        assert "build" not in session.commands()
        session.input = Someone("yes")
        do(session, "trust")
        assert stage.renderer.notices[-1] == "Trusted, as it is now."
        assert do(session, "build", "all") == "Build all."
        session.input = Someone("no")
        do(session, "trust")
        assert f"{project.parent} is trusted as it is now. In it:" in session.input.asked[-1]
        assert "build" not in session.commands()


def test_a_change_ends_the_trust_at_once_and_says_what_to_do(stage, project):
    with stage.opened() as session:
        session.input = Someone("yes", "yes")
        do(session, "trust")
        (project / "build.md").write_text("Something else.")
        with pytest.raises(UsageError, match="has changed since you trusted it; /trust looks at it again"):
            do(session, "build")
        do(session, "trust")
        assert "has changed since you trusted it" in session.input.asked[-1]
        assert do(session, "build") == "Something else."


def test_a_name_of_the_users_own_stays_theirs(stage, project, write):
    write("build.md", "Mine.")
    with stage.opened() as session:
        session.input = Someone("yes")
        do(session, "trust")
        assert do(session, "build") == "Mine."
        assert do(session, "project:build", "x") == "Build x."


@pytest.mark.parametrize(("answer", "told"), [("no", "Not trusted; it is ignored."), (None, "Not decided.")])
def test_without_a_yes_it_is_ignored(stage, project, answer, told):
    with stage.opened() as session:
        session.input = Someone(answer)
        do(session, "trust")
        assert stage.renderer.notices[-1] == told
        assert "build" not in session.commands()


def test_yes_on_the_command_line_is_no_trust(stage, project):
    with stage.opened("--yes") as session:
        assert "build" not in session.commands()


def test_there_may_be_nothing_to_trust(stage):
    with stage.opened() as session:
        do(session, "trust")
        assert stage.renderer.notices[-1] == "There is no .mino with commands or plugins here."


# -- what every command promises ---------------------------------------------------------------


class TestAFile(CommandConformance):
    lines = ("some words",)

    def command(self):
        from pathlib import Path

        text = "---\ndescription: Ask\nmodel: other\n---\nAsk $1 and $@."
        return FileCommand(Path("/x.md"), Markdown.read(text.encode()))


class TestTrust(CommandConformance):
    def command(self):
        return trust
