"""Which proxy is used, and going through one of each kind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from mino_core import ProviderError
from mino_core.testing import Server
from mino_core.transport.proxies import is_loopback, proxy_for
from transport_tools import KEY, ONE, ask, endpoint, failure


def chosen(
    environ: dict[str, str], scheme: str = "https", host: str = "api.example.com", port: int = 443
) -> str:
    proxy = proxy_for(scheme, host, port, environ)
    return proxy.url if proxy else ""


@pytest.mark.parametrize(
    ("environ", "https", "http"),
    [
        ({}, "", ""),
        ({"https_proxy": "http://p:1"}, "http://p:1", ""),
        ({"HTTPS_PROXY": "p:1", "HTTP_PROXY": "http://q:2"}, "http://p:1", "http://q:2"),
        ({"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"}, "http://a:1", ""),
        ({"ALL_PROXY": "socks5://s:1"}, "socks5://s:1", "socks5://s:1"),
        ({"ALL_PROXY": "socks5://s:1", "http_proxy": "h:1"}, "socks5://s:1", "http://h:1"),
        ({"https_proxy": "  ", "all_proxy": "http://p:1"}, "http://p:1", "http://p:1"),
    ],
)
def test_the_usual_variables_choose_the_proxy(environ: dict[str, str], https: str, http: str) -> None:
    assert chosen(environ) == https
    assert chosen(environ, "http", port=80) == http


@pytest.mark.parametrize(
    ("no_proxy", "is_used"),
    [
        ("", True),
        ("*", False),
        ("example.com", False),
        (".example.com", False),
        ("*.example.com", False),
        ("API.example.com", False),
        ("other.com, api.example.com", False),
        ("api.example.com:443", False),
        ("api.example.com:8443", True),
        ("*:443", False),
        ("example.com.", False),
        (".", True),
        ("ample.com", True),
        ("example.com.evil", True),
        ("10.0.0.0/8", True),
    ],
)
def test_no_proxy_names_hosts_and_what_is_below_them(no_proxy: str, is_used: bool) -> None:
    assert bool(chosen({"https_proxy": "http://p:1", "no_proxy": no_proxy})) is is_used
    assert bool(chosen({"https_proxy": "http://p:1", "NO_PROXY": no_proxy})) is is_used


def test_no_proxy_names_networks() -> None:
    environ = {"all_proxy": "http://p:1", "no_proxy": "10.0.0.0/8,fd00::/8,[2001:db8::1]:443"}
    assert not chosen(environ, host="2001:db8::1")
    assert chosen(environ, host="2001:db8::2")
    assert not chosen(environ, host="10.1.2.3")
    assert not chosen(environ, host="fd00::1")
    assert chosen(environ, host="11.1.2.3")


@pytest.mark.parametrize("host", ["localhost", "x.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_never_goes_through_a_proxy_of_the_environment(host: str) -> None:
    assert is_loopback(host)
    assert not chosen({"ALL_PROXY": "http://p:1"}, host=host)


def test_nor_does_it_through_one_of_its_own() -> None:
    """A request to it would end at the proxy, which is not there."""
    with Server() as server:
        server.reply(ONE)
        assert ask(server.url, proxy="http://127.0.0.1:9") == [("", '{"n": 1}')]


@pytest.mark.parametrize(
    "value",
    ["ftp://p:1", "https://p:1", "socks4://p:1", "http://", "http://p:x", "http://p:99999", "x y", "p\n:1"],
)
def test_a_proxy_that_cannot_be_one_names_its_variable(value: str) -> None:
    with pytest.raises(ProviderError, match="HTTPS_PROXY is not the address of a proxy") as caught:
        chosen({"HTTPS_PROXY": value})
    assert caught.value.kind == "config"


# -- going through -----------------------------------------------------------------------------


def test_a_plain_request_asks_the_proxy_for_the_whole_address() -> None:
    with Server() as proxy:
        proxy.answer(lambda request: [ONE])
        environ = {"HTTP_PROXY": proxy.url.replace("//", "//me:p%40ss@")}
        assert ask("http://models.example:81/v1", environ) == [("", '{"n": 1}')]
        (request,) = proxy.requests
    assert request.path == "http://models.example:81/v1/chat"
    assert request.headers["host"] == "models.example:81"
    assert request.headers["proxy-authorization"] == "Basic bWU6cEBzcw=="


def test_an_empty_setting_means_no_proxy() -> None:
    error = failure("http://models.invalid:9", {"HTTP_PROXY": "http://127.0.0.1:9"}, proxy="")
    assert "proxy" not in error.message


def test_a_proxy_that_is_not_there_is_named_with_its_variable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure("https://models.example", {"HTTPS_PROXY": f"http://me:{KEY}@127.0.0.1:{port}"})
    assert error.kind == "connect"
    assert f"nothing listens at the proxy 127.0.0.1:{port} (from HTTPS_PROXY)" in error.message


@contextmanager
def tunnel(greet: Callable[[socket.socket], bytes], target: int) -> Iterator[tuple[int, list[bytes]]]:
    """A proxy: what `greet` reads is recorded, then bytes go to and fro between client and target."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            heard.append(greet(client))
            if not target:
                return
            with socket.create_connection(("127.0.0.1", target)) as server:
                back = threading.Thread(target=copy, args=(server, client))
                back.start()
                copy(client, server)
                back.join()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        thread.join()
        listener.close()


def connect(client: socket.socket, reply: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> bytes:
    heard = b""
    while not heard.endswith(b"\r\n\r\n"):
        heard += client.recv(1000)
    client.sendall(reply)
    return heard


def test_tls_goes_through_a_tunnel_of_an_http_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(tls=True) as server, tunnel(connect, server.port) as (port, heard):
        server.reply(ONE)
        made = endpoint(
            f"https://127.0.0.1:{server.port}",
            ca_file=server.ca_file,
            proxy=f"me:pw@127.0.0.1:{port}",
            api_key=KEY,
        )
        made.is_local = False  # else it would go there directly
        with closing(made):
            assert list(made.events("/chat", {})) == [("", '{"n": 1}')]
        assert server.requests[0].path == "/chat"
        assert "proxy-authorization" not in server.requests[0].headers
    head = heard[0].decode().lower()
    assert head.startswith(f"connect 127.0.0.1:{server.port} http/1.1\r\nhost: 127.0.0.1:{server.port}\r\n")
    assert "proxy-authorization: basic bwu6chc=" in head
    assert KEY not in head


def test_a_proxy_that_refuses_the_tunnel_says_so() -> None:
    with tunnel(lambda client: connect(client, b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), 0) as (
        port,
        _,
    ):
        error = failure("https://models.example", proxy=f"http://127.0.0.1:{port}")
    assert error.kind == "connect"
    assert f"the proxy 127.0.0.1:{port} (from providers.demo.proxy): it says 407" in error.message
    assert "wants a user name and password" in error.message


def test_a_proxy_whose_host_nobody_knows_is_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = failure("https://models.example", {"HTTPS_PROXY": "http://proxy.invalid:9"})
    assert "the proxy proxy.invalid:9" in error.message
    assert "check HTTPS_PROXY and the network" in error.message


def socks(*replies: bytes) -> Callable[[socket.socket], bytes]:
    def greet(client: socket.socket) -> bytes:
        heard = b""
        for reply in replies:
            heard += client.recv(1000) + b"|"
            client.sendall(reply)
        return heard

    return greet


OPEN = b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"


@pytest.mark.parametrize("login", ["", "me:pw@"])
def test_a_socks_proxy_looks_the_host_up_itself(login: str) -> None:
    greet = socks(b"\x05\x02", b"\x01\x00", OPEN) if login else socks(b"\x05\x00", OPEN)
    with Server() as server, tunnel(greet, server.port) as (port, heard):
        server.reply(ONE)
        assert ask("http://models.example:81/v1", {"ALL_PROXY": f"socks5h://{login}127.0.0.1:{port}"})
        assert server.requests[0].path == "/v1/chat"
    asked = b"\x05\x01\x00\x03\x0emodels.example\x00\x51|"
    assert heard[0] == (b"\x05\x02\x00\x02|\x01\x02me\x02pw|" if login else b"\x05\x01\x00|") + asked


def test_what_a_socks_proxy_has_no_room_for_is_said_before_it_is_sent() -> None:
    with tunnel(lambda client: client.recv(99), 0) as (port, heard):
        error = failure("http://x.example", {"ALL_PROXY": f"socks5://{'u' * 256}:pw-9@127.0.0.1:{port}"})
    assert "of more than 255 bytes" in error.message
    assert heard == [b""]


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ((b"\x05\xff",), "wants a user name and password"),
        ((b"HT",), "does not speak SOCKS 5"),
        ((b"\x05\x00", b"\x05\x05\x00\x01"), "the connection to models.example:81 was refused there"),
        ((b"\x05",), "closed the connection"),
    ],
)
def test_a_socks_proxy_that_refuses_says_why(replies: tuple[bytes, ...], words: str) -> None:
    with tunnel(socks(*replies), 0) as (port, _):
        error = failure("http://models.example:81", {"ALL_PROXY": f"socks5://127.0.0.1:{port}"})
    assert error.kind == "connect"
    assert words in error.message
