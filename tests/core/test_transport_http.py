"""What leaves for a server, and with which key."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest
from mino_core import ConfigError, ProviderError, Settings, __version__
from mino_core.secret import mask
from mino_core.testing import Server
from mino_core.transport import Endpoint
from transport_tools import KEY, ONE, ask, endpoint, failure

# -- what goes out ---------------------------------------------------------------------------------


def test_a_request_is_the_body_as_json_and_few_headers() -> None:
    with Server() as server:
        server.reply(ONE)
        assert ask(f"{server.url}/v1/", api_key=KEY) == [("", '{"n": 1}')]
        (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat")
    assert request.body == '{"q":"é"}'.encode()
    assert request.headers == {
        "host": server.url.removeprefix("http://"),
        "user-agent": f"mino/{__version__}",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "content-length": "10",
        "connection": "close",
    }


def test_a_key_can_go_in_a_header_of_its_own_and_without_one_there_is_none() -> None:
    with Server() as server:
        server.answer(lambda request: [ONE])
        ask(server.url, api_key=KEY, auth="x-api-key")
        ask(server.url)
        first, second = server.requests
    assert first.headers["x-api-key"] == KEY
    assert "authorization" not in first.headers
    assert not {"authorization", "x-api-key"} & set(second.headers)


def test_extra_headers_are_added_and_replace_ours(tmp_path: Any) -> None:
    (tmp_path / "token").write_text("tok-9\n")
    headers = {"X-Title": "mino", "user-agent": "me", "X-Token": f"file:{tmp_path}/token"}
    with Server() as server:
        server.reply(ONE)
        ask(server.url, extra_headers=headers)
        sent = server.requests[0].headers
    assert (sent["x-title"], sent["user-agent"], sent["x-token"]) == ("mino", "me", "tok-9")


def test_the_query_of_a_base_url_stays_behind_the_path() -> None:
    with Server() as server:
        server.reply(ONE)
        ask(f"{server.url}/a b/deployments/x/?api-version=2")
        assert server.requests[0].path == "/a%20b/deployments/x/chat?api-version=2"


def test_a_query_is_sent_in_a_form_that_a_request_can_carry_and_its_key_is_masked_in_it() -> None:
    with Server() as server:
        server.reply(ONE)
        ask(f"{server.url}/v1?api-key=a sécret&v=1%2F2")
        path = server.requests[0].path
    assert path == "/v1/chat?api-key=a%20s%C3%A9cret&v=1%2F2"
    assert mask(path) == "/v1/chat?api-key=***&v=1%2F2"


def test_ipv6_addresses_work() -> None:
    with Server(host="::1") as server:
        server.reply(ONE)
        assert ask(server.url) == [("", '{"n": 1}')]
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base_url": ""}, "providers.demo.base_url: is missing"),
        ({"base_url": "ftp://x"}, "must begin with https:// or http://"),
        ({"base_url": "api.example.com/v1"}, "must begin with https:// or http://"),
        ({"base_url": "https://"}, "must begin with https:// or http://"),
        ({"base_url": "https://x:port"}, "is no address"),
        ({"base_url": "https://me:pw@x"}, "use `api_key`"),
        ({"base_url": "https://x y/v1"}, "is no address"),
        ({"base_url": "https://<name>.example.com"}, "is no address"),
        ({"base_url": "https://x:0"}, "is no address"),
        ({"base_url": "https://x/v1\nX: 1"}, "is no address"),
        ({"base_url": "https://x/v1?a=\x7f"}, "is no address"),
        ({"base_url": "https://" + "a" * 64 + ".com"}, "is no address"),
        ({"auth": "basic"}, '"bearer" or "x-api-key"'),
        ({"read_timeout": -1}, "must be a number from 0 to 1000000000"),
        ({"read_timeout": 1e10}, "must be a number from 0 to 1000000000"),
        ({"read_timeout": float("nan")}, "must be a number from 0 to 1000000000"),
        ({"extra_headers": {"X": "a\nb"}}, "a header cannot carry"),
        ({"extra_headers": {"X": "世"}}, "a header cannot carry"),
        ({"extra_headers": {"X": 1}}, "must be a string"),
        ({"extra_headers": {"A B": "x"}}, "is no name of a header"),
        ({"extra_headers": {"A:B": "x"}}, "is no name of a header"),
        ({"extra_headers": {"Ä": "x"}}, "is no name of a header"),
        ({"extra_headers": {"": "x"}}, "is no name of a header"),
        ({"extra_headers": {"Content-length": "5"}}, "cannot be set"),
        ({"extra_headers": {"transfer-encoding": "chunked"}}, "cannot be set"),
        ({"proxy": "ftp://x"}, "providers.demo.proxy: is not the address of a proxy"),
        ({"proxy": "x y"}, "is not the address of a proxy"),
        ({"proxy": "http://x\ty:1"}, "is not the address of a proxy"),
        ({"ca_file": "/nowhere/ca.pem"}, "there is no file /nowhere/ca.pem"),
        ({"api_key": "env:NO_SUCH"}, "NO_SUCH is not set"),
    ],
)
def test_a_wrong_setting_is_said_before_anything_is_sent(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        endpoint(**{"url": "https://x", **{k.replace("base_", ""): v for k, v in settings.items()}})
    assert words in str(caught.value)
    assert str(caught.value).startswith("providers.demo.")


def test_silence_is_waited_out_for_five_minutes_unless_a_setting_says_otherwise() -> None:
    assert endpoint("https://x").read_timeout == 300
    assert endpoint("https://x", read_timeout=0.5).read_timeout == 0.5


def test_every_setting_is_read_when_the_endpoint_is_made() -> None:
    settings = Settings(
        {
            "base_url": "https://x",
            "api_key": "k",
            "auth": "bearer",
            "read_timeout": 1,
            "extra_headers": {"a": "b"},
            "extra_body": {"c": {"d": 1}},
            "proxy": "",
            "allow_http": True,
            "ca_file": "",
        },
        environ={},
    )
    made = Endpoint(settings)
    assert settings.unread() == []
    assert made.extra_body == {"c": {"d": 1}}


# -- keys ------------------------------------------------------------------------------------------


def test_a_key_is_not_sent_over_plain_http_to_another_host() -> None:
    with Server() as proxy:
        proxy.reply(ONE)
        error = failure("http://models.example/v1", api_key=KEY, proxy=proxy.url)
        assert (error.kind, proxy.requests) == ("config", [])
        assert "allow_http" in error.message
        assert ask("http://models.example/v1", api_key=KEY, proxy=proxy.url, allow_http=True)


@pytest.mark.parametrize("setting", [{"api_key": "env:MY_KEY"}, {"extra_headers": {"X": "env:MY_KEY"}}])
@pytest.mark.parametrize("key", ["sk-12\n34", "sk-12\r\nX-Evil: 34", "sk-… copied"])
def test_a_key_that_no_header_can_carry_is_named_by_its_source(key: str, setting: dict[str, Any]) -> None:
    error = failure("http://127.0.0.1:9", {"MY_KEY": key}, **setting)
    assert error.kind == "config"
    assert "MY_KEY" in error.message
    assert key not in error.message


def test_a_failed_key_command_is_an_error_of_the_request() -> None:
    assert "command" in failure("http://127.0.0.1:9", api_key="cmd:exit 3").message


# -- models ----------------------------------------------------------------------------------------


def test_json_can_be_fetched() -> None:
    with Server(models=["a", "b"]) as server, closing(endpoint(f"{server.url}/v1", api_key=KEY)) as made:
        listed: Any = made.get("/models")
        assert [model["id"] for model in listed["data"]] == ["a", "b"]
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert "content-type" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("body", "words"), [(b"<title>Hello</title>", "Hello"), (b"", "nothing"), (b"{", "no JSON")]
)
def test_what_is_no_json_is_said(body: bytes, words: str) -> None:
    with Server() as server:
        server.reply(body, framing="length")
        with closing(endpoint(server.url)) as made, pytest.raises(ProviderError, match=words) as caught:
            made.get("/tags")
    assert caught.value.kind == "protocol"


# -- what it costs before it is needed ---------------------------------------------------------


def test_an_endpoint_can_be_made_without_anything_heavy() -> None:
    code = (
        "import sys; from mino_core import Settings, transport;"
        "transport.Endpoint(Settings({'base_url': 'https://x', 'api_key': 'k'}, environ={}));"
        "print(*{'ssl', 'socket', 'http.client', 'email', 'asyncio', 'certifi'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
