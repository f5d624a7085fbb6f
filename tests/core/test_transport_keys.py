"""A configured key goes to its server and nowhere else: not into output, logs, records or exceptions.

Whatever the key is, wherever it stands in the configuration, and whatever a server does with it.
"""

from __future__ import annotations

import json
import traceback
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mino_core import ConfigError, Message, MinoError, ProviderError, Request, Settings, Text, secret
from mino_core.testing import CUT, Server, run
from mino_core.testing.steps import Reply
from pointed import DIALECTS, pointed
from transport_tools import endpoint

from mino_anthropic.messages import Messages
from mino_openai.chat import Chat
from mino_openai.responses import Responses

CANARY = "sk-canary-0123456789"
#: What a header can carry, quotes and backslashes included; it begins as nothing else does.
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=60).map("~K{}".format)
REQUEST = Request("demo", "", (Message("user", (Text("hi"),)),))
MAKERS = {"chat": Chat, "responses": Responses, "messages": Messages}

#: Where a key can stand: settings and variables for it. A `{}` in the address is for the query.
PLACES: dict[str, Any] = {
    "literal": lambda key, folder: ({"api_key": f"{key}"}, {}),
    "variable": lambda key, folder: ({"api_key": "env:DEMO_KEY"}, {"DEMO_KEY": key}),
    "file": lambda key, folder: ({"api_key": f"file:{_file(folder, key)}"}, {}),
    "command": lambda key, folder: ({"api_key": f"cmd:cat {_file(folder, key)}"}, {}),
    "other header": lambda key, folder: ({"api_key": "env:DEMO_KEY", "auth": "x-api-key"}, {"DEMO_KEY": key}),
    "extra header": lambda key, folder: ({"extra_headers": {"X-Goog-Api-Key": key}}, {}),
    "bearer": lambda key, folder: ({"extra_headers": {"authorization": f"Bearer {key}"}}, {}),
    "bearer by variable": lambda key, folder: (
        {"extra_headers": {"authorization": "env:MINE"}},
        {"MINE": f"Bearer {key}"},
    ),
    "header by variable": lambda key, folder: ({"extra_headers": {"X-Mine": "env:MINE"}}, {"MINE": key}),
}


def _file(folder: Path, key: str) -> Path:
    (folder / "key").write_text(key)
    return folder / "key"


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
#: What a server does that was handed a key.
ECHOES: dict[str, Any] = {
    "error": lambda key: Reply((json.dumps({"error": {"message": f"bad key {key}!"}}).encode(),), 401),
    "error in odd letters": lambda key: Reply((('{"error": "' + _spelled(key) + '"}').encode(),), 403),
    "text": lambda key: Reply((f"no {key} here".encode(),), 500),
    "long text": lambda key: Reply(((f"{key} " * 40).encode(),), 500),
    "page": lambda key: Reply((f"<title>{escape(key)}</title>".encode(),), 502),
    "page instead": lambda key: Reply((f"<title>{escape(key)}</title>".encode(),), 200),
    "text instead": lambda key: Reply((f"you said {key}".encode(),), 200),
    "redirect": lambda key: Reply((b"",), 307, {"location": f"https://x.example/{quote(key)}?a={key}"}),
    "headers": lambda key: Reply((b"{}",), 429, {"x-request-id": key, "x-echo": key, "retry-after": key}),
    "no HTTP": lambda key: Reply((f"{key}\r\n\r\n".encode(), CUT), framing="raw"),
    "no chunk size": lambda key: Reply((CHUNKED + key.encode(), CUT), framing="raw"),
    "packing": lambda key: Reply((b"x",), 200, {"content-encoding": key}),
    "error event": lambda key: Reply((f"event: error\ndata: {key}\n\n".encode(),)),
    "malformed event": lambda key: Reply((f'data: {{"x": "{"y" * 80}{key}\n\n'.encode(),)),
    "unknown end": lambda key: Reply(
        (
            b"data: " + json.dumps({"choices": [{"delta": {"content": "x"}, "finish_reason": key}]}).encode(),
            b"\n\ndata: " + json.dumps({"type": "message_delta", "delta": {"stop_reason": key}}).encode(),
            b"\n\ndata: " + json.dumps({"type": "response.completed", "response": {"status": key}}).encode(),
            b"\n\n",
        )
    ),
    "refusal": lambda key: Reply(
        (
            b"data: "
            + json.dumps(
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "refusal", "stop_details": {"explanation": key}},
                }
            ).encode(),
            b"\n\n",
        )
    ),
}


def _spelled(key: str) -> str:
    r"""The key as \u escapes, as JSON may have it."""
    return "".join(f"\\u{ord(char):04x}" for char in key)


@contextmanager
def fresh_masks() -> Iterator[None]:
    """Keys that other examples made up are forgotten again, so that they mask nothing else."""
    known, secret._known = secret._known, []
    try:
        yield
    finally:
        secret._known = known


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("~K000;00", "bearer", "error", "chat")
@example("~K0,00;00=0", "bearer by variable", "error", "messages")
@given(
    KEYS, st.sampled_from(sorted(PLACES)), st.sampled_from(sorted(ECHOES)), st.sampled_from(sorted(MAKERS))
)
def test_whatever_a_server_does_with_a_key_it_is_told_to_nobody(
    server: Server, tmp_path: Path, key: str, place: str, echo: str, dialect: str
) -> None:
    with fresh_masks():
        table, environ = PLACES[place](key, tmp_path)
        _check(server, tmp_path, {"base_url": server.url, **table}, environ, key, ECHOES[echo](key), dialect)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(KEYS, st.sampled_from(sorted(ECHOES)), st.sampled_from(sorted(MAKERS)))
def test_nor_is_a_key_in_the_query_of_an_address(
    server: Server, tmp_path: Path, key: str, echo: str, dialect: str
) -> None:
    for written in (quote(key, safe=""), quote(key)):
        with fresh_masks():
            url = f"{server.url}/v1?api-version=1&key={written}"
            seen = _check(server, tmp_path, {"base_url": url}, {}, key, ECHOES[echo](key), dialect)
            assert written == key or written not in seen
            assert "api-version=1" in seen


@pytest.mark.parametrize("header", ["a=b; session={}; theme=dark", "Token token={},x=y", "Basic {}"])
def test_what_is_secret_in_a_header_is_masked_without_what_stands_around_it(header: str) -> None:
    with fresh_masks():
        endpoint("https://x", extra_headers={"X-Cookie": header.format(CANARY)})
        assert secret.mask(f"no {CANARY}!") == "no ***!"
        assert secret.mask("Basic Token session") == "Basic Token session"


def _check(
    server: Server,
    folder: Path,
    table: dict[str, Any],
    environ: dict[str, str],
    key: str,
    reply: Reply,
    dialect: str,
) -> str:
    """Ask once, and look at all that is said of it."""
    server.answer(lambda request: reply)
    log = folder / "wire.log"
    log.write_text("")
    environ = {**environ, "DEBUG": "1", "MINO_DEBUG_FILE": str(log)}
    given_settings = Settings(table, path="providers.demo", environ=environ)
    told, aside = [repr(given_settings)], StringIO()
    asked = len(server.requests)
    with redirect_stderr(aside):
        try:
            with closing(MAKERS[dialect](given_settings)) as made:
                told += [
                    repr(made),
                    repr(made._endpoint),
                    repr(made._endpoint.address),
                    repr(made._endpoint.credentials.key),
                ]
                told += [repr(delta) for delta in made.stream(REQUEST)]
        except MinoError as error:
            told += [repr(error), str(error), *traceback.format_exception(error)]
            told += (
                [json.dumps(error.as_json(), ensure_ascii=False)] if isinstance(error, ProviderError) else []
            )
    assert len(server.requests) == asked + 1
    seen = "\n".join([*told, aside.getvalue(), log.read_text()])
    assert key not in seen
    assert json.dumps(key)[1:-1] not in seen
    return seen


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["api_key", "query", "header", "proxy"])
def test_no_file_and_no_stream_of_a_whole_run_holds_a_key(tmp_path: Path, dialect: str, place: str) -> None:
    """The program itself, with all it writes: answers, errors, records, state, dumps."""
    with Server() as server:
        server.answer(lambda request: Reply((f'{{"error": {{"message": "no {CANARY}"}}}}'.encode(),), 401))
        more = {
            "api_key": 'api_key = "env:DEMO_KEY"',
            "query": "",
            "header": 'extra_headers = { "X-Goog-Api-Key" = "env:DEMO_KEY" }',
            "proxy": "",
        }[place]
        log = tmp_path / "wire.log"
        env = pointed(
            tmp_path, server, dialect, more=more, DEMO_KEY=CANARY, DEBUG="1", MINO_DEBUG_FILE=str(log)
        )
        config = Path(env["MINO_HOME"], "config.toml")
        if place == "query":
            config.write_text(config.read_text().replace(server.url, f"{server.url}/v1?key={CANARY}"))
        if place == "proxy":
            config.write_text(config.read_text().replace(server.url, "http://models.example"))
            env["HTTP_PROXY"] = server.url.replace("//", f"//me:{CANARY}@")
        config.chmod(0o600)
        done = [run(["-p", f"is {CANARY} my key?"], env), run(["--renderer", "json", "-p", "hi"], env)]
    assert [one.code for one in done] == [3, 3]
    assert "401" in done[0].err
    assert server.requests
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != config]
    assert log in files
    assert any(path.suffix == ".jsonl" for path in files)
    everything = [one.out + one.err for one in done] + [path.read_text(errors="replace") for path in files]
    assert not [text for text in everything if CANARY in text]
    assert not [text for text in everything if b64encode(f"me:{CANARY}".encode()).decode() in text]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTPS_PROXY", "http://me:{}@127.0.0.1:9"),
        ("HTTPS_PROXY", "ftp://me:{}@127.0.0.1:9"),
        ("ALL_PROXY", "socks://me:{}@127.0.0.1:9"),
        ("ALL_PROXY", "socks5://me:{}@127.0.0.1:9"),
        ("HTTPS_PROXY", "http://me:{}@[bad"),
    ],
)
def test_the_password_of_a_proxy_stays_hidden(variable: str, value: str, capsys: Any) -> None:
    with closing(endpoint("https://models.example", {variable: value.format(CANARY), "DEBUG": "1"})) as made:
        with pytest.raises(ProviderError) as caught:
            list(made.events("/chat", {"q": "x"}))
        told = [*traceback.format_exception(caught.value), repr(made._via), *capsys.readouterr()]
    assert variable in caught.value.message
    assert CANARY not in "".join(told)


@pytest.mark.parametrize(
    "table",
    [
        {"base_url": f"htp://x.example?key={CANARY}"},
        {"base_url": f"https://me:{CANARY}@x.example"},
        {"base_url": "https://x.example", "proxy": f"ftp://me:{CANARY}@p"},
        {"base_url": "https://x.example", "extra_headers": {"Authorization": f"Bearer {CANARY}\n"}},
        {"base_url": "https://x.example", "api_key": CANARY, "auth": "basic"},
        {"base_url": "https://x.example", "api_key": [CANARY]},
        {"base_url": "https://x.example", "api_key": f"cmd:cat /nowhere/{CANARY}\0"},
    ],
)
def test_a_wrong_setting_is_told_without_its_secret(table: dict[str, Any]) -> None:
    with pytest.raises((ConfigError, ProviderError)) as caught:
        list(endpoint(table["base_url"], **table).events("/", {}))
    assert CANARY not in "".join(traceback.format_exception(caught.value, limit=0))
