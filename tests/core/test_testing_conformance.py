"""The suites catch what is wrong, and let pass what is right."""

import inspect
import time

import pytest
from mino_core import (
    Finished,
    HistoryError,
    Idle,
    Notice,
    ProviderError,
    RefusalDelta,
    SessionEnded,
    TextDelta,
    ToolCall,
    TurnEnded,
    Usage,
    UsageError,
)
from mino_core.testing import (
    CommandConformance,
    HistoryConformance,
    InputConformance,
    ProviderConformance,
    RendererConformance,
    ToolConformance,
    conformance_input,
    conformance_provider,
)
from wrong_inputs import Lines

from mino_history.memory import Memory
from mino_openai.responses import Responses


def broken_promises(suite, **fixtures):
    """The names of the suite's tests that fail, each with its text."""
    found = {}
    for name, test in inspect.getmembers(suite, inspect.ismethod):
        if name.startswith("test_"):
            try:
                test(**{given: fixtures[given]() for given in inspect.signature(test).parameters})
            except AssertionError as error:
                found[name] = str(error)
    return found


def caught(found, name):
    """Whether this test was among those that failed, and said why it matters."""
    return "Why it matters: " in found.get(name, "")


@pytest.fixture
def folders(tmp_path):
    """Makes a fresh folder at each call."""
    numbers = iter(range(1000))

    def folder():
        made = tmp_path / str(next(numbers))
        made.mkdir()
        return made

    return folder


# -- providers ---------------------------------------------------------------------------------


class Patched(Responses):
    """A right provider, for the wrong ones to change."""

    def stream(self, request):
        return self.change(super().stream(request))

    def change(self, deltas):
        return deltas


class Collecting(Patched):
    def change(self, deltas):
        yield from list(deltas)


class Hurried(Patched):
    """Has the whole answer before the first delta is asked for."""

    def change(self, deltas):
        return iter(list(deltas))


class Endless(Patched):
    def change(self, deltas):
        yield from (delta for delta in deltas if not isinstance(delta, Finished))


class Optimistic(Patched):
    def change(self, deltas):
        try:
            yield from (delta for delta in deltas if not isinstance(delta, Finished))
        except ProviderError:
            pass
        yield Finished("stop")


class Foreign(Patched):
    def change(self, deltas):
        try:
            yield from deltas
        except ProviderError as error:
            raise RuntimeError(str(error)) from error


class Holding:
    """An iterator that cannot be closed, and never lets the connection go."""

    held = []  # noqa: RUF012 (that is what is wrong with it)

    def __init__(self, deltas):
        self.deltas = deltas
        self.held.append(deltas)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.deltas)


class Unclosable(Patched):
    def change(self, deltas):
        return Holding(deltas)


class Deaf(Patched):
    def change(self, deltas):
        try:
            yield from deltas
        except KeyboardInterrupt:
            yield Finished("stop")


class Zeroing(Patched):
    def change(self, deltas):
        yield Usage(0, 0, 0, 0, 0, 0)
        for delta in deltas:
            if not isinstance(delta, Usage):
                yield delta


class Mumbling(Patched):
    def change(self, deltas):
        for delta in deltas:
            if isinstance(delta, TextDelta):
                yield from (TextDelta(line) for line in delta.text.splitlines())
            elif isinstance(delta, RefusalDelta):
                yield TextDelta(delta.text)
            elif isinstance(delta, ToolCall):
                yield ToolCall(delta.id, delta.name, str(delta.parsed))
            elif hasattr(delta, "text"):
                yield TextDelta(delta.text)
            elif isinstance(delta, Finished):
                yield Finished("stop")
            else:
                yield delta


class Repeating(Patched):
    def stream(self, request):
        changed = type(request)(
            request.model,
            f"{request.instructions} {time.monotonic_ns()}",
            request.messages * 2,
            request.tools,
        )
        return super().stream(changed)


class Careless(Patched):
    def __init__(self, settings):
        super().__init__(settings)
        settings._read.clear()

    def models(self):
        return ["guess"]


def suite_for(made):
    class Suite(ProviderConformance):
        dialect = "responses"

        def provider(self, settings):
            return made(settings)

    return Suite()


@pytest.fixture
def hasty(monkeypatch):
    """Waits that are bound to fail are short."""
    monkeypatch.setattr(conformance_provider, "_PATIENCE", 0.3)


def test_a_right_provider_keeps_every_promise():
    assert broken_promises(suite_for(Patched)) == {}


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (Collecting, ["the_first_delta_comes_before_the_rest_is_sent"]),
        (Endless, ["finished_comes_once_and_last", "an_early_stop_says_so"]),
        (Optimistic, ["no_cut_before_the_end_looks_finished", "a_reset_keeps_what_came_and_has_no_end"]),
        (
            Foreign,
            ["a_server_that_is_not_there_is_a_connect_error", "an_http_error_says_what_the_server_said"],
        ),
        (Unclosable, ["closing_the_stream_closes_the_connection"]),
        (Hurried, ["the_first_delta_comes_before_the_rest_is_sent"]),
        (Deaf, ["ctrl_c_closes_the_connection_and_leaves_the_provider_usable"]),
        (Zeroing, ["usage_is_what_the_server_counted", "what_was_not_counted_is_none"]),
        (
            Mumbling,
            [
                "letters_survive_any_cut",
                "reasoning_is_not_part_of_the_answer",
                "a_refusal_is_told_apart",
                "tool_calls_come_whole",
                "an_early_stop_says_so",
            ],
        ),
        (
            Repeating,
            [
                "a_strict_server_takes_any_conversation",
                "the_body_is_a_function_of_the_request",
                "each_request_begins_with_the_one_before",
            ],
        ),
        (Careless, ["the_factory_reads_every_key", "models_are_those_of_the_server"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_wrong_provider_is_caught(made, names, hasty):
    found = broken_promises(suite_for(made))
    for name in names:
        assert caught(found, f"test_{name}"), found


# -- histories ---------------------------------------------------------------------------------


class Wrapped:
    """A right history over a dictionary that outlives it, for the wrong ones to change."""

    kept = {}  # noqa: RUF012 (one for each path: what a restart finds)

    def __init__(self, path):
        self.inner = self.kept.setdefault(path, Memory())

    def conversations(self):
        return self.inner.conversations()

    def open(self, id, head=None, write=True):
        return self.log(self.inner.open(id, head, write))

    def log(self, log):
        return log

    def remove(self, id):
        self.inner.remove(id)


class Log:
    def __init__(self, inner):
        self.inner = inner

    def append(self, record, durable=True):
        self.inner.append(record, durable)

    def records(self, reverse=False):
        return self.inner.records(reverse)

    def close(self):
        self.inner.close()


class Tidying(Wrapped):
    class log(Log):
        def append(self, record, durable=True):
            known = ("id", "time", "type", "turn", "message", "outcome")
            self.inner.append({key: record[key] for key in known if key in record}, durable)


class Plain(Wrapped):
    class log(Log):
        def append(self, record, durable=True):
            parts = [
                {**part, "text": "\n".join(part["text"].splitlines())}
                for part in record.get("message", {}).get("parts", [])
            ]
            message = {"message": {**record["message"], "parts": parts}} if parts else {}
            self.inner.append({**record, **message}, durable)


class Forgetful(Wrapped):
    class log(Log):
        waiting = None

        def append(self, record, durable=True):
            if self.waiting:
                self.inner.append(self.waiting, durable)
            self.waiting = record


class OneWay(Wrapped):
    class log(Log):
        def records(self, reverse=False):
            return self.inner.records()


class OldestFirst(Wrapped):
    def conversations(self):
        return iter(list(self.inner.conversations())[::-1])


class Keeping(Wrapped):
    def remove(self, id):
        pass


class Foreigner(Wrapped):
    def open(self, id, head=None, write=True):
        try:
            return self.inner.open(id, head, write)
        except HistoryError as error:
            raise KeyError(id) from error


class Deaf(Wrapped):
    def search(self, text):
        for head in self.inner.conversations():
            yield (
                head,
                [
                    record
                    for record in self.inner.open(head["id"], write=False).records()
                    if text in str(record)
                ],
            )


class Lasting(Wrapped):
    def __init__(self, path):
        self.inner = Memory()


def test_a_right_history_keeps_every_promise(folders):
    class Suite(HistoryConformance):
        lasting = False

        def history(self, tmp_path):
            return Wrapped(tmp_path)

    assert broken_promises(Suite(), tmp_path=folders) == {}


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (Tidying, ["unknown_types_and_keys_are_kept"]),
        (Plain, ["awkward_letters_come_back_the_same"]),
        (
            Forgetful,
            ["records_come_back_as_they_were_appended", "the_fold_of_what_is_kept_is_the_conversation"],
        ),
        (OneWay, ["reading_backwards_is_reading_forwards_reversed"]),
        (OldestFirst, ["conversations_are_listed_newest_first"]),
        (Keeping, ["a_removed_conversation_is_gone", "what_is_not_there_is_a_history_error"]),
        (Foreigner, ["what_is_not_there_is_a_history_error", "two_writers_never_share_a_conversation"]),
        (Deaf, ["a_search_misses_no_text"]),
        (
            Lasting,
            ["a_conversation_goes_on_after_a_restart", "what_is_durable_outlives_an_end_without_close"],
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_wrong_history_is_caught(made, names, folders):
    class Suite(HistoryConformance):
        def history(self, tmp_path):
            return made(tmp_path)

    found = {}
    for name in names:
        try:
            getattr(Suite(), f"test_{name}")(folders())
        except AssertionError as error:
            found[name] = str(error)
        except (HistoryError, KeyError) as error:
            found[name] = f"Why it matters: {error!r}"
        assert caught(found, name), found


# -- renderers ---------------------------------------------------------------------------------


class Simple:
    """The right one: writes at Idle, says what went wrong, leaves the cursor at the left."""

    def __init__(self, screen):
        self.screen = screen
        self.open = False

    def show(self, event):
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.text(text)
            case Idle():
                self.screen.flush()
            case Notice(_, text):
                self.screen.aside(text + "\n")
            case TurnEnded():
                if self.open:
                    self.text("\n")
                self.screen.flush()
                if event.error:
                    self.screen.aside(f"Error: {event.error.message}\n")

    def text(self, text):
        self.screen.write(text)
        self.open = not text.endswith("\n") if text else self.open


class Late(Simple):
    def show(self, event):
        if not isinstance(event, Idle):
            super().show(event)


class Doubling(Simple):
    last = ""

    def text(self, text):
        super().text(self.last + text)
        self.last = text


class Greedy(Simple):
    def text(self, text):
        super().text(text[:-1] if len(text) > 500 else text)


class Styling(Simple):
    def text(self, text):
        import re

        super().text("\x1b[1m" + re.sub(r"\[/?\w*\]", "", text) + "\x1b[m")


class Silent(Simple):
    def show(self, event):
        if not isinstance(event, TurnEnded | Notice):
            super().show(event)


class Stained(Simple):
    def text(self, text):
        super().text("\x1b[?25l\x1b[31m" + text)


class Intruding(Simple):
    def show(self, event):
        if isinstance(event, TurnEnded):
            self.screen.write("\x1b[2J\x1b[3J\x1b[6n")
        super().show(event)


class Ragged(Simple):
    def show(self, event):
        if isinstance(event, TurnEnded):
            self.open = False
        super().show(event)


class Picky(Simple):
    def show(self, event):
        if isinstance(event, SessionEnded):
            raise NotImplementedError
        super().show(event)


class Cropping(Simple):
    column = 0

    def text(self, text):
        for char in text:
            self.column = 0 if char == "\n" else self.column + 1
            if self.column < self.screen.columns:
                super().text(char)


def renderer_suite(made):
    class Suite(RendererConformance):
        def renderer(self, settings, screen):
            return made(screen)

    return Suite()


def test_a_right_renderer_keeps_every_promise(capfd):
    assert broken_promises(renderer_suite(Simple), capfd=lambda: capfd) == {}


def test_a_renderer_that_prints_is_caught(capfd):
    class Printing(Simple):
        def show(self, event):
            print("past the screen")
            super().show(event)

    found = broken_promises(renderer_suite(Printing), capfd=lambda: capfd)
    assert list(found) == ["test_nothing_is_written_past_the_screen"]
    assert caught(found, *found)


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (Late, ["what_came_is_visible_at_idle"]),
        (
            Doubling,
            ["text_is_complete_and_in_order_under_any_chunking", "text_in_a_pipe_is_complete_and_in_order"],
        ),
        (Greedy, ["text_is_complete_and_in_order_under_any_chunking"]),
        (Styling, ["letters_of_markup_are_letters"]),
        (Silent, ["what_went_wrong_is_said", "refusals_and_notices_are_shown"]),
        (Stained, ["the_terminal_is_left_as_it_was"]),
        (Intruding, ["nothing_takes_the_terminal_over"]),
        (Ragged, ["the_terminal_is_left_as_it_was"]),
        (Picky, ["every_event_is_shown_without_a_fault"]),
        (Cropping, ["a_narrow_window_loses_nothing"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_wrong_renderer_is_caught(made, names):
    for name in names:
        with pytest.raises(AssertionError, match="Why it matters: "):
            getattr(renderer_suite(made), f"test_{name}")()


# -- commands ----------------------------------------------------------------------------------


def right(session, text):
    """Say something about the conversation."""
    if text == "x":
        raise UsageError("`/right` takes no x")
    session.notify(f"turn {session.turn}")


right.complete = lambda session, text: ["one", "two"]


def undocumented(session, text):
    pass


def printing(session, text):
    """Print."""
    print("past the renderer")


def fragile(session, text):
    """Count."""
    int(text)


def numeric(session, text):
    """Answer with a number."""
    return 42


def meddling(session, text):
    """Complete badly."""


meddling.complete = lambda session, text: [session.clear() or "x"]


def harmful(session, text):
    """Break the session."""
    session.model = None
    session.provider = None
    session.display.renderer = None


def command_suite(made):
    class Suite(CommandConformance):
        def command(self):
            return made

    return Suite()


def test_a_right_command_keeps_every_promise(folders, capfd):
    with pytest.MonkeyPatch.context() as patch:
        assert (
            broken_promises(
                command_suite(right), tmp_path=folders, monkeypatch=lambda: patch, capfd=lambda: capfd
            )
            == {}
        )


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (undocumented, "its_help_is_one_line"),
        (printing, "any_rest_of_the_line_is_taken"),
        (fragile, "any_rest_of_the_line_is_taken"),
        (numeric, "any_rest_of_the_line_is_taken"),
        (meddling, "completion_offers_words"),
    ],
)
def test_a_wrong_command_is_caught(made, name, folders, capfd):
    with pytest.MonkeyPatch.context() as patch:
        found = broken_promises(
            command_suite(made), tmp_path=folders, monkeypatch=lambda: patch, capfd=lambda: capfd
        )
    assert caught(found, f"test_{name}"), found


# -- inputs ------------------------------------------------------------------------------------


def input_suite(name):
    class Suite(InputConformance):
        factory = f"wrong_inputs:{name}"
        edits = False

    return Suite()


def test_a_right_input_keeps_every_promise(folders):
    assert Lines
    assert broken_promises(input_suite("Lines"), tmp_path=folders) == {}


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("Stripping", "typed_lines_are_read"),
        ("Splitting", "lines_come_from_a_pipe"),
        ("Endless", "the_end_of_input_is_eof"),
        ("Agreeing", "enter_alone_is_not_yes"),
        ("Swallowing", "ctrl_c_is_raised_or_clears_the_line"),
        ("Flushing", "keys_typed_before_the_prompt_are_read"),
        ("Untidy", "the_end_of_input_is_eof"),
        ("Untidy", "ctrl_c_is_raised_or_clears_the_line"),
    ],
)
def test_a_wrong_input_is_caught(made, name, tmp_path, monkeypatch):
    monkeypatch.setattr(conformance_input, "_PATIENCE", 1.0)
    with pytest.raises(AssertionError, match="Why it matters: "):
        getattr(input_suite(made), f"test_{name}")(tmp_path)


# -- all of them -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [RuntimeError("out of order"), SystemExit(3), AssertionError("mine")], ids=repr
)
@pytest.mark.parametrize(
    ("base", "factory"),
    [
        (ProviderConformance, "provider"),
        (HistoryConformance, "history"),
        (RendererConformance, "renderer"),
        (CommandConformance, "command"),
        (ToolConformance, "tool"),
    ],
)
def test_what_is_raised_anywhere_is_told_as_the_promise_that_it_breaks(base, factory, error, folders, capfd):
    def fails(*_):
        raise error

    suite = type("Suite", (base,), {factory: fails, "dialect": "chat", "arguments": ({},)})()
    with pytest.MonkeyPatch.context() as patch:
        found = broken_promises(suite, tmp_path=folders, monkeypatch=lambda: patch, capfd=lambda: capfd)
    assert len(found) == sum(name.startswith("test_") for name in dir(base))
    for name, text in found.items():
        assert name.removeprefix("test_").replace("_", " ") in text
        assert (str(error) or repr(error)) in text
        assert caught(found, name)


def test_an_input_that_cannot_be_made_is_told_as_the_promise_that_it_breaks(tmp_path):
    with pytest.raises(
        AssertionError, match=r"(?s)promise that typed lines are read.*out of order.*matters: "
    ):
        input_suite("Unmade").test_typed_lines_are_read(tmp_path)
