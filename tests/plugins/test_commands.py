"""What each slash command does, on a real session with a scripted provider."""

import os

import pytest
from mino_core import (
    Finished,
    ProviderError,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    Usage,
    UsageError,
    Verdict,
)
from stage import Stage

from mino_commands.commands import COMMANDS

STOP = Finished("stop", "stop")


def said(text):
    return [TextDelta(text), Usage(input_tokens=3, output_tokens=2, total_tokens=5), STOP]


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path, said("one"), said("two"), said("three"))


def run(session, line):
    name, _, rest = line.partition(" ")
    before = len(session.display.renderer.notices)
    assert COMMANDS[name](session, rest) is None
    return "\n".join(session.display.renderer.notices[before:])


def refused(session, line):
    """With what words the line is refused; nothing else is said."""
    with pytest.raises(UsageError) as refusal:
        run(session, line)
    return str(refusal.value)


def test_every_command_has_a_first_line_of_help_and_is_offered(stage):
    with stage.opened() as session:
        assert set(COMMANDS) <= set(session.commands())
        assert all(
            (command.__doc__ or "").partition("\n")[0].endswith("]") or command.__doc__
            for command in COMMANDS.values()
        )


@pytest.mark.parametrize("name", ["clear", "exit", "retry", "continue", "usage", "status"])
def test_a_command_that_takes_no_arguments_does_nothing_when_given_some(stage, name):
    with stage.opened() as session:
        session.ask("q")
        turns = session.conversation.turns
        assert refused(session, f"{name} now") == f"usage: /{name}"
        assert session.conversation.turns == turns
        assert not session.leaving
        assert len(stage.provider.requests) == 1


def test_clear_forgets_and_the_next_request_proves_it(stage):
    with stage.opened() as session:
        session.ask("q1")
        assert "Forgotten" in run(session, "clear")
        session.ask("q2")
        assert [message.text for message in stage.provider.requests[-1].messages] == ["q2"]


def test_exit_leaves(stage):
    with stage.opened() as session:
        run(session, "exit  ")
        assert session.leaving


def test_help_lists_every_command_with_its_first_line_and_its_origin(stage):
    def greet(session, text):
        """Say hello.

        More about it.
        """

    def exit_(session, text):
        """Another exit."""

    stage.commands = {"greet": greet, "exit": exit_}
    with stage.opened() as session:
        listed = run(session, "help")
        for name, offer in session.commands().items():
            assert f"/{name} " in listed
            assert f"{offer.plugin}:\n" in listed
        assert "/staged:exit" in listed
        assert "Say hello." in listed
        assert "More about it." not in listed
        assert "More about it." in run(session, "help greet")
        assert "/exit (commands): Leave." in run(session, "help /exit")
        assert "did you mean /exit?" in run(session, "help exti")
        assert list(COMMANDS["help"].complete(session, "cl")) == ["clear"]


def test_model_says_and_changes_what_answers(stage):
    with stage.opened() as session:
        assert "m of scripted answers" in run(session, "model")
        assert "other answers" in run(session, "model other ")
        session.ask("q")
        assert stage.provider.requests[-1].model == "other"
        assert list(COMMANDS["model"].complete(session, "ot")) == ["other"]


def test_models_of_the_configuration_complete(tmp_path):
    stage = Stage(tmp_path, toml='[providers.scripted]\nmodel = "mine"\n')
    with stage.opened() as session:
        assert list(COMMANDS["model"].complete(session, "")) == ["m", "mine"]


def test_provider_says_what_is_ready_and_changes_it(tmp_path):
    toml = '[providers.other]\nkind = "scripted"\nmodel = "o"\n[providers.bare]\nkind = "scripted"\n'
    stage = Stage(tmp_path, said("x"), toml=toml)
    stage.environ["GROQ_API_KEY"] = "k"
    with stage.opened() as session:
        assert "ready: bare, groq, local, other, scripted." in run(session, "provider")
        assert list(COMMANDS["provider"].complete(session, "o")) == ["other"]
        assert "o of other answers" in run(session, "provider other")
        assert (session.provider, session.model) == ("other", "o")
        assert refused(session, "provider a b c") == "usage: /provider [NAME [MODEL]]"
        with pytest.raises(Exception, match="there is no provider 'gone'"):
            run(session, "provider gone")
        assert session.provider == "other"


def test_retry_puts_another_answer_in_the_place_of_the_last(stage):
    with stage.opened() as session:
        with pytest.raises(UsageError, match="no question"):
            run(session, "retry")
        session.ask("q")
        run(session, "retry")
        assert [message.text for message in session.messages] == ["q", "two"]


def test_continue_asks_for_more(stage):
    with stage.opened() as session:
        with pytest.raises(UsageError, match="no answer"):
            run(session, "continue")
        session.ask("q")
        run(session, "continue")
        assert [message.text for message in session.messages][:2] == ["q", "one"]
        assert "stopped" in session.messages[2].text
        assert session.messages[3].text == "two"


def test_undo_drops_turns(stage):
    with stage.opened() as session:
        assert run(session, "undo") == "There is no turn to drop."
        for question in ("q1", "q2", "q3"):
            session.ask(question)
        assert run(session, "undo") == "The last turn was dropped."
        assert run(session, "undo 9") == "The last 2 turns were dropped."
        assert session.messages == ()


@pytest.mark.parametrize("text", ["x", "0", "-1", "1 2", "1.5"])
@pytest.mark.parametrize("name", ["undo", "copy"])
def test_a_count_that_is_none_changes_nothing(stage, name, text):
    with stage.opened() as session:
        session.ask("q")
        with pytest.raises(UsageError, match=rf"usage: /{name} \[N\]"):
            run(session, f"{name} {text}")
        assert session.turn == 1


def test_usage_shows_the_last_turn_and_the_conversation(stage):
    with stage.opened() as session:
        assert run(session, "usage").count("n/a") == 12
        session.ask("q1")
        session.ask("q2")
        lines = [line.split() for line in run(session, "usage").splitlines()]
        assert ["input", "3", "6"] in lines
        assert ["total", "5", "10"] in lines
        assert ["cached", "n/a", "n/a"] in lines


def test_status_shows_what_answers_and_where_it_is_kept(stage):
    with stage.opened() as session:
        session.ask("q")
        shown = run(session, "status")
        for word in ("scripted", " m\n", session.id, "jsonl", stage.environ["MINO_HOME"], "all turns"):
            assert word in shown
    with stage.opened("--no-history") as session:
        assert "in memory only\n" in run(session, "status")


def test_copy_takes_the_last_answer_or_an_earlier_one(tmp_path):
    stage = Stage(tmp_path, said("one"), [ProviderError("connect", "no")], [TextDelta("part"), STOP])
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "xclip").write_text(f'#!/bin/sh\ncat > "{tmp_path}/copied"\n')
    (tools / "xclip").chmod(0o755)
    stage.environ |= {"PATH": f"{tools}:{os.defpath}", "DISPLAY": ":0"}
    with stage.opened() as session:
        assert refused(session, "copy") == "there is no answer to copy"
        for question in ("q1", "q2", "q3"):
            session.ask(question)
        assert run(session, "copy") == "Copied 4 characters with xclip."
        assert (tmp_path / "copied").read_text() == "part"
        run(session, "copy 2")
        assert (tmp_path / "copied").read_text() == "one"
        assert refused(session, "copy 3") == "there is no such answer to copy"


def test_no_command_shows_a_key(tmp_path):
    toml = '[providers.other]\napi_key = "CANARY"\n[plugins.settings.staged]\ntoken = "CANARY"\n'
    stage = Stage(tmp_path, said("x"), toml=toml)
    stage.environ |= {"GROQ_API_KEY": "CANARY", "MINO_API_KEY": "CANARY"}
    with stage.opened() as session:
        session.ask("q")
        for name in ("status", "usage", "help", "model", "provider"):
            assert "CANARY" not in run(session, name)


def test_show_lists_what_was_said_and_shows_each_whole(tmp_path):
    long = "line one\n\n    indented  and long " + "x" * 300
    call = ToolCall("1", "peek", '{"path": "a.py", "lines": [1, 2]}')
    stage = Stage(tmp_path, [ReasoningDelta("hmm"), call, Finished("tool_calls")], said(long), said("short"))
    stage.tools = {"peek": Tool("peek", "Peek.", {"type": "object"}, lambda path, lines: "what\nit says")}
    stage.approve = lambda call, session: Verdict(allowed=True)
    with stage.opened() as session:
        assert refused(session, "show") == "there is nothing to show yet"
        session.ask("q")
        session.ask("q2")
        listed = run(session, "show")
        assert [line.split()[:2] for line in listed.split("\n")[:4]] == [
            ["4", "thinking"],
            ["3", "peek"],
            ["2", "answer"],
            ["1", "answer"],
        ]
        assert max(map(len, listed.split("\n"))) < 80
        assert run(session, "show 1") == "short"
        assert run(session, "show 2") == long
        assert run(session, "show 3") == "path: a.py\nlines: [1, 2]\n\nIt said:\nwhat\nit says"
        assert run(session, "show 4") == "hmm"
        assert refused(session, "show 5") == "there are 4 of them; /show lists the last ones"
        assert refused(session, "show x").startswith("usage: /show [N]")
