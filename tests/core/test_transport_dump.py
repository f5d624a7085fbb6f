"""What a person who debugs sees: everything but secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mino_core import ProviderError
from mino_core.testing import CUT, Server
from transport_tools import KEY, ONE, ask, failure


@pytest.mark.parametrize("variable", ["DEBUG", "MINO_DEBUG"])
def test_each_request_and_the_head_of_its_response_are_shown(variable: str, capsys: Any) -> None:
    with Server() as server:
        server.reply(ONE, headers={"x-request-id": "req_1", "set-cookie": "session=abc"})
        ask(server.url, {variable: "1"}, api_key=KEY, extra_headers={"X-Title": "demo"})
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == f"> POST {server.url}/chat"
    assert "> Authorization: ***" in lines
    assert "> X-Title: demo" in lines
    assert {"q": "é"} in [json.loads(line) for line in lines if line.startswith("{")]
    assert any(line.startswith("< 200 after ") for line in lines)
    assert "< x-request-id: req_1" in [line.lower() for line in lines]
    assert KEY not in err
    assert "session=abc" not in err


@pytest.mark.parametrize("environ", [{}, {"DEBUG": "0"}, {"DEBUG": ""}, {"MINO_DEBUG": "app:*"}])
def test_nothing_is_shown_unasked(environ: dict[str, str], capsys: Any) -> None:
    with Server() as server:
        server.reply(ONE)
        ask(server.url, environ)
    assert capsys.readouterr().err == ""


def test_a_file_can_take_it_that_only_the_user_reads(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "wire.log"
    environ = {"DEBUG": "1", "MINO_DEBUG_FILE": str(path)}
    with Server() as server:
        server.answer(lambda request: [ONE])
        ask(server.url, environ, api_key=KEY)
        ask(server.url, environ, api_key=KEY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().count("> POST") == 2
    assert path.read_text().count('< data: {"n": 1}') == 2
    assert KEY not in path.read_text()
    assert capsys.readouterr().err == ""
    error = failure("http://127.0.0.1:9", {"DEBUG": "1", "MINO_DEBUG_FILE": str(tmp_path)})
    assert "MINO_DEBUG_FILE" in error.message


def test_a_file_has_an_answer_line_by_line_and_how_it_broke(tmp_path: Path) -> None:
    """A key that comes in two pieces is masked, since a line is written when it is whole."""
    path = tmp_path / "wire.log"
    with Server() as server:
        server.reply(b'data: {}\n\ndata: [1, "' + KEY[:9].encode(), KEY[9:].encode() + b'"]\n\nda', CUT)
        with pytest.raises(ProviderError):
            ask(server.url, {"DEBUG": "1", "MINO_DEBUG_FILE": str(path)}, api_key=KEY)
        server.fail(500, b"no " + KEY.encode())
        failure(server.url, {"DEBUG": "1", "MINO_DEBUG_FILE": str(tmp_path / "other.log")}, api_key=KEY)
    assert (tmp_path / "other.log").read_text().count("< no ***\n") == 1
    lines = path.read_text().splitlines()
    assert [line for line in lines if "data:" in line] == ["< data: {}", '< data: [1, "***"]']
    assert lines[-2] == "< da"
    assert lines[-1].startswith("< the connection broke before the answer was complete")


def test_a_secret_is_masked_wherever_it_stands(capsys: Any) -> None:
    with Server() as server:
        server.reply(ONE, headers={"x-echo": f"you sent {KEY}"})
        with_key = {"api_key": KEY, "extra_headers": {"X-Copy": KEY}}
        ask(f"{server.url}/{KEY}", {"DEBUG": "1"}, **with_key)
    assert KEY not in capsys.readouterr().err


def test_an_error_is_shown_whole_but_for_what_a_terminal_would_obey(capsys: Any) -> None:
    body = f'{{"error":\n "no \x1b[2J {KEY} {"x" * 1000}"}}'.encode()
    with Server() as server:
        server.reply(body, status=400, headers={"x-note": "a\x1b[31mb"}, framing="length")
        failure(server.url, {"DEBUG": "1"}, api_key=KEY)
    lines = capsys.readouterr().err.splitlines()
    assert '< {"error":' in lines
    assert lines[-1] == f'<  "no \\u001b[2J *** {"x" * 1000}"}}'
    assert "< x-note: a\\u001b[31mb" in lines


def test_what_a_terminal_would_obey_is_shown_as_json_escapes(capsys: Any) -> None:
    with Server() as server:
        server.reply(ONE)
        from contextlib import closing

        from transport_tools import endpoint

        with closing(endpoint(server.url, {"DEBUG": "1"})) as made:
            list(made.events("/chat", {"q": "\x1b[2J\x9b2J\u202e世"}))
    err = capsys.readouterr().err
    assert r'{"q":"\u001b[2J\u009b2J\u202e世"}' in err
