"""What cannot be read on the command line is one sentence, exit code 2, and nothing is sent or written."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from mino_core.testing import Server, Terminal, chat, home, mino, run
from pointed import pointed


def refused(env, *args):
    done = run(args, env)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert not any(Path(env["MINO_HOME"]).iterdir())
    return done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--provder", "x"), "there is no flag --provder; did you mean --provider?"),
        (("--modell=x", "-p", "hi"), "there is no flag --modell; did you mean --model?"),
        (("--frobnicate", "config", "show"), "there is no flag --frobnicate; `mino --help` lists them"),
        (("-p",), "-p/--prompt: expected one argument"),
        (("--model",), "--model: expected one argument"),
        (("-o", "x", "-p", "hi"), "write -o KEY=VALUE"),
        (("-o", "=3", "-p", "hi"), "write -o KEY=VALUE"),
        (("-o", "t=nan", "-p", "hi"), "JSON has no such value"),
        (("-a", " ", "-p", "hi"), "-a FILE: the name of the file is blank"),
        (("-e", "", "-p", "hi"), "-e FILE: the name of the file is blank"),
        (("-e", "no.py", "-p", "hi"), "there is no such file"),
        (("--config", "no.toml", "-p", "hi"), "there is no such file"),
        (("-p", ""), "nothing was asked"),
        (("-p", " \t\u3000"), "nothing was asked"),
    ],
)
def test_a_flag_that_cannot_be_read_is_one_sentence(tmp_path, args, words):
    assert words in refused(home(tmp_path), *args)


@pytest.mark.parametrize(
    "args",
    [
        ("-p", "hi", "-i"),
        ("-c", "--resume", "01"),
        ("--no-history", "--history", "jsonl"),
        *((flag, "config", "path") for flag in ("-i", "-c")),
        ("-p", "what", "is", "it"),
        ("-a", "f", "config", "path"),
        ("--resume", "01", "config", "path"),
    ],
)
def test_what_would_be_dropped_is_refused(tmp_path, args):
    assert "exclude each other" in refused(home(tmp_path), *args)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("confg", "; did you mean config?"),
        ("docter", "; did you mean doctor?"),
        ("hello", "; to ask something, write mino -p TEXT"),
    ],
)
def test_an_unknown_subcommand_names_those_there_are_and_the_way_on(tmp_path, name, words):
    err = refused(home(tmp_path), name, "world")
    assert "there are: config, doctor, history, init" in err
    assert words in err


def test_help_says_what_every_flag_does_within_eighty_columns(tmp_path):
    told = run(["--help"], home(tmp_path, COLUMNS="80")).out
    assert max(map(len, told.splitlines())) <= 80
    for flag in re.findall(r"^  (-[^\n]*)\n(?!   )", told, re.MULTILINE):
        assert re.search(r"\S {2,}\S", flag), f"{flag} has no words of help"


@pytest.mark.parametrize("args", [("--help", "history", "list"), ("history", "list", "--help")])
def test_help_before_a_subcommand_is_the_subcommands(tmp_path, args):
    done = run(args, home(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert "--here" in done.out


def test_a_blank_flag_counts_as_not_set(tmp_path):
    env = home(tmp_path)
    plain = run(["config", "show"], env)
    blank = [
        word
        for flag in ("provider", "model", "renderer", "input", "history", "config")
        for word in (f"--{flag}", "")
    ]
    assert run([*blank, "config", "show"], env) == plain


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "args", [("--version",), ("--help",), ("config", "show"), ("config", "show", "--json")]
)
def test_an_output_that_takes_nothing_is_one_sentence_or_141(tmp_path, args):
    env = home(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            mino(*args), check=False, env=env, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (
        3,
        "Error: cannot write to standard output: No space left on device\n",
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        mino(*args), check=False, env=env, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


# -- configuration files that are no files -----------------------------------------------------


@pytest.mark.parametrize("name", ["config.toml", "state.toml"])
def test_a_pipe_in_the_place_of_a_file_is_no_reason_to_wait(tmp_path, name):
    env = home(tmp_path)
    os.mkfifo(Path(env["MINO_HOME"], name))
    assert run(["config", "check"], env).code == (2 if name == "config.toml" else 0)
    told = run(["-p", ""], env).err if name == "config.toml" else run(["config", "show"], env).out
    assert f"{name}: this is a pipe; a TOML file belongs here" in told


def test_a_pipe_that_somebody_names_is_read(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b'[session]\nmodel = "from-a-pipe"\n')
    os.close(writer)
    done = subprocess.run(
        mino("--config", f"/dev/fd/{reader}", "config", "show"),
        check=False,
        env=home(tmp_path),
        pass_fds=[reader],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(reader)
    assert "from-a-pipe" in done.stdout


def test_ctrl_c_ends_the_wait_for_a_pipe_that_nobody_writes_to(tmp_path):
    env = home(tmp_path)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    child = subprocess.Popen(mino("--config", str(fifo), "config", "show"), env=env, stderr=subprocess.PIPE)
    writer = os.open(fifo, os.O_WRONLY)  # returns once mino has opened it, and so waits for what it says
    try:
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
    finally:
        os.close(writer)
        child.kill()
        child.communicate()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[session]\nmax_rounds = 0\n[shell]\n", "config.toml:2: session.max_rounds: must be"),
        (b"[session\n", "config.toml:1:9: expected"),
        (b"model = '\xe9'\n", "config.toml:1: this is not UTF-8 text"),
        (None, "config.toml: this is a directory"),
    ],
)
def test_what_looks_for_mistakes_works_where_there_are_some(tmp_path, content, words):
    env = home(tmp_path)
    path = Path(env["MINO_HOME"], "config.toml")
    path.mkdir() if content is None else path.write_bytes(content)
    assert run(["config", "path"], env).out == f"{path}\n"
    check = run(["config", "check", "--json"], env)
    assert check.code == 2
    assert words in json.loads(check.out)["problems"][0]
    assert "`mino config check` says what" in run(["config", "show"], env).out
    doctor = run(["doctor", "--json"], env)
    assert (doctor.code, doctor.err) == (3, "")
    assert any(words in row["text"] for row in json.loads(doctor.out) if row["state"] == "failed")
    other = run(["-p", "hi"], env)
    assert (other.code, other.out) == (2, "")
    assert words in other.err


def test_a_file_that_cannot_be_read_may_have_disabled_any_plugin(tmp_path):
    env = home(tmp_path, "[plugins\n")
    plugins = Path(env["MINO_HOME"], "plugins")
    plugins.mkdir()
    (plugins / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    for args in (("config", "check"), ("doctor",), ("-p", "hi"), ("plugins",), ("--help",)):
        run(args, env)
    assert not (tmp_path / "ran").exists()


def test_a_mistake_among_the_settings_of_the_history_stops_the_start(tmp_path):
    env = home(tmp_path, "[history]\nfsnyc = 1\n")
    done = run(["-p", "hi"], env)
    assert (done.code, done.out) == (2, "")
    assert "config.toml:2: history.fsnyc: is not a setting of the history backend 'jsonl'" in done.err
    with Terminal(mino(), env) as terminal:
        assert terminal.wait_exit() == 2
        assert "history.fsnyc" in terminal.text


def test_a_key_in_the_file_is_masked_in_a_fault_that_comes_before_it_is_used(tmp_path):
    toml = '[providers.x]\nkind = "openai-chat"\napi_key = "CANARY-1"\n'
    env = home(tmp_path, toml + 'extra_headers = { X-Token = "CANARY-2" }\n')
    plugin = tmp_path / "loud.py"
    plugin.write_text(
        "from mino_core import hookimpl\n\n\n@hookimpl\ndef mino_subcommands():\n"
        "    return {'loud': lambda argv, host: int(host.config.file.text.replace('\\n', ' '))}\n"
    )
    for args in (("loud",), ("--debug", "loud"), ("plugins", "info", "loud")):
        done = run(["-e", str(plugin), *args], env)
        assert "CANARY" not in done.out + done.err
    assert "***" in run(["-e", str(plugin), "loud"], env).err
    assert not any(
        "CANARY" in file.read_text() for file in Path(env["MINO_HOME"]).glob("*/*") if file.is_file()
    )


# -- what is read from files and pipes ---------------------------------------------------------


def test_marks_of_other_systems_are_no_part_of_what_is_piped_in(tmp_path):
    with Server() as server:
        server.reply(*chat("ok"))
        assert run([], pointed(tmp_path, server), input=b"\xef\xbb\xbfone\r\ntwo\r\n").code == 0
    assert server.requests[0].json["messages"][-1]["content"] == "one\r\ntwo"


def test_what_is_no_text_is_refused_before_it_is_sent(tmp_path):
    with Server() as server:
        done = run(["-p", "what is this?"], pointed(tmp_path, server), input=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert (done.code, server.requests) == (2, [])
    assert "standard input is not text" in done.err and "-a FILE" in done.err


def test_ctrl_c_ends_the_wait_for_a_pipe_to_attach(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    child = subprocess.Popen(mino("-a", str(fifo), "-p", "hi"), env=home(tmp_path), stdin=subprocess.DEVNULL)
    writer = os.open(fifo, os.O_WRONLY)  # returns once mino has opened it
    try:
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
    finally:
        os.close(writer)
        child.kill()
        child.wait()


@pytest.mark.parametrize("name", ["with space é", "new/and/deep", "a\nb", "a\x1b[31mb", "~", "\udcff\udcfe"])
def test_a_home_of_any_name_keeps_what_was_said(tmp_path, name):
    with Server() as server:
        server.reply(*chat("ok"))
        place = os.fsencode(tmp_path) + b"/" + os.fsencode(name)
        variables = {"MINO_PROVIDER": "vllm", "MINO_MODEL": "m", "MINO_BASE_URL": server.url}
        env = home(tmp_path, **variables) | {"MINO_HOME": os.fsdecode(place)}
        done = run(["-p", "hi"], env)
        assert (done.code, done.out) == (0, "ok")
    assert len(json.loads(run(["history", "list", "--json"], env).out)) == 1
    shown = run(["config", "path"], env)
    assert (shown.code, "\x1b" in shown.out) == (0, False)
    assert os.path.isdir(place)


@pytest.mark.parametrize("below", ["", "/x"])
def test_a_file_in_the_place_of_the_home_is_one_sentence(tmp_path, below):
    (tmp_path / "file").write_text("mine")
    env = home(tmp_path) | {"MINO_HOME": f"{tmp_path / 'file'}{below}"}
    for args in (("-p", "hi"), ("plugins",), ("init", "--provider", "local")):
        done = run(args, env)
        assert (done.code, done.out) == (2, "")
        assert "Not a directory" in done.err
        assert "Traceback" not in done.err
    assert (tmp_path / "file").read_text() == "mine"
