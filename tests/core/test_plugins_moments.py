"""Requests that plugins change, calls they decide on, events they observe: faults stay theirs."""

import threading

import pytest
from mino_core import (
    Idle,
    Request,
    SessionEnded,
    SessionStarted,
    TextDelta,
    ToolCall,
    TurnEnded,
    Verdict,
    interrupts,
)
from mino_core.errors import PluginError, UsageError
from shelf import Shelf, lines

CALL = ToolCall("1", "rm", "{}")
REQUEST = Request("model", "instructions", ())


class FakeSession:
    """What hooks are handed; observers write into `seen`."""

    def __init__(self):
        self.seen = []
        self.allowed = set()


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    return Shelf(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


@pytest.fixture
def session():
    return FakeSession()


def test_requests_pass_through_the_plugins_in_order(shelf, session):
    for name in ("b", "a"):
        shelf.plugin(
            name,
            f"""
            from dataclasses import replace
            @hookimpl
            def mino_request(request, settings):
                return replace(request, model=request.model + {name!r} + settings.text("mark", ""))
            """,
        )
    shelf.plugin("c", "@hookimpl\ndef mino_request(session):\n    session.seen.append('asked')")
    host = shelf.host(settings={"a": {"mark": "!"}})
    assert host.request(REQUEST, session).model == "modela!b"
    assert session.seen == ["asked"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("return 'text'", "returned a value of type str, not a Request"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return Request('m', '', 5)", "a Request whose messages are not a tuple of Message"),
        ("return Request('m', '', (None,))", "a Request whose messages are not a tuple of Message"),
        ("return Request(None, '', ())", "a Request whose model is None"),
        ("return Request('m', '', (), (), 7)", "a Request whose options is a value of type int"),
        ("1/0", "ZeroDivisionError"),
        ("while True: pass", "took longer than 0.1 s"),
    ],
)
def test_a_faulty_plugin_leaves_the_request_as_it_was(shelf, session, code, words):
    shelf.plugin("bad", f"from mino_core import Request\n@hookimpl\ndef mino_request(request):\n    {code}")
    host = shelf.host(limit=0.1)
    told = []
    host.report = told.append
    for _ in range(2):
        assert host.request(REQUEST, session) is REQUEST
    assert words in lines(host)[0]
    assert told == host.faults


def only(shelf, **plugins):
    return shelf.host(disabled=("tools",), **plugins)


def test_the_first_plugin_with_an_opinion_decides(shelf, session):
    shelf.plugin("a", "@hookimpl\ndef mino_approve(call): return None")
    shelf.plugin(
        "b",
        "from mino_core import Verdict\n@hookimpl\ndef mino_approve(call): return Verdict(True, call.name)",
    )
    shelf.plugin("c", "@hookimpl\ndef mino_approve(call): raise ValueError('never asked')")
    assert only(shelf).approve(CALL, session) == Verdict(allowed=True, reason="rm")


def test_a_remembered_yes_spares_nobody_before_it(shelf, session):
    """Else a user's "always" would open what a policy has yet to see."""
    shelf.plugin(
        "a_policy",
        """
        from mino_core import Verdict
        @hookimpl
        def mino_approve(call, session):
            session.seen.append("policy")
            return Verdict(False, "not that") if "-rf" in call.arguments else None
        """,
    )
    shelf.plugin(
        "b_asks",
        """
        from mino_core import Verdict
        @hookimpl
        def mino_approve(call, session):
            session.seen.append("user")
            return Verdict(True, remember="session")
        """,
    )
    host = only(shelf)
    calls = [
        ToolCall(str(n), "rm", text) for n, text in enumerate(('{"a": "x"}', '{"a": "y"}', '{"a": "-rf"}'))
    ]
    assert [host.approve(call, session).allowed for call in calls] == [True, True, False]
    assert session.seen == ["policy", "user", "policy", "policy"]
    assert host.approve(ToolCall("4", "cp", "{}"), session).allowed
    assert session.seen[-1] == "user"


def test_without_an_opinion_there_is_no_verdict(shelf, session):
    assert only(shelf).approve(CALL, session) is None


@pytest.mark.parametrize(
    "code",
    [
        "1/0",
        "return True",
        "raise SystemExit",
        "while True: pass",
        "raise GeneratorExit",
        "raise KeyboardInterrupt",
    ],
)
def test_a_guard_that_faults_means_no(shelf, session, code):
    shelf.plugin("bad", f"@hookimpl\ndef mino_approve(call):\n    {code}")
    shelf.plugin(
        "kind", "from mino_core import Verdict\n@hookimpl\ndef mino_approve(call): return Verdict(True)"
    )
    host = only(shelf, limit=0.1)
    verdict = host.approve(CALL, session)
    assert not verdict.allowed
    assert "plugin 'bad'" in verdict.reason


def test_nobody_observes_costs_nothing(shelf, session):
    assert shelf.host().observers(session) == []


OBSERVER = (
    "@hookimpl\ndef mino_event(event, session):\n    session.seen.append(({name!r}, event))\n    {rest}"
)


def show(host, session, *events):
    observers = host.observers(session)
    with host.watching():
        for event in events:
            for observe in observers:
                observe(event)


def test_observers_see_every_event_in_the_order_of_names(shelf, session):
    for name in ("b", "a"):
        shelf.plugin(name, OBSERVER.format(name=name, rest=""))
    events = (TextDelta("one"), Idle())
    show(shelf.host(), session, *events)
    assert session.seen == [(name, event) for event in events for name in ("a", "b")]


@pytest.mark.parametrize(
    "arguments",
    [
        "event",
        "event, session",
        "session, event",
        "settings, session, event",
        "event=None, settings=None",
        "",
    ],
)
def test_observers_get_the_arguments_they_name(shelf, session, arguments):
    values = ", ".join(word.split("=")[0].strip() for word in arguments.split(",") if word)
    shelf.plugin(
        "names",
        f"seen = []\n@hookimpl\ndef mino_event({arguments}):\n    seen.append(({values},))".replace(
            "(,)", "()"
        ),
    )
    host = shelf.host()
    show(host, session, TextDelta("x"))
    import sys

    (seen,) = sys.modules["mino_names_names"].seen
    have = {"event": TextDelta("x"), "session": session, "settings": host.config.plugin("names")}
    wanted = [word.strip() for word in values.split(",") if word]
    for name, value in zip(wanted, seen, strict=True):
        assert value == have[name] if name == "event" else type(value) is type(have[name])


def test_an_observer_that_raises_is_told_once_and_sees_no_more(shelf, session):
    shelf.plugin("a_bad", OBSERVER.format(name="bad", rest="raise ValueError('no')"))
    shelf.plugin("b_good", OBSERVER.format(name="good", rest=""))
    host = shelf.host()
    told = []
    host.report = told.append
    one, two = TextDelta("one"), TextDelta("two")
    show(host, session, one, two)
    show(host, session, one)
    assert session.seen == [("bad", one), ("good", one), ("good", two), ("good", one)]
    assert told == host.faults
    (line,) = lines(host)
    assert "mino_event: ValueError: no" in line
    assert "it sees no more events" in line


def test_a_ctrl_c_that_an_observer_makes_up_is_its_fault(shelf, session):
    shelf.plugin("stop", OBSERVER.format(name="stop", rest="raise KeyboardInterrupt"))
    host = shelf.host()
    show(host, session, TextDelta("x"))
    assert "mino_event: KeyboardInterrupt" in lines(host)[0]


def test_an_observer_that_hangs_outside_of_a_turn_is_stopped_as_well(shelf, session, monkeypatch):
    monkeypatch.setattr("mino_core.plugins.observers.LIMIT", 0.1)
    shelf.plugin("stuck", OBSERVER.format(name="stuck", rest="while True: pass"))
    shelf.plugin("well", OBSERVER.format(name="well", rest=""))
    host = shelf.host()
    (observe,) = host.observers(session)
    observe(SessionStarted("id", "p", "m"))
    observe(SessionEnded())
    assert [name for name, _ in session.seen] == ["stuck", "well", "well"]
    assert "plugin 'stuck' (mino-stuck 1.0): mino_event: took longer than 0.1 s" in lines(host)[0]


def test_a_turn_that_an_observer_starts_is_observed_by_none(shelf, session):
    """What it asks would else be seen, and asked, without an end."""
    shelf.plugin("asks", OBSERVER.format(name="asks", rest="session.turn_of_its_own(event)"))
    host = shelf.host()

    def turn(event):
        with host.watching():
            for observe in host.observers(session):
                observe(event)

    session.turn_of_its_own = turn
    turn(TextDelta("x"))
    assert len(session.seen) == 1
    turn(TextDelta("y"))
    assert len(session.seen) == 2


@pytest.mark.parametrize(
    ("event", "limit"), [(TextDelta("x"), "0.1"), (TurnEnded(1, "completed"), "0.3")], ids=["delta", "other"]
)
def test_an_observer_that_hangs_is_stopped_named_and_silenced(shelf, session, event, limit, monkeypatch):
    monkeypatch.setattr("mino_core.plugins.observers.LIMIT", 0.3)
    shelf.plugin("stuck", OBSERVER.format(name="stuck", rest="while True: pass"))
    shelf.plugin("well", OBSERVER.format(name="well", rest=""))
    host = shelf.host()
    show(host, session, event, event)
    assert [name for name, _ in session.seen] == ["stuck", "well", "well"]
    (line,) = lines(host)
    assert f"plugin 'stuck' (mino-stuck 1.0): mino_event: took longer than {limit} s" in line


def test_ctrl_c_frees_from_an_observer_that_waits_for_ever(shelf, session):
    shelf.plugin(
        "stuck",
        """
        import os, signal, threading
        @hookimpl
        def mino_event():
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait()
        """,
    )
    host = shelf.host()
    (observe,) = host.observers(session)
    with pytest.raises(KeyboardInterrupt):
        observe(TextDelta("x"))
    assert host.faults == []


def test_what_an_observer_causes_is_not_observed(shelf, session):
    shelf.plugin("loop", OBSERVER.format(name="loop", rest="session.observe(event)"))
    host = shelf.host()
    (session.observe,) = host.observers(session)
    session.observe(TextDelta("x"))
    assert len(session.seen) == 1


def test_a_guarded_block_lets_answers_through_and_keeps_faults(shelf):
    shelf.plugin("some", "")
    host = shelf.host(limit=0.1)
    line = r"^plugin 'some' \(mino-some 1\.0\): /x: KeyError: 'k' \(test_"
    with pytest.raises(PluginError, match=line), host.guard("some", "/x"):
        raise KeyError("k")
    with pytest.raises(PluginError, match="took longer than"), host.guard("some", "/x"):
        threading.Event().wait()
    with pytest.raises(PluginError, match="StopIteration"), host.guard("some", "/x", waits=True):
        raise StopIteration
    with pytest.raises(UsageError, match="an answer"), host.guard("some", "/x"):
        raise UsageError("an answer")
    assert len(host.faults) == 3
