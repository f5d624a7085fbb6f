"""What goes along with a question: files that it mentions, and what commands said."""

import base64
import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import Finished, Image, Notice, Pasted, Text, TextDelta, UsageError
from mino_core.attachments import fenced, mentioned, read
from mino_core.shell import Shell
from mino_core.testing.terminal import PATIENCE
from stage import Stage

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    (folder / "src").mkdir(parents=True)
    for name in ("a.py", "src/b.py", "two words.txt", "报告.txt", "Makefile"):
        (folder / name).write_text(f"in {name}\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("@a.py", ["a.py"]),
        ("what does @a.py do?", ["a.py"]),
        ("compare @a.py, @src/b.py. Then stop", ["a.py", "src/b.py"]),
        ("(@a.py)", ["a.py"]),
        ("@a.py @a.py", ["a.py"]),
        ("看看@报告.txt怎么样", ["报告.txt"]),
        ("@a.py，然后", ["a.py"]),
        ('@"two words.txt" and @two\\ words.txt', ["two words.txt"]),
        ("build @Makefile", ["Makefile"]),
        ("mail me@a.py", []),
        ("a@b@a.py", []),
        ("@a.pyc", []),
        ("@src", []),
        ("@", []),
        ("@@a.py", []),
        ("@\0", []),
        ("@" + "x" * 5000, []),
        ("@~nobody_at_all/x", []),
    ],
)
def test_a_file_is_mentioned_by_its_path(here, line, files):
    assert [str(path) for path in mentioned(line)[0]] == files


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("@src/c.py and @types/node", ["src/c.py", "types/node"]),
        ("@dataclass @property", []),
        ("@src/", ["src/"]),
        ("see @none.py, @no/ne。 and (@none.md)!", ["none.py", "no/ne", "none.md"]),
        ("thanks @alice. and @bob:", []),
    ],
)
def test_what_looks_like_a_path_and_is_no_file_is_told(here, line, others):
    assert mentioned(line) == ([], others)


@given(st.text())
def test_any_line_may_be_looked_at(line):
    mentioned("@" + line)


@given(st.text())
def test_a_fence_is_longer_than_any_in_the_text(text):
    _, fence, *inner, last = fenced("x", text).split("\n")
    assert fence == last
    assert fence not in "\n".join(inner)
    assert "\n".join(inner) == text.removesuffix("\n")


def test_a_picture_is_a_picture_and_bytes_are_a_file(tmp_path):
    (tmp_path / "p.png").write_bytes(PIXEL)
    (tmp_path / "b.bin").write_bytes(b"\xff\0")
    picture, other = read(tmp_path / "p.png"), read(tmp_path / "b.bin")
    assert picture.part == Image("image/png", base64.b64encode(PIXEL).decode(), "p.png")
    assert str(picture) == f"p.png ({len(PIXEL)} bytes, image/png)"
    assert str(other) == "b.bin (2 bytes, application/octet-stream)"


def test_a_drawing_in_xml_is_text(tmp_path):
    (tmp_path / "a.svg").write_text("<svg/>")
    assert read(tmp_path / "a.svg").part == Text("a.svg\n```\n<svg/>\n```")


def test_what_has_no_end_or_is_too_large_is_refused(tmp_path):
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(21 << 20)
    for path in (Path("/dev/zero"), Path("~nobody_at_all"), large, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="attach"):
            read(path)


# -- in a conversation ---------------------------------------------------------------------------


class Typed:
    """An input where these lines are typed."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def read(self, prompt):
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def ask(self, question, choices):
        return None


def talk(stage, *lines, script=False):
    """What was asked, part by part, and what mino said itself."""
    with stage.opened() as session:
        shell = Shell(session, Typed(*lines))
        shell.run_script() if script else shell.run()
    asked = [request.messages[-1].parts for request in stage.provider.requests]
    return asked, [event.text for event in stage.renderer.events if isinstance(event, Notice)]


def answers(n):
    return [[TextDelta("a"), Finished("stop", "stop")]] * n


def test_a_mentioned_file_goes_along_and_its_size_is_told(tmp_path, here):
    asked, told = talk(Stage(tmp_path, *answers(1)), "explain @a.py and @src/none.py")
    assert asked == [(Text("explain @a.py and @src/none.py"), Text("a.py\n```\nin a.py\n```"))]
    assert told == [
        "there is no file src/none.py; the words are sent as they are",
        "[attached: a.py (8 bytes)]",
    ]


def test_a_file_that_cannot_be_read_keeps_the_question_back(tmp_path, here):
    with (here / "a.py").open("wb") as file:
        file.truncate(21 << 20)
    asked, told = talk(Stage(tmp_path), "explain @a.py")
    assert asked == []
    assert "at most" in told[0]


def test_of_a_line_that_is_pasted_in_part_only_the_typed_paths_attach(here):
    line = "see @a.py and @src/b.py and @src/none"
    pasted = Pasted(line, [(10, len(line))])
    assert [str(path) for path in mentioned(pasted)[0]] == ["a.py"]
    assert mentioned(pasted)[1] == []


@pytest.mark.parametrize("script", [True, False])
def test_what_nobody_typed_attaches_and_runs_nothing(tmp_path, here, script):
    lines = ["read @a.py", "!touch ran"]
    stage = Stage(tmp_path, *answers(2))
    asked, told = talk(stage, *(lines if script else map(Pasted, lines)), script=script)
    assert asked == [(Text(line),) for line in lines]
    assert told == []
    assert not (here / "ran").exists()


def test_what_a_command_says_is_shown_and_goes_along_once(tmp_path, here):
    stage = Stage(tmp_path, *answers(2))
    stage.environ["SHELL"] = "/bin/sh"
    asked, told = talk(stage, "!printf 'one\\n\\ntwo\\n'; exit 3", "why?", "and now?")
    said = Text("$ printf 'one\\n\\ntwo\\n'; exit 3   (ended with 3)\n```\none\n\ntwo\n```")
    assert asked == [(Text("why?"), said), (Text("and now?"),)]
    assert "\n".join(told[:-1]) == "one\n\ntwo"
    assert told[-1].startswith("[it ended with 3 and said 3 lines")


def test_a_blank_command_drops_what_the_others_said(tmp_path, here):
    asked, told = talk(Stage(tmp_path, *answers(1)), "!echo one", "!echo two", "!", "hi")
    assert asked == [(Text("hi"),)]
    assert told[-1] == "Nothing of your commands goes along."


def test_known_secrets_are_masked_in_what_a_command_says(tmp_path, here):
    stage = Stage(tmp_path, *answers(1), toml='[providers.x]\nkind = "scripted"\napi_key = "CANARY-KEY"\n')
    from mino_core import secret

    secret.remember("CANARY-KEY")
    asked, told = talk(stage, "!echo the CANARY-KEY", "hi")
    assert "CANARY-KEY" not in str(asked) + str(told)
    assert "the ***" in told


def test_a_shell_that_is_not_there_is_told(tmp_path, here):
    stage = Stage(tmp_path, *answers(1))
    stage.environ["SHELL"] = "/nowhere/sh"
    asked, told = talk(stage, "!ls", "hi")
    assert asked == [(Text("hi"),)]
    assert told == ["cannot run /nowhere/sh: No such file or directory"]


def test_ctrl_c_ends_a_command_and_its_children(tmp_path, here):
    stage = Stage(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def stop():
        with open(pipe) as ready:
            ready.read(1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=stop)
    thread.start()
    _, told = talk(stage, f"!echo x > '{pipe}'; cat '{pipe}'; touch ran")
    thread.join(PATIENCE)
    assert told == ["The command was stopped."]
    assert not (here / "ran").exists()
