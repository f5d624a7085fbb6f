"""What plugins offer: names, clashes, wrong results, and making a thing with its settings."""

import pytest
from mino_core import interrupts
from mino_core.config import Choice, Config
from mino_core.errors import ConfigError, PluginError
from mino_core.plugins import Host
from mino_core.settings import Settings
from shelf import Shelf, lines, row


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    return Shelf(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


def commands(*names):
    return (
        "@hookimpl\ndef mino_commands():\n    return {"
        + ", ".join(f"{name!r}: print" for name in names)
        + "}"
    )


def renderers(body):
    return f"@hookimpl\ndef mino_renderers():\n    return {{'odd': make}}\n{body}"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("return ['hello']", "returned a value of type list, not a mapping of names"),
        ("pass", "returned None, not a mapping of names"),
        ("return {7: print}", "7 cannot be the name of a command"),
        ("return {'two words': print}", "'two words' cannot be the name of a command"),
        ("return {'Hello': print}", "those are in lower case"),
        ("return {'hello': 'not callable'}", "the command 'hello' is not callable but str"),
        ("raise ValueError('no')", "ValueError: no"),
        ("raise SystemExit", "SystemExit"),
        ("while True: pass", "took longer than 0.2 s"),
    ],
)
def test_a_wrong_offer_costs_one_line_however_often_it_is_asked(shelf, code, words):
    shelf.plugin("bad", f"@hookimpl\ndef mino_commands():\n    {code}")
    shelf.plugin("good", commands("hi"))
    host = shelf.host(limit=0.2)
    for _ in range(2):
        assert "hi" in host.commands()
        assert "hello" not in host.commands()
    (line,) = lines(host)
    assert words in line
    assert line.startswith("plugin 'bad' (mino-bad 1.0): mino_commands: ")


def test_one_bad_name_leaves_the_others(shelf):
    shelf.plugin("mixed", commands("fine", "not fine"))
    host = shelf.host()
    assert "fine" in host.commands()
    assert len(lines(host)) == 1


def test_commands_and_tools_are_asked_again_and_the_rest_once(shelf):
    shelf.plugin(
        "counter",
        """
        from itertools import count
        n = count()
        @hookimpl
        def mino_commands():
            return {f"c{next(n)}": print}
        @hookimpl
        def mino_tools():
            return {f"t{next(n)}": str.upper} if False else {}
        @hookimpl
        def mino_providers():
            return {f"p{next(n)}": print}
        """,
    )
    host = shelf.host()
    assert {"c0"} <= set(host.commands())
    assert {"c1"} <= set(host.commands())
    assert "p2" in host.offers("mino_providers")
    assert "p2" in host.offers("mino_providers")


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_of_two_strangers_neither_has_the_name(shelf, order):
    for name in order:
        shelf.plugin(name, commands("greet", f"only-{name}"))
    host = shelf.host()
    offers = host.commands()
    assert "greet" not in offers
    assert offers["a:greet"].plugin == "a"
    assert offers["b:greet"].plugin == "b"
    assert {"a:greet", "b:greet", "only-a", "only-b"} <= set(offers)
    (line,) = lines(host)
    assert line == (
        "the command 'greet' is offered by both 'a' and 'b': use 'a:greet' or 'b:greet', "
        "or disable one in [plugins]"
    )
    assert row(host, "a").faults == row(host, "b").faults == host.faults


def test_a_built_in_keeps_its_name(shelf):
    shelf.plugin("thief", "@hookimpl\ndef mino_histories():\n    return {'jsonl': print}")
    host = shelf.host()
    offers = host.offers("mino_histories")
    assert offers["jsonl"].plugin == "history"
    assert offers["thief:jsonl"].plugin == "thief"
    assert offers["history:jsonl"].plugin == "history"
    (line,) = lines(host)
    assert "'history' keeps it; use 'thief:jsonl'" in line


def test_every_offer_is_reached_by_its_whole_name_but_listed_by_the_shortest(shelf):
    shelf.plugin("a", commands("one"))
    offers = shelf.host().commands()
    assert "a:one" in offers
    assert "a:one" not in list(offers)


def test_a_plugins_name_wins_over_a_folder_of_commands(shelf):
    shelf.plugin("dir", commands("x"))
    shelf.plugin("folder", commands("dir:x", "other:y"))
    host = shelf.host()
    offers = host.commands()
    assert offers["dir:x"].plugin == "dir"
    assert offers["folder:dir:x"].plugin == "folder"
    assert offers["other:y"].plugin == "folder"
    (line,) = lines(host)
    assert "folder" in line


def test_an_unknown_name_names_those_there_are(shelf):
    shelf.plugin("lost", "1/0")
    with pytest.raises(ConfigError) as caught:
        shelf.host().make("mino_histories", "jsonnl")
    said = str(caught.value)
    assert said.startswith("there is no history backend 'jsonnl'; there are: jsonl, memory")
    assert said.endswith("; did you mean jsonl?")
    assert "memory" in said
    assert "not loaded: lost" in said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def make(settings, screen): 1/0", "ZeroDivisionError"),
        ("def make(settings, screen): raise SystemExit(2)", "SystemExit: 2"),
        ("def make(settings, screen):\n    while True: pass", "took longer than 0.2 s"),
        ("def make(settings, screen): return 5", "made a value of type int, which has no show()"),
        ("def make(settings): pass", "takes 1 positional argument"),
    ],
)
def test_a_factory_that_breaks_its_promise_is_an_error_with_the_plugins_name(shelf, body, words):
    shelf.plugin("odd", renderers(body))
    host = shelf.host(limit=0.2)
    with pytest.raises(PluginError) as caught:
        host.make("mino_renderers", "odd", None)
    assert words in str(caught.value)
    assert str(caught.value).startswith("plugin 'odd' (mino-odd 1.0): the renderer 'odd': ")
    assert lines(host) == [str(caught.value)]


def test_what_is_raised_is_not_reported_as_well(shelf):
    shelf.plugin("odd", renderers("def make(settings, screen): 1/0"))
    host = shelf.host()
    told = []
    host.report = told.append
    with pytest.raises(PluginError):
        host.make("mino_renderers", "odd", None)
    assert told == []


@pytest.mark.parametrize(
    ("hook", "arguments", "methods"),
    [
        ("mino_providers", (), "stream()"),
        ("mino_histories", (), "conversations() and open() and remove()"),
        ("mino_renderers", (None,), "show()"),
        ("mino_inputs", (None,), "read() and ask()"),
    ],
)
def test_what_is_made_must_have_the_methods_of_its_kind(shelf, hook, arguments, methods):
    shelf.plugin("odd", f"@hookimpl\ndef {hook}():\n    return {{'odd': lambda *given: object()}}")
    with pytest.raises(PluginError, match="made a value of type object, which has no") as caught:
        shelf.host().make(hook, "odd", *arguments)
    assert f"has no {methods};" in str(caught.value)


def test_a_subcommand_is_offered_as_it_is(shelf):
    shelf.plugin(
        "sub",
        "@hookimpl\ndef mino_subcommands():\n    return {'sub': lambda arguments, host: len(arguments)}",
    )
    host = shelf.host()
    assert host.offers("mino_subcommands")["sub"].value(["a", "b"], host) == 2


SETTLED = renderers(
    """
class make:
    def __init__(self, settings, screen):
        self.width = settings.number("width", 80)
        self.colour = settings.table("colour").text("accent", "red")
    def show(self, event): pass
"""
)


def test_settings_come_from_what_the_configuration_chose(shelf):
    shelf.plugin("odd", SETTLED)
    shelf.plugin("even", SETTLED.replace('"odd"', '"even"').replace("'odd'", "'even'"))
    config = Config(home=shelf.home, renderer=Choice("odd", Settings({"width": 40}, path="renderer")))
    host = Host(config)
    host.load()
    assert host.make("mino_renderers", "odd", None).width == 40
    assert host.make("mino_renderers", "odd:odd", None).width == 40
    assert host.make("mino_renderers", "even", None).width == 80


def test_settings_of_one_thing_hold_for_another_of_its_plugin(shelf):
    """Where a flag, or a pipe, puts another in its place: of the keys it takes those that it knows."""
    shelf.plugin("odd", SETTLED)
    table = {"width": 40, "height": 3}
    chosen = Choice("odd:odd", Settings({}, path="renderer"), meant="odd", table=table)
    host = Host(Config(home=shelf.home, renderer=chosen))
    host.load()
    assert host.make("mino_renderers", "odd:odd", None).width == 40


def test_settings_that_nobody_read_are_errors_with_a_suggestion(shelf):
    shelf.plugin("odd", SETTLED)
    table = {"widht": 40, "colour": {"acent": "blue"}}
    with pytest.raises(ConfigError) as caught:
        shelf.host().make("mino_renderers", "odd", Settings(table, path="renderer"), None)
    assert str(caught.value).splitlines() == [
        "renderer.widht: is not a setting of the renderer 'odd'; did you mean width?",
        "renderer.colour.acent: is not a setting of the renderer 'odd'; did you mean colour.accent?",
    ]


def test_a_wrong_setting_is_the_users_error_and_no_fault(shelf):
    shelf.plugin("odd", SETTLED)
    host = shelf.host()
    with pytest.raises(ConfigError, match=r"renderer\.width: must be a number"):
        host.make("mino_renderers", "odd", Settings({"width": "wide"}, path="renderer"), None)
    assert lines(host) == []


def test_a_wrong_setting_of_a_hook_costs_that_hook(shelf):
    shelf.plugin(
        "needy", "@hookimpl\ndef mino_commands(settings):\n    return {settings.text('name'): print}"
    )
    (line,) = lines(_asked(shelf.host()))
    assert "plugins.settings.needy.name: is missing" in line


def _asked(host):
    host.survey()
    return host


def test_the_history_is_made_once_at_first_use(shelf):
    config = Config(home=shelf.home, history=Choice("memory", Settings()))
    host = Host(config)
    host.load()
    assert host.history is host.history


def test_tools_are_made_of_functions_and_a_bad_one_costs_itself(shelf):
    shelf.plugin(
        "handy",
        """
        def add(a: int, b: int) -> int:
            "Add two numbers."
            return a + b
        def bad(a, b): pass
        @hookimpl
        def mino_tools():
            return {"add": add, "bad": bad, "with space": add}
        """,
    )
    host = shelf.host()
    tools = host.tools()
    assert tools["add"].description == "Add two numbers."
    assert "bad" not in tools
    bad, spaced = sorted(lines(host), key=lambda line: "with space" in line)
    assert "the tool 'bad': the parameter 'a' of the tool 'bad' has no annotation" in bad
    assert "'with space' cannot be the name of a tool" in spaced


def test_tools_that_clash_have_names_that_servers_take(shelf):
    for name in ("a", "b"):
        shelf.plugin(
            name, "def f() -> str:\n    return ''\n@hookimpl\ndef mino_tools():\n    return {'same': f}"
        )
    tools = shelf.host().tools()
    assert {"a__same", "b__same"} <= set(tools)
    assert tools["a__same"].name == "a__same"
