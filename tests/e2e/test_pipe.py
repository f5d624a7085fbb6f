"""mino in a pipe: the model's bytes on standard output, nothing else, and an exit code that tells."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from mino_core import RefusalDelta, Usage
from mino_core.testing import (
    CUT,
    HANG,
    RESET,
    Server,
    chat,
    error_event,
    messages,
    mino,
    responses,
    run,
    stream,
)
from pointed import DIALECTS, pointed


def start(env, *args, stdin=subprocess.DEVNULL):
    return subprocess.Popen(
        mino(*args), env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=env["HOME"]
    )


def kept(env):
    files = Path(env["MINO_HOME"]).glob("history/*/*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_the_answer_goes_to_standard_output(tmp_path, dialect):
    with Server() as server:
        usage = Usage(input_tokens=3, output_tokens=2)
        server.reply(*stream(dialect, "Hello *there*.\n\n", "你好", usage=usage))
        done = run(["-p", "hi"], pointed(tmp_path, server, dialect))
    assert (done.code, done.out) == (0, "Hello *there*.\n\n你好")
    assert "input 3, output 2" in done.err
    assert "\x1b" not in done.out + done.err


def test_all_of_standard_input_is_one_prompt(tmp_path):
    with Server() as server:
        server.reply(*chat("ok"))
        done = run([], pointed(tmp_path, server), input="line one\nline two")
    assert (done.code, done.out) == (0, "ok")
    assert server.requests[0].json["messages"][-1] == {"role": "user", "content": "line one\nline two"}


def test_piped_text_follows_the_argument_after_a_blank_line(tmp_path):
    with Server() as server:
        server.reply(*chat("ok"))
        run(["-p", "explain"], pointed(tmp_path, server), input="the text\n")
    assert server.requests[0].json["messages"][-1]["content"] == "explain\n\nthe text"


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u3000"])
def test_blank_standard_input_sends_nothing(tmp_path, text):
    with Server() as server:
        done = run([], pointed(tmp_path, server), input=text)
    assert (done.code, done.out, server.requests) == (2, "", [])
    assert "-p TEXT" in done.err


def test_a_closed_standard_input_is_an_empty_one(tmp_path):
    with Server() as server:
        env = pointed(tmp_path, server)
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" <&-', *mino()], env=env, capture_output=True, check=False
        )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_pieces_reach_the_pipe_while_the_stream_is_open(tmp_path):
    gate = threading.Event()
    with Server() as server:
        server.reply(*chat("first ", gate, "second"))
        child = start(pointed(tmp_path, server), "-p", "hi")
        assert child.stdout.read(6) == b"first "
        gate.set()
        out, _ = child.communicate()
    assert (out, child.returncode) == (b"second", 0)


def test_an_answer_comes_to_its_end_after_standard_input_did(tmp_path):
    gate = threading.Event()
    with Server() as server:
        server.reply(*chat("one ", gate, "two"))
        child = start(pointed(tmp_path, server), stdin=subprocess.PIPE)
        child.stdin.write(b"q\n")
        child.stdin.close()
        assert child.stdout.read(4) == b"one "
        gate.set()
        assert child.stdout.read() == b"two"
        assert child.wait() == 0
        child.stdout.close()
        child.stderr.close()


FAILURES = {
    "401": (lambda s, d: s.fail(401, "key expired on 3 May", d), 3, "", "key expired on 3 May"),
    "500": (lambda s, d: s.fail(500, "boom", d), 3, "", "boom"),
    "cut before its end": (
        lambda s, d: s.reply(*stream(d, "part", finish=None)),
        5,
        "part",
        "before completion",
    ),
    "cut connection": (lambda s, d: s.reply(*stream(d, "part", CUT)), 5, "part", "Error:"),
    "reset": (lambda s, d: s.reply(*stream(d, "part", RESET)), 5, "part", "Error:"),
    "nothing": (lambda s, d: s.reply(*stream(d, finish=None)), 5, "", "Error:"),
    "error event": (
        lambda s, d: s.reply(*stream(d, "part", finish=None), error_event(d, "overloaded today")),
        3,
        "part",
        "overloaded today",
    ),
    "blank": (lambda s, d: s.reply(*stream(d, " \n")), 3, " \n", "empty"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("failure", FAILURES)
def test_the_exit_code_tells_and_the_error_says_why(tmp_path, dialect, failure):
    script, code, out, words = FAILURES[failure]
    with Server() as server:
        script(server, dialect)
        env = pointed(tmp_path, server, dialect)
        done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (code, out)
    assert words in done.err
    line = next(line for line in done.err.splitlines() if line.startswith("Error: "))
    assert len(line) < 300
    assert "Traceback" not in done.err
    assert [r["message"]["role"] for r in kept(env) if r["type"] == "said"] == (
        ["user", "assistant"] if out.strip() else ["user"]
    )


@pytest.mark.parametrize(
    ("dialect", "reply"),
    [
        ("chat", chat("cut", finish="length")),
        ("messages", messages("cut", finish="max_tokens")),
        ("responses", responses("cut", finish="incomplete")),
    ],
)
def test_an_answer_at_its_limit_is_incomplete(tmp_path, dialect, reply):
    with Server() as server:
        server.reply(*reply)
        done = run(["-p", "hi"], pointed(tmp_path, server, dialect))
    assert (done.code, done.out) == (4, "cut")
    assert "Error: the answer reached the output limit" in done.err


def test_nobody_listens_at_the_other_end(tmp_path):
    with Server() as server:
        env = pointed(tmp_path, server)
        place = server.url.removeprefix("http://")
    done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (3, "")
    assert place in done.err


@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_a_refusal_is_the_answer(tmp_path, dialect):
    with Server() as server:
        server.reply(*stream(dialect, RefusalDelta("I cannot "), RefusalDelta("do that.")))
        done = run(["-p", "hi"], pointed(tmp_path, server, dialect))
    assert done.code == 0
    assert done.out.count("I cannot do that.") == 1


def test_ctrl_c_ends_with_130_and_closes_the_connection(tmp_path):
    with Server() as server:
        server.reply(*chat("part", HANG))
        env = pointed(tmp_path, server)
        child = start(env, "-p", "hi")
        assert child.stdout.read(4) == b"part"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
        server.wait_for_close()
    assert (out, child.returncode) == (b"", 130)
    assert b"Traceback" not in err
    assert kept(env)[-1]["outcome"] == "cancelled"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_keeps_the_words_and_ends_by_it(tmp_path, signum):
    with Server() as server:
        server.reply(*chat("part", HANG))
        env = pointed(tmp_path, server)
        child = start(env, "-p", "hi")
        assert child.stdout.read(4) == b"part"
        child.send_signal(signum)
        _, err = child.communicate()
    assert child.returncode == -signum
    assert b"Traceback" not in err
    said = [r for r in kept(env) if r["type"] == "said"]
    assert [r["message"]["parts"][0]["text"] for r in said] == ["hi", "part"]


def test_a_reader_that_leaves_ends_mino_quietly(tmp_path):
    with Server() as server:
        server.reply(*chat(*["line\n" * 100] * 500))
        env = pointed(tmp_path, server)
        done = subprocess.run(
            ["bash", "-c", 'set -o pipefail; "$@" | head -1', "bash", *mino("-p", "hi")],
            env=env,
            capture_output=True,
            check=False,
        )
    assert done.stdout == b"line\n"
    assert done.returncode in (0, 141)
    assert b"Error" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_error_in_the_same_file_as_the_answer_has_a_line_of_its_own(tmp_path):
    with Server() as server:
        server.reply(*chat("part", CUT))
        done = subprocess.run(
            mino("-p", "hi"),
            env=pointed(tmp_path, server),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert done.stdout.startswith(b"part\nError: ")
    assert done.returncode == 5


def test_a_closed_standard_error_does_not_end_the_answer(tmp_path):
    with Server() as server:
        server.reply(*chat("whole answer"))
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            mino("-p", "hi"),
            env=pointed(tmp_path, server),
            stdout=subprocess.PIPE,
            stderr=writing,
            check=False,
        )
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, b"whole answer")


@pytest.mark.parametrize("more", [(), ("--renderer", "json")])
def test_an_answer_that_goes_nowhere_is_no_success(tmp_path, more):
    with Server() as server:
        server.reply(*chat("an answer"))
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", *mino("-p", "hi", *more)],
            env=pointed(tmp_path, server),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "Error: cannot write to standard output: Bad file descriptor\n"


def test_an_encoding_that_lacks_letters_replaces_them_and_history_keeps_them(tmp_path):
    with Server() as server:
        server.reply(*chat("π ≈ 3,14 — 漢"))
        env = pointed(tmp_path, server, PYTHONIOENCODING="ascii")
        done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (0, "? ? 3,14 ? ?")
    assert "π ≈ 3,14 — 漢" in json.dumps(kept(env), ensure_ascii=False)


def test_lines_of_a_script_are_prompts_and_commands(tmp_path):
    with Server() as server:
        for answer in ("one", "two", "three"):
            server.reply(*chat(answer + "\n"))
        done = run(["-i"], pointed(tmp_path, server), input="first\n\nsecond\n/clear\nthird")
    assert (done.code, done.out) == (0, "one\ntwo\nthree\n")
    assert [m["content"] for m in server.requests[1].json["messages"][1:]] == ["first", "one\n", "second"]
    assert [m["content"] for m in server.requests[2].json["messages"][1:]] == ["third"]


def test_a_script_ends_with_the_worst_of_its_codes(tmp_path):
    with Server() as server:
        server.reply(*chat("one", finish="length"))
        server.reply(*chat("two", finish=None))
        server.reply(*chat("three"))
        done = run(["-i"], pointed(tmp_path, server), input="1\n2\n3\n")
    assert done.code == 5


def test_a_plugin_that_prints_reaches_standard_error_only(tmp_path):
    with Server() as server:
        server.reply(*chat("answer"))
        env = pointed(tmp_path, server)
        plugins = Path(env["MINO_HOME"]) / "plugins"
        plugins.mkdir()
        (plugins / "loud.py").write_text(
            "from mino_core import hookimpl\nprint('at import')\n"
            "@hookimpl\ndef mino_event(event):\n    print('seen')\n"
        )
        done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (0, "answer")
    assert "at import" in done.err
    assert "seen" in done.err


def test_the_key_is_nowhere_and_debug_shows_the_body(tmp_path):
    with Server() as server:
        server.fail(401, "the key sk-CANARY-123456 is wrong")
        env = pointed(tmp_path, server, more='api_key = "env:DEMO_KEY"', DEMO_KEY="sk-CANARY-123456")
        done = run(["-p", "hi", "--debug"], env)
    assert server.requests[0].headers["authorization"] == "Bearer sk-CANARY-123456"
    assert "CANARY" not in done.out + done.err + json.dumps(kept(env))
    assert '"messages"' in done.err
    assert "DEMO_KEY" in done.err


def test_what_is_not_asked_for_is_a_usage_error(tmp_path):
    with Server() as server:
        env = pointed(tmp_path, server)
        for args in (["--nope"], ["nope"], ["-o", "x", "-p", "hi"], ["-a", "/nowhere/at.all", "-p", "hi"]):
            done = run(args, env)
            assert (done.code, done.out) == (2, ""), args
            assert "Traceback" not in done.err
        assert not server.requests


def test_a_file_goes_along(tmp_path):
    note = tmp_path / "note.txt"
    note.write_text("remember ``` this\n")
    with Server() as server:
        server.reply(*chat("ok"))
        run(["-p", "hi", "-a", str(note)], pointed(tmp_path, server))
    sent = json.dumps(server.requests[0].json["messages"][-1], ensure_ascii=False)
    assert "note.txt" in sent
    assert "remember ``` this" in sent


def test_options_and_instructions_of_one_run_are_sent(tmp_path):
    with Server() as server:
        server.reply(*chat("ok"))
        run(
            ["-p", "hi", "-s", "Be brief.", "-o", "temperature=0.2", "-o", "user=ada"],
            pointed(tmp_path, server),
        )
    body = server.requests[0].json
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["temperature"], body["user"]) == (0.2, "ada")


def test_json_lines_say_everything(tmp_path):
    with Server() as server:
        server.reply(*chat("Hel", "lo", usage=Usage(input_tokens=3, output_tokens=2)))
        done = run(["-p", "hi", "--renderer", "json"], pointed(tmp_path, server))
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert {"type": "text_delta", "text": "Hel"} in lines
    ended = next(line for line in lines if line["type"] == "turn_ended")
    assert (ended["outcome"], ended["error"], ended["usage"]["input_tokens"]) == ("completed", None, 3)


@pytest.mark.parametrize("flags", [[], ["--plain"], ["--renderer", "json"]])
def test_settings_that_renderers_share_hold_whichever_draws(tmp_path, flags):
    with Server() as server:
        server.reply(*chat("answer"))
        env = pointed(tmp_path, server, toml="[renderer]\nusage = false\nreasoning = 'hide'\n")
        done = run([*flags, "-p", "hi"], env)
    assert (done.code, done.err) == (0, "")
    assert "answer" in done.out
