"""Conversations on their way out and in again."""

import io
import json
import re
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mino_core import (
    File,
    HistoryError,
    Image,
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    fold,
    message_to_json,
)
from mino_core.records import new_id, record
from mino_core.settings import Settings
from test_history_jsonl import full_disk

from mino_history import mino_histories, mino_subcommands
from mino_history.chat_json import Chat, to_chat
from mino_history.export import from_chat
from mino_history.redact import redact, redacted


@pytest.fixture(params=["jsonl", "memory"])
def host(request, tmp_path):
    return SimpleNamespace(history=mino_histories()[request.param](Settings({}, home=tmp_path)))


@pytest.fixture
def history(host, capsys):
    def run(*argv):
        code = mino_subcommands()["history"](list(argv), host)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def kept(host, *turns, before=()):
    head = record("head", id=new_id(), format=1, directory="/somewhere", time="2026-03-18T09:45:12.000Z")
    log = host.history.open(head["id"], head)
    for each in before:
        log.append(each)
    for n, messages in enumerate(turns, 1):
        for message in messages:
            log.append(record("said", turn=n, message=message_to_json(message)))
        log.append(record("ended", turn=n, outcome="completed"))
    log.close()
    return head["id"]


def user(text, *more):
    return Message("user", (Text(text), *more))


def model(*parts):
    return Message("assistant", parts)


def tool(call, text):
    return Message("tool", (ToolResult(call, text),))


ROUNDS = [
    [user("漢字 first", Image("image/png", "AAAA"), File("application/pdf", "BBBB", "a.pdf"))],
    [
        user("look"),
        model(Reasoning("I shall look."), Text("Looking."), ToolCall("c1", "look", '{"at": "x"}')),
        tool("c1", "seen ``` there"),
        model(Text("Done.\n\n```python\nprint(1)\n```")),
    ],
    [user("and?"), model(Refusal("I will not."))],
]


# -- JSON --------------------------------------------------------------------------------------


def test_chat_messages_have_the_form_that_programs_know(host, history):
    name = kept(host, *ROUNDS, before=[record("titled", title="T")])
    code, out, err = history("export", "--json", name[:25])
    assert (code, err) == (0, "")
    exported = json.loads(out)
    assert (exported["id"], exported["title"], exported["directory"]) == (name, "T", "/somewhere")
    assert exported["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "漢字 first"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"},
                },
            ],
        },
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "I shall look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "seen ``` there"},
        {"role": "assistant", "content": "Done.\n\n```python\nprint(1)\n```"},
        {"role": "user", "content": "and?"},
        {"role": "assistant", "content": "", "refusal": "I will not."},
    ]


def test_what_was_exported_is_imported_the_same(host, history, tmp_path):
    file = tmp_path / "out.json"
    name = kept(host, *ROUNDS, before=[record("titled", title="T")])
    file.write_text(history("export", "--json", name)[1])
    code, out, err = history("import", str(file))
    assert code == 0 and "3 turns" in err
    copy = out.strip()
    assert copy != name
    both = [fold(host.history.open(each, write=False).records()) for each in (name, copy)]
    assert both[0].messages() == both[1].messages() and both[1].title == "T"
    assert [turn.outcome for turn in both[1].turns] == ["interrupted", "completed", "completed"]
    assert [head["id"] for head in host.history.conversations()] == [copy, name]


@pytest.mark.parametrize("outcome", ["completed", "incomplete", "interrupted", "failed", "cancelled"])
@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_a_copy_is_sent_like_the_conversation_and_exports_the_same(host, history, tmp_path, outcome, rounds):
    failed = Message("tool", (ToolResult("c1", "no", is_error=True),))
    replies = [model(ToolCall("c1", "look", "{}")), failed, model(Text("half an"))][:rounds]
    turns = [[user("old")], [user("q"), *replies], [user("q2"), model(Text("a"))]]
    before = [
        record("titled", title="T"),
        first := record("said", turn=1, message=message_to_json(*turns[0])),
    ]
    before.append(record("compacted", summary="What was said.", upto=first["id"]))
    head = record("head", id=new_id(), format=1, directory="/somewhere")
    log = host.history.open(head["id"], head)
    for each in before:
        log.append(each)
    for n, messages in enumerate(turns[1:], 2):
        for message in messages:
            log.append(record("said", turn=n, message=message_to_json(message)))
        log.append(record("ended", turn=n, outcome=outcome if n == 2 else "completed"))
    log.close()
    file, again = tmp_path / "out.json", tmp_path / "again.json"
    file.write_text(history("export", "--json", head["id"])[1])
    copy = history("import", str(file))[1].strip()
    again.write_text(history("export", "--json", copy)[1])
    one, two = (fold(host.history.open(each, write=False).records()) for each in (head["id"], copy))
    assert two.skipped == 0 and two.summary == one.summary
    if outcome == "completed" and rounds < 3:
        return  # no turn of mino's: what waits for the model did not complete, whatever is said of it
    for send in ("all", "completed", "none"):
        assert two.messages(send) == one.messages(send)
    copies = [json.loads(each.read_text())["messages"] for each in (file, again)]
    assert copies[0] == copies[1]


def test_an_import_that_does_not_fit_leaves_nothing_behind(tmp_path):
    jsonl = mino_histories()["jsonl"](Settings({}, home=tmp_path))
    messages = [{"role": "user", "content": "x" * 2000} for _ in range(40)]
    (tmp_path / "in.json").write_text(json.dumps(messages))
    with full_disk(30_000), pytest.raises(HistoryError, match="cannot be written: File too large"):
        from_chat(jsonl, str(tmp_path / "in.json"))
    assert not list(jsonl.conversations()) and not list(tmp_path.glob("history/*"))
    assert from_chat(jsonl, str(tmp_path / "in.json")).turns == 40


def test_a_bare_list_from_standard_input_is_imported(host, history, monkeypatch):
    document = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_audio"}, {"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "tool_calls": None},
    ]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(document).encode())))
    code, out, err = history("import", "-")
    assert code == 0
    assert err == (
        "left out: messages of role system\nleft out: parts of type input_audio\n"
        "1 turn; `mino --resume ID` goes on with it\n"
    )
    conversation = fold(host.history.open(out.strip(), write=False).records())
    assert [message.text for message in conversation.messages()] == ["hi"]


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (b"no json", "no JSON in UTF-8"),
        (b"\xff\xfe", "no JSON in UTF-8"),
        (b"5", "no list of chat messages"),
        (b"{}", "no list of chat messages"),
        (b"[]", "no message in it"),
        (b'[{"role": "system", "content": "x"}]', "no message in it"),
        (b"[1]", "message 1 is no object with a `role`"),
        (b'[{"role": "user", "content": 5}]', "`content` of message 1"),
        (b'[{"role": "assistant", "tool_calls": [{"id": 5}]}]', "tool call of message 1"),
    ],
)
def test_what_is_no_chat_is_refused_and_nothing_is_kept(host, history, tmp_path, document, why):
    file = tmp_path / "in.json"
    file.write_bytes(document)
    with pytest.raises(HistoryError, match=re.escape(why)):
        history("import", str(file))
    assert list(host.history.conversations()) == []


def test_no_known_secret_is_imported(host, history, tmp_path):
    Settings({"key": "known+CANARY+1"}).secret("key")
    (tmp_path / "in.json").write_text(json.dumps([{"role": "user", "content": "it is known+CANARY+1"}]))
    name = history("import", str(tmp_path / "in.json"))[1].strip()
    records = list(host.history.open(name, write=False).records())
    assert "CANARY" not in json.dumps(records) and "it is ***" in json.dumps(records)


def test_a_file_that_is_not_there_is_said(history, tmp_path):
    with pytest.raises(HistoryError, match=r"nowhere\.json cannot be read: No such file"):
        history("import", str(tmp_path / "nowhere.json"))


_words = st.text(min_size=1, max_size=5)
_replies = st.builds(
    lambda thought, text, calls: model(
        *([Reasoning(thought)] if thought else []),
        *([Text(text)] if text else []),
        *(ToolCall(f"c{n}", "f", each) for n, each in enumerate(calls)),
    ),
    st.text(max_size=3),
    st.text(max_size=5),
    st.lists(_words, max_size=2),
)
_parts = st.one_of(
    st.builds(Text, st.text(max_size=3)),
    st.builds(Image, st.just("image/png"), st.just("AAAA")),
    st.builds(File, st.just("text/plain"), st.just("AAAA"), st.text(max_size=3)),
)
_messages = st.lists(
    st.one_of(
        st.builds(user, _words),
        st.builds(user, _words, _parts, _parts),
        _replies,
        st.builds(tool, st.sampled_from(["c0", "c1"]), st.text(max_size=5)),
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None)
@given(_messages)
def test_any_conversation_comes_back_from_chat_messages(messages):
    chat = Chat(json.loads(json.dumps(to_chat(messages))))
    assert [message for turn, _ in chat.turns() for message in turn] == messages


# -- Markdown ----------------------------------------------------------------------------------


def test_markdown_is_a_document_for_people(host, history):
    name = kept(host, *ROUNDS, before=[record("titled", title="A\ntitle")])
    code, out, err = history("export", name)
    assert (code, err) == (0, "")
    assert out.startswith("# A title\n\n- 2026-03-18 ") and f"\n- {name}\n" in out
    assert "\n\n## You\n\n漢字 first\n\n[image/png]\n\n[a.pdf]\n\n*(interrupted)*" not in out  # it completed
    assert "\n\n## You\n\n漢字 first\n\n[image/png]\n\n[a.pdf]\n\n## You\n\nlook\n\n## Assistant\n\n" in out
    assert '> I shall look.\n\nLooking.\n\n`look`\n\n```json\n{"at": "x"}\n```\n\n' in out
    assert "## Tool\n\n````\nseen ``` there\n````\n\n## Assistant\n\nDone.\n\n```python\nprint(1)\n```" in out
    assert out.endswith("## Assistant\n\nI will not.\n")


def test_what_did_not_complete_says_so(host, history):
    parts = [{"type": "text", "text": "half"}]
    name = kept(
        host,
        before=[
            record("said", turn=1, message=message_to_json(user("q"))),
            record("partial", turn=1, parts=parts),
            record("ended", turn=1, outcome="interrupted", error={"kind": "stream", "message": "it broke"}),
        ],
    )
    assert history("export", name)[1].endswith(
        "## You\n\nq\n\n## Assistant\n\nhalf\n\n*(interrupted: it broke)*\n"
    )


def test_a_summary_is_exported_as_one(host, history):
    first = record("said", turn=1, message=message_to_json(user("q1")))
    compacted = record("compacted", summary="what was", upto=first["id"])
    name = kept(host, before=[first, compacted])
    assert "## Summary of what was said before\n\nwhat was\n" in history("export", name)[1]
    assert json.loads(history("export", "--json", name)[1])["messages"] == [
        {"role": "user", "content": "what was", "summary": True}
    ]


def test_what_is_not_there_is_not_exported(host, history):
    with pytest.raises(HistoryError, match="'01ABC'"):
        history("export", "01ABC")


# -- redacting ---------------------------------------------------------------------------------

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"
KEYS = [
    "sk-" + "a1B2" * 8,
    "sk-proj-" + "a1B2_" * 12,
    "sk-ant-api03-" + "a1-B2" * 12,
    "sk_live_" + "a1B2" * 6,
    "AKIA" + "ABCD1234EFGH5678",
    "AIza" + "Sy-_" * 9,
    "ya29." + "a0Af" * 8,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 10,
    "glpat-" + "a1B2-" * 4,
    "xoxb-" + "123456-abcdef",
    "hf_" + "a1B2" * 8,
    "gsk_" + "a1B2" * 8,
    "nvapi-" + "a1B2" * 8,
    "sk-or-v1-" + "0a1b" * 16,
    "xapp-1-" + "A0-123-abcdef",
    "https://hooks.slack.com/services/" + "T0000/B0000/" + "aB1" * 8,
    "https://discord.com/api/webhooks/" + "123456/" + "aB1-" * 8,
    "whsec_" + "a1B2" * 8,
    "shpat_" + "0a1b" * 8,
    "dop_v1_" + "0a1b" * 16,
    "hvs." + "CAES" * 8,
    "tvly-" + "a1B2" * 8,
    "dapi" + "0a1b" * 8,
    "SK" + "0a1b" * 8,
    "SG." + "a1B2" * 5 + "." + "a1-2" * 10,
    "123456789:" + "AA" + "a1-2" * 8,
    "0a1b" * 8 + "." + "aB1c" * 4,
    "AGE-SECRET-KEY-1" + "QP1Z" * 14,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s1gn4tur3",
    PEM,
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:12])
def test_what_looks_like_a_key_is_masked_wherever_it_stands(key):
    for text in (
        key,
        f"my key is {key}, keep it",
        f'{{"key": "{key}"}}',
        f"x={key}\n",
        f"“{key}”",
        f"密钥{key}。",
    ):
        assert key not in redact(text) and "***" in redact(text), text
        assert "MIIEow" not in redact(text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ('api_key = "hunter2hunter2"', 'api_key = "***"'),
        ("OPENAI_API_KEY=whatever-it-is", "OPENAI_API_KEY=***"),
        ('{"password": "correct horse"}', '{"password": "***"}'),
        ('{\\"apiKey\\": \\"0123456789abcdef\\"}', '{\\"apiKey\\": \\"***\\"}'),
        ("AWS_SECRET_ACCESS_KEY=wJalrX/K7MDENG/bPx+Y", "AWS_SECRET_ACCESS_KEY=***"),
        ("AccountKey=abcdef0123456789==;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"),
        ("pwd=hunter2hunter2", "pwd=***"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("authorization: token abcdef0123456789", "authorization: token ***"),
        ("Cookie: session=abcdef0123; theme=dark", "Cookie: session=***; theme=dark"),
        ("https://x.org/y?key=0123456789abcdef&z=1", "https://x.org/y?key=***&z=1"),
        ("https://x.org/y?access_token=0123456789&z=1", "https://x.org/y?access_token=***&z=1"),
        ("curl -u ada:lovelace https://x.org", "curl -u ada:*** https://x.org"),
        ("密码：hunter2hunter2。", "密码：***。"),
        ("postgres://ada:lovelace@db/x", "postgres://ada:***@db/x"),
    ],
)
def test_what_is_announced_as_a_key_is_masked(text, masked):
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "The sky is blue; ask-anything works, and so does a task-list.",
        "def token(text): return text",
        "max_tokens: 500",
        "https://example.com/a@b?x=1",
        "The password was changed. 密码已修改",
        "git commit 3b24587ce27c50083fed7d75ddf1961f63f9a07b",
        "skill-building-exercises-for-everybody",
        "hf_transfer_and_other_long_names, npm_config_registry_and_more",
        "tokens: input 1,234,567, output 890",
        "123e4567-e89b-12d3-a456-426614174000",
        "git@github.com:ada/notes.git, https://ada@example.com/x",
        "The cookie: a small cake. Basic authorization is old.",
    ],
)
def test_ordinary_words_are_left_alone(text):
    assert redact(text) == text


def test_masking_takes_no_longer_than_the_text_is_long():
    for piece in (
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "://a:",
        "api_key=",
        "Bearer ",
        "a" * 30,
        "0a" * 16,
        "\\\\",
        "Cookie: ",
    ):
        redact(piece * 20_000)


def test_a_redacted_export_holds_no_key_and_no_file(host, history):
    key = KEYS[0]
    call = ToolCall("c", "look", json.dumps({"key": key}))
    parts = (Text(f"use {key}"), File("text/plain", "c2stYTFCMg==", "env.txt"))
    name = kept(
        host,
        [Message("user", parts), model(Reasoning(key), call), tool("c", f"got {key}"), model(Refusal(key))],
        before=[record("titled", title=f"about {key}")],
    )
    for form in ((), ("--json",)):
        whole, masked = history("export", *form, name)[1], history("export", *form, "--redact", name)[1]
        assert key in whole and key not in masked and "c2stYTFCMg==" not in masked
        assert "[env.txt left out]" in masked and "use ***" in masked and "got ***" in masked
        assert "about ***" in masked


def test_what_a_variable_with_the_name_of_a_key_holds_is_masked(monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "no/shape+at:all")
    monkeypatch.setenv("SHORT_KEY", "word")
    assert redact("it is no/shape+at:all, in a word") == "it is ***, in a word"


def test_redacting_keeps_what_a_message_is():
    message = Message("tool", (ToolResult("c", "words", is_error=True), Image("image/png", "AAAA")))
    assert redacted(message) == Message("tool", (ToolResult("c", "words", is_error=True),))
