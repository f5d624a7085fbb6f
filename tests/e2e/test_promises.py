"""The behaviours that mino comes from, each shown with the real program and a real socket."""

import json
import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from mino_core import RefusalDelta, Usage
from mino_core.testing import CUT, HANG, Server, Terminal, chat, counting, mino, run, stream
from pointed import DIALECTS, pointed
from talk import Talk


def kept(env):
    files = Path(env["MINO_HOME"]).glob("history/*/*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def visible(body):
    """The texts of a request's conversation, by role, in whatever dialect."""
    said = []
    for message in body.get("messages") or body["input"]:
        if message["role"] == "system":
            continue
        content = message["content"]
        text = content if isinstance(content, str) else "|".join(part["text"] for part in content)
        said.append((message["role"], text))
    return said


def instructions(body):
    """Every place in a request where instructions may stand, with what stands there."""
    found = [body[key] for key in ("instructions", "system") if key in body]
    found += [m["content"] for m in body.get("messages", []) if m["role"] in ("system", "developer")]
    return [text if isinstance(text, str) else text[0]["text"] for text in found]


# -- a chat, from the first prompt to the last -------------------------------------------------


def test_a_whole_chat(tmp_path, gate):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat("first-piece ", gate, "second-piece"))
        talk.server.reply(*chat("partial-words", HANG))
        talk.answers("whole again", "after the clear")
        screen = talk.at_prompt()
        assert screen.text.count("mino: m (fake") == 1
        assert "The model sees the whole conversation" in screen.text
        assert "Ctrl-D leaves" in screen.text

        screen.press("enter")
        talk.at_prompt()
        screen.type("q1")
        screen.press("enter")
        screen.wait_for("Assistant> first-piece")
        assert "second-piece" not in screen.text
        gate.set()
        talk.at_prompt()
        assert screen.text.count("first-piece second-piece") == 1

        screen.type("q2")
        screen.press("enter")
        screen.wait_for("partial-words")
        screen.press("ctrl-c")
        talk.at_prompt()
        talk.server.wait_for_close(1)
        assert screen.text.count("partial-words") == 1

        screen.type("q3")
        screen.press("enter")
        talk.at_prompt()
        assert "whole again" in screen.text
        screen.type("/clear")
        screen.press("enter")
        talk.at_prompt()
        screen.type("q4")
        screen.press("enter")
        talk.at_prompt()
        talk.ends_by("ctrl-d")
        assert talk.asked == ["q1", "q2", "q3", "q4"]
        assert visible(talk.server.requests[2].json)[1:] == [
            ("assistant", "first-piece second-piece"),
            ("user", "q2"),
            ("assistant", "partial-words"),
            ("user", "q3"),
        ]
        assert visible(talk.server.requests[3].json) == [("user", "q4")]
        assert "mino --resume" in screen.text


@pytest.mark.parametrize("ending", ["/exit", "exit", "quit"])
def test_words_that_leave(tmp_path, ending):
    with Talk(tmp_path) as talk:
        talk.at_prompt().type(ending)
        talk.ends_by("enter")
        assert not talk.server.requests


@pytest.mark.parametrize("key", ["ctrl-c", "ctrl-d"])
def test_keys_that_leave_at_an_empty_prompt(tmp_path, key):
    with Talk(tmp_path) as talk:
        talk.at_prompt()
        talk.ends_by(key)


@pytest.mark.parametrize("words", ["fragments ", ""])
def test_ctrl_c_while_waiting_or_answering_may_end_the_program(tmp_path, words):
    with Talk(tmp_path, '[shell]\ninterrupt = "exit"\n') as talk:
        talk.server.reply(*chat(*([words] if words else []), b"", HANG))
        screen = talk.at_prompt()
        screen.type("q")
        screen.press("enter")
        talk.server.wait_for_request()
        if words:
            screen.wait_for("fragments")
        screen.press("ctrl-c")
        assert screen.wait_exit() == 130
        assert words.strip() in screen.text
        assert screen.modes == screen.modes_at_start


def test_a_broken_answer_is_told_and_kept_on_screen_and_not_asked_for_again(tmp_path):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat("fragment-one ", "fragment-two", CUT))
        talk.server.fail(500, "boom")
        screen = talk.at_prompt()
        for question in ("q1", "q2"):
            screen.type(question)
            screen.press("enter")
            talk.at_prompt()
        assert screen.text.count("fragment-one fragment-two") == 1
        assert screen.text.count("Error: ") == 2
        assert "boom" in screen.text
        assert len(talk.server.requests) == 2
        talk.ends_by("ctrl-d")


def test_a_refusal_has_its_prefix_once(tmp_path):
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat(RefusalDelta("I cannot "), RefusalDelta("do that.")))
        screen = talk.at_prompt()
        screen.type("q")
        screen.press("enter")
        talk.at_prompt()
        assert screen.text.count("Model refused: ") == 1
        assert "Model refused: I cannot do that." in screen.text
        talk.ends_by("ctrl-d")


def test_the_usage_line_has_its_numbers(tmp_path):
    with Talk(tmp_path) as talk:
        usage = Usage(input_tokens=1200, output_tokens=34, total_tokens=1234, cache_read_tokens=1000)
        talk.server.reply(*chat("x", usage=usage))
        screen = talk.at_prompt()
        screen.type("q")
        screen.press("enter")
        talk.at_prompt()
        line = next(line for line in screen.text.splitlines() if line.startswith("[tokens"))
        for words in ("input 1200", "output 34", "total 1234", "cached 1000", "first token"):
            assert words in line
        talk.ends_by("ctrl-d")


def test_questions_that_stand_alone_share_nothing_and_the_banner_says_so(tmp_path):
    with Talk(tmp_path, '[history]\nsend = "none"\n') as talk:
        talk.answers("a1", "a2")
        screen = talk.at_prompt()
        assert "Each question stands on its own" in screen.text
        for question in ("q1", "q2"):
            screen.type(question)
            screen.press("enter")
            talk.at_prompt()
        assert visible(talk.server.requests[1].json) == [("user", "q2")]
        talk.ends_by("ctrl-d")


def test_instructions_are_read_once_at_the_start(tmp_path):
    with Talk(tmp_path) as talk:
        talk.at_prompt()
        talk.ends_by("ctrl-d")
    soul = talk.home / "SOUL.md"
    soul.write_text("Speak like a pirate.")
    work = tmp_path / "work"
    work.mkdir()
    for name in ("SOUL.md", "AGENTS.md", "config.toml", "mino.toml"):
        (work / name).write_text("Speak like a lawyer.")
    with Server() as server:
        server.reply(*chat("a1"))
        server.reply(*chat("a2"))
        env = pointed(tmp_path, server)
        with Terminal(mino(), env, cwd=work) as screen:
            screen.wait_for("You>")
            screen.type("q1")
            screen.press("enter")
            screen.wait_for("You>", count=2)
            soul.write_text("Speak like a robot.")
            screen.type("q2")
            screen.press("enter")
            screen.wait_for("You>", count=3)
        assert [instructions(r.json) for r in server.requests] == [["Speak like a pirate."]] * 2


# -- what is sent ------------------------------------------------------------------------------


def three_turns(tmp_path, dialect, toml="", answer=None):
    with Server(strict=dialect) as server:
        server.answer(answer or counting(dialect, "the answer"))
        env = pointed(tmp_path, server, dialect, toml)
        done = run(["-i", "--renderer", "json"], env, input="one\ntwo words\nthree\n")
    assert done.code == 0, done.err
    return server, [json.loads(line) for line in done.out.splitlines()], env


def test_the_responses_body_is_exactly_what_it_has_to_be(tmp_path):
    server, _, _ = three_turns(tmp_path, "responses")
    for request in server.requests:
        assert set(request.json) == {"model", "instructions", "input", "store", "stream"}
        assert (request.json["store"], request.json["stream"]) == (False, True)
    assert server.requests[0].path.endswith("/responses")


def test_what_the_user_set_is_added_to_the_body(tmp_path):
    with Server() as server:
        server.reply(*stream("responses", "x"))
        run(["-p", "hi", "-o", "temperature=0.5"], pointed(tmp_path, server, "responses"))
    body = server.requests[0].json
    assert set(body) == {"model", "instructions", "input", "store", "stream", "temperature"}


def test_the_chat_body_asks_for_usage(tmp_path):
    server, _, _ = three_turns(tmp_path, "chat")
    assert all(request.json["stream_options"] == {"include_usage": True} for request in server.requests)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_system_text_stands_once_in_every_request(tmp_path, dialect):
    server, _, _ = three_turns(tmp_path, dialect)
    assert [len(instructions(request.json)) for request in server.requests] == [1, 1, 1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_third_request_holds_the_first_two_turns_verbatim(tmp_path, dialect):
    server, events, env = three_turns(tmp_path, dialect)
    assert visible(server.requests[2].json) == [
        ("user", "one"),
        ("assistant", "the answer"),
        ("user", "two words"),
        ("assistant", "the answer"),
        ("user", "three"),
    ]
    usages = [event["usage"] for event in events if event["type"] == "turn_ended"]
    for (former, later), words in zip(pairwise(usages), (2, 1), strict=True):
        assert later["input_tokens"] == former["input_tokens"] + former["output_tokens"] + words
    said = [r["message"]["role"] for r in kept(env) if r["type"] == "said"]
    assert said == ["user", "assistant"] * 3


@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_each_request_begins_with_the_one_before(tmp_path, dialect):
    server, _, _ = three_turns(tmp_path, dialect)
    key = "messages" if dialect == "chat" else "input"
    conversations = [request.json[key] for request in server.requests]
    for former, later in pairwise(conversations):
        assert later[: len(former)] == former


def test_messages_carry_explicit_cache_marks(tmp_path):
    server, _, _ = three_turns(tmp_path, "messages")
    for request in server.requests:
        marked = [block for block in request.json["system"] if "cache_control" in block]
        assert marked
        asked = [m for m in request.json["messages"] if m["role"] == "user"]
        assert all("cache_control" in message["content"][-1] for message in asked[-2:])
        count = json.dumps(request.json).count("cache_control")
        assert count <= 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_after_a_failed_turn_both_questions_are_sent(tmp_path, dialect):
    with Server(strict=dialect) as server:
        server.fail(500, "boom", dialect)
        server.reply(*stream(dialect, "ok"))
        run(["-i"], pointed(tmp_path, server, dialect), input="first\nsecond\n")
    text = json.dumps(visible(server.requests[1].json))
    assert text.index("first") < text.index("second")


def test_a_turn_that_said_nothing_leaves_no_assistant_message(tmp_path):
    with Server(strict="chat") as server:
        server.reply(*chat("  "))
        server.reply(*chat("ok"))
        env = pointed(tmp_path, server)
        run(["-i"], env, input="first\nsecond\n")
    assert "assistant" not in [role for role, _ in visible(server.requests[1].json)]


def test_debug_shows_the_body_with_secrets_masked(tmp_path):
    with Server() as server:
        server.reply(*chat("ok"))
        env = pointed(tmp_path, server, more='api_key = "env:DEMO_KEY"', DEMO_KEY="sk-CANARY-1234", DEBUG="1")
        done = run(["-p", "look for me"], env)
    assert "look for me" in done.err
    assert "CANARY" not in done.err + done.out


def test_a_provider_needs_no_file(tmp_path):
    from mino_core.testing import home

    with Server() as server:
        server.reply(*chat("ok"))
        env = home(
            tmp_path, MINO_PROVIDER="deepseek", MINO_API_KEY="sk-CANARY-1234", MINO_BASE_URL=server.url
        )
        done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (0, "ok")
    assert server.requests[0].headers["authorization"] == "Bearer sk-CANARY-1234"
    assert server.requests[0].path == "/chat/completions"


# -- going on later ----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["-c", "resume"])
def test_the_last_conversation_of_this_directory_goes_on(tmp_path, how):
    with Server() as server:
        server.reply(*chat("a1"))
        server.reply(*chat("elsewhere"))
        server.reply(*chat("a2"))
        env = pointed(tmp_path, server)
        here, there = tmp_path / "here", tmp_path / "there"
        here.mkdir()
        there.mkdir()
        run(["-p", "q1"], env, cwd=here)
        run(["-p", "other"], env, cwd=there)
        if how == "resume":
            config = Path(env["MINO_HOME"]) / "config.toml"
            config.write_text(config.read_text().replace("[session]", '[session]\nresume = "last"'))
        done = run(["-c", "-p", "q2"] if how == "-c" else ["-p", "q2"], env, cwd=here)
        assert done.code == 0, done.err
    assert visible(server.requests[2].json) == [("user", "q1"), ("assistant", "a1"), ("user", "q2")]


def test_a_conversation_is_found_by_the_start_of_its_id(tmp_path):
    with Server() as server:
        server.reply(*chat("a1"))
        server.reply(*chat("a2"))
        env = pointed(tmp_path, server)
        run(["-p", "q1"], env)
        name = kept(env)[0]["id"]
        assert run(["--resume", name[:18], "-p", "q2"], env).code == 0
        assert run(["--resume", "ZZZ", "-p", "q2"], env).code == 2
        assert run(["--resume", "../x", "-p", "q2"], env).code == 2
    assert visible(server.requests[1].json) == [("user", "q1"), ("assistant", "a1"), ("user", "q2")]


def test_with_no_history_nothing_is_written(tmp_path):
    with Server() as server:
        server.reply(*chat("a1"))
        env = pointed(tmp_path, server)
        before = set(Path(env["HOME"]).rglob("*"))
        run(["--no-history", "-p", "q1"], env)
        assert set(Path(env["HOME"]).rglob("*")) == before


def test_what_mino_writes_is_for_its_owner_only(tmp_path):
    with Server() as server:
        server.reply(*chat("a1"))
        env = pointed(tmp_path, server)
        run(["-p", "q1"], env)
    for path in Path(env["MINO_HOME"], "history").rglob("*"):
        assert os.stat(path).st_mode & 0o077 == 0, path


def test_a_place_that_cannot_be_written_is_told_and_the_answer_comes(tmp_path):
    with Server() as server:
        server.reply(*chat("a1"))
        env = pointed(tmp_path, server)
        (Path(env["MINO_HOME"]) / "history").write_text("in the way")
        done = run(["-p", "q1"], env)
    assert (done.code, done.out) == (0, "a1")
    assert "history" in done.err
    assert done.err.count("not kept") == 1


def test_the_threads_of_a_server_saw_one_question_at_a_time(tmp_path):
    gate = threading.Event()
    with Talk(tmp_path) as talk:
        talk.server.reply(*chat("one ", gate))
        talk.answers("two")
        screen = talk.at_prompt()
        screen.type("q1")
        screen.press("enter")
        screen.wait_for("Assistant> one")
        screen.type("q2")
        screen.press("enter")
        gate.set()
        screen.wait_for("Assistant> two")
        assert talk.server.most_at_once == 1
        assert talk.asked == ["q1", "q2"]
        talk.at_prompt()
        talk.at_prompt()
        talk.ends_by("ctrl-d")
