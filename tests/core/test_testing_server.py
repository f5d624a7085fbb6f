"""The scripted server, byte by byte."""

import gzip
import json
import socket
import threading

import httpx
import pytest
from mino_core import ReasoningDelta, RefusalDelta, ToolCall, Usage
from mino_core.testing import (
    CUT,
    HANG,
    RESET,
    Reply,
    Server,
    chat,
    counting,
    error_body,
    error_event,
    messages,
    problems,
    responses,
    split,
    stream,
)

DIALECTS = ("chat", "responses", "messages")


@pytest.fixture
def client():
    with httpx.Client(trust_env=False) as made:
        yield made


def post(client, server, body=None, path="/x"):
    return client.post(server.url + path, json=body or {})


def test_bytes_before_a_gate_arrive_while_it_is_shut(client):
    gate = threading.Event()
    with Server() as server:
        server.reply(b"one", gate, b"two")
        with client.stream("POST", server.url) as response:
            pieces = response.iter_raw()
            assert next(pieces) == b"one"
            assert not server.requests[0].replied.is_set()
            gate.set()
            assert b"".join(pieces) == b"two"
        assert server.requests[0].replied.wait(20)


def test_the_head_waits_for_the_first_bytes(client):
    gate, called = threading.Event(), []
    with Server() as server:
        server.reply(lambda: called.append(server.requests[0].path), gate, b"late")
        with pytest.raises(httpx.ReadTimeout):
            client.post(server.url + "/here", timeout=0.1)
        assert called == ["/here"]
        server.reply(b"", gate)
        with client.stream("POST", server.url) as response:
            assert response.status_code == 200
            gate.set()


def test_requests_are_kept_as_they_came(client):
    with Server() as server:
        server.reply(b"ok")
        server.reply(b"ok")
        client.post(server.url + "/a?b=c", json={"é": 1}, headers={"X-Twice": "1"})
        client.post(server.url + "/chunked", content=iter([b"[1", b",2]"]))
        first, second = server.requests
    assert (first.method, first.path, first.json) == ("POST", "/a?b=c", {"é": 1})
    assert first.headers["x-twice"] == "1"
    assert second.json == [1, 2]


def test_connections_are_kept_and_counted(client):
    with Server() as server:
        for _ in range(3):
            server.reply(b"ok")
            post(client, server)
        assert server.connections == 1
        assert [request.connection for request in server.requests] == [0, 0, 0]
        assert server.most_at_once == 1


def test_requests_at_the_same_time_are_counted():
    gate = threading.Event()
    with Server() as server:
        server.answer(lambda request: [b"ok", gate])
        threads = [threading.Thread(target=httpx.post, args=(server.url,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        server.wait_for_request(2)
        gate.set()
        for thread in threads:
            thread.join()
        assert server.most_at_once == 3


@pytest.mark.parametrize(
    ("step", "error"), [(CUT, httpx.RemoteProtocolError), (RESET, httpx.ReadError)], ids=["cut", "reset"]
)
def test_a_connection_can_be_cut_and_reset(client, step, error):
    gate = threading.Event()
    with Server() as server:
        server.reply(b"part", gate, step, b"never")
        with client.stream("POST", server.url) as response:
            pieces = response.iter_raw()
            assert next(pieces) == b"part"
            gate.set()
            with pytest.raises(error):
                next(pieces)


@pytest.mark.parametrize("step", [CUT, RESET])
def test_a_connection_can_break_before_the_head(client, step):
    with Server() as server:
        server.reply(step)
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            post(client, server)


def test_a_client_that_leaves_is_seen(client):
    with Server() as server:
        server.reply(b"part", HANG)
        with client.stream("POST", server.url) as response:
            next(response.iter_raw())
            assert not server.requests[0].closed.is_set()
        server.wait_for_close()
        assert not server.requests[0].replied.is_set()


def test_a_client_that_leaves_after_the_reply_is_seen(client):
    with Server() as server:
        server.reply(b"whole")
        post(client, server)
        assert not server.requests[0].closed.is_set()
        client.close()
        server.wait_for_close(0)


def test_a_client_that_leaves_a_full_socket_is_seen():
    with Server() as server:
        server.reply(*[b"x" * 100_000] * 400)
        sock = socket.create_connection(("127.0.0.1", server.port))
        sock.sendall(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        sock.recv(1000)
        sock.close()
        server.wait_for_close()


def test_garbage_can_come_in_place_of_a_head(client):
    with Server() as server:
        server.reply(b"\x00garbage\r\n\r\n", framing="raw")
        with pytest.raises(httpx.RemoteProtocolError):
            post(client, server)


def test_a_body_can_be_shorter_than_its_length(client):
    with Server() as server:
        server.reply(b"short", headers={"content-length": "999"})
        with pytest.raises(httpx.RemoteProtocolError, match="received 5 bytes, expected 999"):
            post(client, server)


def test_a_body_without_length_ends_with_the_connection(client):
    with Server() as server:
        server.reply(b"one", b"two", framing="close")
        assert post(client, server).content == b"onetwo"


def test_gzip_arrives_step_by_step(client):
    gate = threading.Event()
    with Server() as server:
        server.reply(b"one", gate, b"two", gzip=True)
        with client.stream("POST", server.url) as response:
            assert response.headers["content-encoding"] == "gzip"
            pieces = response.iter_bytes()
            assert next(pieces) == b"one"
            gate.set()
            assert b"".join(pieces) == b"two"


def test_a_length_fits_what_is_zipped(client):
    with Server() as server:
        packed = gzip.compress(b"words")
        server.reply(packed, framing="length", headers={"content-encoding": "gzip"})
        assert post(client, server).content == b"words"


def test_errors_speak_the_dialect(client):
    with Server() as server:
        server.fail(429, "slow down", "messages", {"retry-after": "3"})
        response = post(client, server)
    assert response.status_code == 429
    assert response.headers["retry-after"] == "3"
    assert response.json()["error"]["message"] == "slow down"


def test_models_are_listed_without_a_script(client):
    with Server(models=["a", "b"]) as server:
        listed = client.get(server.url + "/v1/models?limit=1000").json()
    assert [model["id"] for model in listed["data"]] == ["a", "b"]


def test_a_reply_can_be_a_function_of_the_request(client):
    with Server() as server:
        server.answer(lambda request: Reply((request.body[::-1],), status=201, framing="length"))
        assert client.post(server.url, content=b"abc").text == "cba"


# -- what fails the test -----------------------------------------------------------------------


def test_a_request_beyond_the_script_fails_the_test(client):
    with pytest.raises(AssertionError, match="no reply was scripted for POST /x"), Server() as server:
        assert post(client, server).status_code == 500


def test_a_gate_that_nobody_opens_fails_the_test(client):
    with pytest.raises(AssertionError, match="a gate stayed shut"), Server(patience=0.05) as server:
        server.reply(b"", threading.Event())
        with pytest.raises(httpx.RemoteProtocolError):
            post(client, server)


def test_a_function_that_raises_fails_the_test(client):
    with pytest.raises(AssertionError, match="ZeroDivisionError"), Server() as server:
        server.reply(lambda: 1 / 0)
        with pytest.raises(httpx.RemoteProtocolError):
            post(client, server)


def test_what_never_comes_fails_the_test(client):
    with Server(patience=0.05) as server:
        with pytest.raises(AssertionError, match="request 0 never came; 0 did"):
            server.wait_for_request()
        server.reply(b"ok")
        post(client, server)
        with pytest.raises(AssertionError, match="never closed the connection of request 0"):
            server.wait_for_close()


def test_an_error_of_the_test_itself_is_not_hidden(client):
    with pytest.raises(KeyError), Server() as server:
        post(client, server)
        raise KeyError


def test_a_step_that_is_none_is_refused_at_once():
    with Server() as server, pytest.raises(TypeError, match="a step is bytes, a gate"):
        server.reply(chat("forgot the star"))


def test_nothing_of_a_server_is_left(client):
    before = threading.active_count()
    with Server() as server:
        server.reply(b"ok")
        post(client, server)
    assert threading.active_count() == before
    with pytest.raises(httpx.ConnectError):
        post(httpx.Client(), server)


# -- where it listens --------------------------------------------------------------------------


def test_tls_is_spoken_with_a_certificate_of_its_own():
    import ssl

    with Server(tls=True) as server:
        server.reply(b"hidden", HANG)
        assert server.url.startswith("https://")
        context = ssl.create_default_context(cafile=server.ca_file)
        with (
            httpx.Client(verify=context, trust_env=False) as client,
            client.stream("POST", server.url) as response,
        ):
            assert next(response.iter_raw()) == b"hidden"
        server.wait_for_close()
        with pytest.raises(httpx.ConnectError):
            httpx.post(server.url, trust_env=False)


def test_ipv6_is_listened_on(client):
    with Server(host="::1") as server:
        server.reply(b"six")
        assert server.url.startswith("http://[::1]:")
        assert post(client, server).content == b"six"


# -- streams -----------------------------------------------------------------------------------


def events(steps):
    """The JSON of each event in these steps."""
    lines = b"".join(step for step in steps if isinstance(step, bytes)).decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def test_a_chat_stream_says_all_it_was_given():
    gate = threading.Event()
    call = ToolCall("c1", "look", '{"a":1}')
    usage = Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1)
    steps = chat("Hel", gate, ReasoningDelta("hm"), RefusalDelta("no"), call, usage=usage)
    assert steps[2] is gate
    assert steps[-1] == b"data: [DONE]\n\n"
    *chunks, end, counts = events(steps)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert [delta.get("content") for delta in deltas[:2]] == ["", "Hel"]
    assert deltas[2]["reasoning_content"] == "hm"
    assert deltas[3]["refusal"] == "no"
    assert deltas[4]["tool_calls"][0]["id"] == "c1"
    assert deltas[5]["tool_calls"][0]["function"] == {"arguments": '{"a":1}'}
    assert end["choices"][0]["finish_reason"] == "tool_calls"
    assert counts["usage"]["prompt_tokens_details"] == {"cached_tokens": 1}
    assert counts["usage"]["total_tokens"] == 5


def test_a_response_ends_with_all_that_was_said():
    steps = responses("Hel", "lo", ReasoningDelta("hm"), ToolCall("c1", "look", "{}"), RefusalDelta("no"))
    came = events(steps)
    assert [event["sequence_number"] for event in came] == list(range(len(came)))
    output = came[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["message", "reasoning", "function_call", "message"]
    assert output[0]["content"][0]["text"] == "Hello"
    assert came[-1]["response"]["status"] == "completed"
    assert events(responses("x", finish="failed", error="why"))[-1]["response"]["error"]["message"] == "why"


def test_a_message_opens_and_closes_its_blocks():
    came = events(messages("Hel", "lo", ReasoningDelta("hm"), ToolCall("c1", "look", "{}")))
    starts = [event["content_block"]["type"] for event in came if event["type"] == "content_block_start"]
    stops = [event["index"] for event in came if event["type"] == "content_block_stop"]
    assert starts == ["text", "thinking", "tool_use"]
    assert stops == [0, 1, 2]
    assert came[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_breaks_off_is_the_beginning_of_a_whole_one(dialect):
    broken, whole = stream(dialect, "Hello", finish=None), stream(dialect, "Hello")
    assert whole[: len(broken)] == broken
    assert len(whole) > len(broken)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_split_keeps_bytes_and_gates(dialect):
    gate = threading.Event()
    steps = stream(dialect, "é", gate, "漢")
    pieces = split(steps, 1)
    assert pieces.count(gate) == 1
    assert {len(piece) for piece in pieces if isinstance(piece, bytes)} == {1}
    whole, again = (b"".join(step for step in some if isinstance(step, bytes)) for some in (steps, pieces))
    assert whole == again


@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_letters_go_out_as_escapes(dialect):
    assert b"\\ud83d" in b"".join(stream(dialect, "\ud83d"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_errors_carry_their_words(dialect):
    assert b"out of breath" in error_event(dialect, "out of breath")
    assert json.loads(error_body(dialect, "out of breath"))["error"]["message"] == "out of breath"


# -- strict and counting -----------------------------------------------------------------------

GOOD = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "responses": {"model": "m", "input": [{"role": "user", "content": "hi"}]},
    "messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
}
USER, MODEL = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "x"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_well_formed_request_is_taken(dialect, client):
    with Server(strict=dialect) as server:
        server.reply(b"ok")
        assert post(client, server, GOOD[dialect]).status_code == 200
        assert server.refused == []


@pytest.mark.parametrize(
    ("dialect", "change", "words"),
    [
        ("chat", {"messages": [{"role": "user", "content": " \n"}]}, "must not be blank"),
        ("chat", {"messages": [USER, USER]}, "roles must alternate"),
        ("chat", {"messages": [USER, MODEL]}, "must not be the assistant's"),
        ("chat", {"messages": [USER, {"role": "system", "content": "x"}]}, "must come first"),
        ("chat", {"messages": []}, "must not be empty"),
        (
            "chat",
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]},
            "answers no tool call",
        ),
        (
            "chat",
            {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, USER]},
            "were not answered",
        ),
        ("chat", {"messages": [{**USER, "name": None}]}, "must not hold null"),
        ("chat", {"messages": "hi"}, "another shape"),
        ("chat", {"model": ""}, "model: must be a name"),
        ("chat", {"max_output_tokens": 5}, "max_output_tokens: unknown field"),
        ("chat", {"tools": []}, "tools: must not be empty"),
        ("chat", {"messages": [{"role": "user", "content": "a\ud83d"}]}, "half a surrogate pair"),
        ("responses", {"input": []}, "must not be empty"),
        ("responses", {"input": "  "}, "must not be blank"),
        ("responses", {"messages": []}, "messages: unknown field"),
        (
            "responses",
            {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]},
            "answers no",
        ),
        (
            "responses",
            {"input": [{**MODEL, "content": [{"type": "input_text", "text": "x"}]}]},
            "does not fit",
        ),
        ("messages", {"max_tokens": None}, "max_tokens: must be a number"),
        ("messages", {"messages": [MODEL, USER]}, "user must come first"),
        ("messages", {"messages": [USER, USER]}, "roles must alternate"),
        ("messages", {"messages": [USER, MODEL]}, "must be the user's"),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "blank"),
        ("messages", {"messages": [USER, USE, USER]}, "tool results for"),
        ("messages", {"messages": [{"role": "user", "content": [RESULT]}]}, "tool results for"),
    ],
)
def test_what_strict_servers_refuse_gets_a_400(dialect, change, words, client):
    with Server(strict=dialect) as server:
        body = json.dumps({**GOOD[dialect], **change}).encode()
        response = client.post(server.url, content=body)
        assert response.status_code == 400
        assert words in " ".join(server.refused)
        assert words in response.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff{}", b"{", b"{}"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_body_of_another_kind_is_refused(dialect, body):
    assert problems(dialect, body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_counts_are_those_of_the_words_sent_and_said(dialect, client):
    def turn(role, text):
        return {"role": role, "content": text}

    where = "input" if dialect == "responses" else "messages"
    said = [turn("user", "one two three")]
    with Server() as server:
        server.answer(counting(dialect, "four", " five"))
        first = last_usage(post(client, server, {**GOOD[dialect], where: said}))
        said += [turn("assistant", "four five"), turn("user", "six")]
        second = last_usage(post(client, server, {**GOOD[dialect], where: said}))
    assert (first, second) == ((3, 2), (6, 2))
    assert second[0] == first[0] + first[1] + 1


def last_usage(response):
    for event in reversed(events([response.content])):
        usage = event.get("usage") or event.get("response", {}).get("usage")
        if usage:
            counted = {**usage, "input": usage.get("prompt_tokens"), "output": usage.get("completion_tokens")}
            return (
                counted["input"] or counted["input_tokens"],
                counted["output"] or counted["output_tokens"],
            )
    raise AssertionError("no usage")
