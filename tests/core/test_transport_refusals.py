"""Connections that do not come about, and statuses that refuse, each as one sentence."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
from mino_core import ProviderError
from mino_core.testing import CUT, HANG, Server
from transport_tools import KEY, ONE, ask, failure

# -- no connection ---------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_nothing_listens() -> None:
    port = free_port()
    error = failure(f"http://127.0.0.1:{port}")
    assert error.kind == "connect"
    assert f"nothing listens at 127.0.0.1:{port}" in error.message


def test_a_host_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = failure("https://models.example")
    assert error.kind == "connect"
    assert "the host of models.example:443 is unknown" in error.message


def test_a_server_that_does_not_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", silent)
    error = failure("https://models.example:8443")
    assert error.kind == "connect"
    assert "cannot connect to models.example:8443" in error.message


def test_a_certificate_that_is_not_trusted_names_what_to_set() -> None:
    with Server(tls=True) as server:
        error = failure(server.url)
    assert error.kind == "connect"
    assert "ca_file" in error.message
    assert "SSL_CERT_FILE" in error.message


@pytest.mark.parametrize("how", ["setting", "variable"])
def test_a_certificate_can_be_trusted_by_setting_or_variable(how: str) -> None:
    with Server(tls=True) as server:
        server.reply(ONE)
        by_setting = how == "setting"
        environ = {} if by_setting else {"SSL_CERT_FILE": server.ca_file}
        assert ask(server.url, environ, **({"ca_file": server.ca_file} if by_setting else {}))


def test_a_certificate_of_another_host_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(tls=True) as server:
        address = socket.getaddrinfo("127.0.0.1", server.port, type=socket.SOCK_STREAM)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: address)
        error = failure(f"https://models.example:{server.port}", ca_file=server.ca_file)
    assert "belongs to another host" in error.message


def test_a_file_without_certificates_is_named(tmp_path: Any) -> None:
    (tmp_path / "ca.pem").write_text("hello")
    error = failure("https://127.0.0.1:9", ca_file=str(tmp_path / "ca.pem"))
    assert error.kind == "config"
    assert "ca.pem holds no certificates" in error.message
    error = failure("https://127.0.0.1:9", {"SSL_CERT_FILE": str(tmp_path / "gone.pem")})
    assert "SSL_CERT_FILE" in error.message
    assert "cannot be read" in error.message
    error = failure("https://127.0.0.1:9", {"SSL_CERT_DIR": str(tmp_path / "gone")})
    assert "SSL_CERT_DIR: there is no folder" in error.message


def test_tls_to_a_server_that_speaks_none() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        client, _ = listener.accept()
        client.recv(100)
        client.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    error = failure(f"https://127.0.0.1:{listener.getsockname()[1]}")
    thread.join()
    listener.close()
    assert error.kind == "connect"
    assert "does not speak TLS" in error.message


# -- refusals --------------------------------------------------------------------------------------


def refusal(
    status: int, body: bytes = b"", headers: dict[str, str] | None = None, **settings: Any
) -> ProviderError:
    with Server() as server:
        server.reply(body, status=status, headers=headers or {}, framing="length")
        error = failure(server.url, **settings)
    assert error.status == status
    assert error.message.startswith(f"HTTP {status} from 127.0.0.1: ")
    return error


def test_a_refused_key_names_where_it_came_from_and_never_its_value() -> None:
    echo = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'.encode()
    error = refusal(401, echo, environ={"DEMO_KEY": KEY}, api_key="env:DEMO_KEY")
    assert error.kind == "auth"
    assert "Incorrect API key provided: ***" in error.message
    assert "DEMO_KEY" in error.message
    assert "set `api_key`" in refusal(401, b"").message
    assert refusal(403, b"no").kind == "auth"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, b'{"error": {"message": "stream_options: unknown field"}}', "include_usage = false"),
        (
            422,
            b'{"detail": [{"loc": ["stream_options"], "msg": "stream_options not allowed"}]}',
            "include_usage",
        ),
        (400, b'{"error": {"message": "use max_completion_tokens"}}', "max_tokens_field"),
        (404, b'{"error": {"message": "no model x"}}', "/v1"),
        (404, b"", "base_url"),
        (405, b"", "base_url"),
        (413, b"<html><title>Too large</title>", "Too large"),
        (429, b"", "empty body; ask again in a while"),
        (429, b'{"error": {"type": "insufficient_quota", "message": "No."}}', "waiting does not help"),
        (502, b"<html><head><title>502 Bad\nGateway</title></head>", "502 Bad Gateway"),
        (529, b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "ask again"),
        (400, b"\x00\x1b]0;title\x07\xff plain \xc2\x9b words", "plain words"),
        (400, b'{"error": {"message": "' + b"long " * 1000 + b'"}}', "long long"),
        (500, b"[]", "empty body; ask again in a while"),
        (408, b"", "ask again in a while"),
        (524, b"", "ask again in a while"),
        (418, b'"short and stout"', "short and stout"),
    ],
)
def test_a_status_says_what_the_server_said_and_what_to_do(status: int, body: bytes, words: str) -> None:
    error = refusal(status, body)
    assert error.kind == "http"
    assert words in error.message


def test_the_request_id_and_the_wait_are_shown_and_kept() -> None:
    error = refusal(429, b'{"error": "slow down"}', {"x-request-id": "req_7\x1b[2J", "retry-after": "2"})
    assert (error.request_id, error.retry_after) == ("req_7", 2.0)
    assert "ask again in 2 s (request req_7)" in error.message
    assert refusal(529, b"x", {"request-id": "req_8", "retry-after-ms": "1500"}).retry_after == 1.5
    assert refusal(503, b"x", {"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}).retry_after == 0
    for nonsense in ("soon", "-1", "nan", "inf", "1e300", "Wed, 01 Jan 2200 00:00:00 GMT"):
        assert refusal(503, b"x", {"retry-after": nonsense}).retry_after is None


def test_a_request_may_be_named_in_the_body_of_its_error() -> None:
    body = b'{"type": "error", "error": {"message": "no"}, "request_id": "req_11"}'
    error = refusal(400, body)
    assert (error.request_id, error.message) == ("req_11", "HTTP 400 from 127.0.0.1: no (request req_11)")
    assert refusal(400, body, {"request-id": "req_12"}).request_id == "req_12"


def test_a_redirect_is_not_followed_and_shown_without_its_query() -> None:
    target = "https://other.example/v2/chat?token=abc#part"
    error = refusal(307, b"", {"location": target}, api_key=KEY)
    assert "redirects to https://other.example/v2/chat;" in error.message
    assert "token" not in error.message


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "does not say where to"),
        ({"location": "?"}, "not say where"),
        ({"location": "http://[x"}, "http://[x;"),
    ],
)
def test_a_redirect_to_nowhere_is_a_redirect(headers: dict[str, str], words: str) -> None:
    assert words in refusal(302, b"", headers).message


def test_an_endless_error_is_read_to_a_limit() -> None:
    with Server() as server:
        server.reply(*[b"x" * 32768] * 4, HANG, status=500)
        assert "HTTP 500" in failure(server.url).message
        server.wait_for_close()


def test_a_silent_error_body_is_waited_for_only_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mino_core.transport.http._ERROR_SECONDS", 0.05)
    with Server() as server:
        server.reply(b'{"error": "half', HANG, status=500)
        assert failure(server.url, read_timeout=0).status == 500
        server.reply(b"", HANG, status=503)
        assert "HTTP 503" in failure(server.url).message


def test_a_cut_error_body_still_tells_its_status() -> None:
    with Server() as server:
        server.reply(b"", CUT, status=500)
        assert "HTTP 500 from 127.0.0.1: empty body" in failure(server.url).message
