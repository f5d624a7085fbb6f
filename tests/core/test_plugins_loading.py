"""Which plugins load, in which order they are asked, and what a bad one costs: one line."""

import pytest
from mino_core import interrupts
from mino_core.errors import UsageError
from shelf import HEAD, Shelf, lines, row


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    return Shelf(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def signals():
    with interrupts.installed():
        yield


GOOD = """
@hookimpl
def mino_commands():
    return {"hello": lambda session, rest: "hello"}
"""


def test_built_ins_load_without_a_fault(shelf):
    host = shelf.host()
    host.survey()
    assert lines(host) == []
    assert {plugin.state for plugin in host.plugins} == {"loaded"}
    assert {plugin.source for plugin in host.plugins} == {"built-in"}


def test_an_installed_plugin_and_a_file_load(shelf):
    shelf.plugin("parrot", GOOD, version="2.5")
    shelf.file("local_one", GOOD.replace("hello", "hey"))
    host = shelf.host()
    assert {"hello", "hey"} <= set(host.commands())
    parrot, local = row(host, "parrot"), row(host, "local_one")
    assert (parrot.distribution, parrot.version, parrot.source) == ("mino-parrot", "2.5", "distribution")
    assert (local.source, local.path) == ("file", shelf.home / "plugins" / "local_one.py")
    assert parrot.offers == {"mino_commands": ("hello",)}
    assert parrot.seconds > 0


def test_an_entry_point_may_name_an_attribute(shelf):
    (shelf.site / "mino_deep.py").write_text(
        "from mino_core import hookimpl\n"
        "class Box:\n"
        "    class Inner:\n"
        "        @staticmethod\n"
        "        @hookimpl\n"
        "        def mino_commands():\n"
        "            return {'deep': print}\n"
        "    inner = Inner()\n"
    )
    shelf.distribution("mino-deep", {"deep": "mino_deep:Box.inner [extra]"})
    assert "deep" in shelf.host().commands()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import nowhere_at_all",
            "ModuleNotFoundError: No module named 'nowhere_at_all' (mino_bad_bad.py:2)",
        ),
        ("def x(:", "SyntaxError"),
        ("raise SystemExit(3)", "tried to end the program (SystemExit: 3)"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise BaseExceptionGroup('two', [KeyboardInterrupt(), ValueError()])", "BaseExceptionGroup: two"),
        ("def __getattr__(name): raise KeyboardInterrupt(name)", "KeyboardInterrupt: MINO_API"),
        ("def deeper(): deeper()\ndeeper()", "RecursionError"),
        ("class Odd(BaseException): pass\nraise Odd('two\\nlines \\x1b[31m')", "Odd: two lines ␛[31m"),
        ("class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute", "cannot be shown"),
        ("import time\nwhile True: time.sleep(9)", "took longer than 0.2 s"),
        ("while True: pass", "took longer than 0.2 s"),
        ("MINO_API = 2", "written for mino's API 2, and this mino has API 1"),
        ("MINO_API = None", "API None"),
        ("@hookimpl(wrapper=True)\ndef mino_commands():\n    return (yield)", "hook wrapper"),
        ("@hookimpl(hookwrapper=True)\ndef mino_commands():\n    yield", "hook wrapper"),
        ("@hookimpl\nasync def mino_event(event): pass", "mino_event must be an ordinary function"),
        ("@hookimpl\ndef mino_event(event):\n    yield", "mino_event must be an ordinary function"),
        ("@hookimpl\ndef mino_commands(sesion): return {}", "sesion"),
    ],
)
def test_a_bad_plugin_costs_one_line_and_nothing_else(shelf, code, words):
    shelf.plugin("good", GOOD)
    shelf.plugin("bad", code, version="0.9")
    host = shelf.host(limit=0.2)
    (line,) = lines(host)
    assert "\n" not in line
    assert line.startswith("plugin 'bad' (mino-bad 0.9): ")
    assert words in line
    assert line.endswith("to go without it: mino plugins disable bad")
    assert row(host, "bad").state == "failed"
    assert row(host, "bad").faults == host.faults
    assert "hello" in host.commands()
    assert len(host.faults) == 1


def test_nothing_of_a_plugin_that_fails_to_register_stays(shelf):
    shelf.plugin(
        "half",
        GOOD + "\n@hookimpl\ndef mino_event(event, wrong): pass\n@hookimpl\ndef mino_tools(): return {}",
    )
    host = shelf.host()
    assert "hello" not in host.commands()
    assert host.observers(None) == []


@pytest.mark.parametrize(
    ("missing", "words"),
    [("mino_absent", "No module named 'mino_absent'"), ("mino_core:nothing", "AttributeError")],
)
def test_an_entry_point_to_nowhere_costs_one_line(shelf, missing, words):
    shelf.distribution("mino-lost", {"lost": missing})
    host = shelf.host()
    (line,) = lines(host)
    assert words in line
    assert "mino-lost 1.0" in line


def test_a_plugin_may_be_swallowing_everything_and_is_stopped_all_the_same(shelf):
    shelf.plugin(
        "sponge",
        """
        import time
        tries = 0
        while tries < 2:
            try:
                time.sleep(30)
            except BaseException:
                tries += 1
        time.sleep(30)
        """,
    )
    (line,) = lines(shelf.host(limit=0.1))
    assert "took longer than 0.1 s" in line


@pytest.mark.parametrize("rest", ["", "raise KeyboardInterrupt from None"])
def test_ctrl_c_is_no_fault_also_where_code_raises_it_anew(shelf, rest):
    shelf.plugin(
        "stop",
        f"""
        import os, signal
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            {rest or "raise"}
        """,
    )
    with pytest.raises(KeyboardInterrupt):
        shelf.host()


@pytest.mark.parametrize(
    "code",
    [
        "mino_event = hookimpl(partial(print))",
        "@hookimpl\nclass mino_event:\n    def __init__(self, event): pass",
    ],
)
def test_what_is_marked_and_is_no_function_is_told(shelf, code):
    shelf.plugin("odd", f"from functools import partial\n{code}")
    (line,) = lines(shelf.host())
    assert "mino_event is marked with @hookimpl and is no function" in line


def test_a_misspelt_hook_costs_only_that_hook(shelf):
    shelf.plugin("typo", GOOD + "\n@hookimpl\ndef mino_evnet(event): pass")
    host = shelf.host()
    (line,) = lines(host)
    assert "there is no hook mino_evnet; did you mean mino_event?" in line
    assert row(host, "typo").state == "loaded"
    assert "hello" in host.commands()


def test_an_optional_hook_of_another_version_is_silent(shelf):
    shelf.plugin("later", "@hookimpl(optionalhook=True)\ndef mino_future(thing): pass")
    assert lines(shelf.host()) == []


def test_a_hook_that_is_not_marked_is_told(shelf):
    shelf.plugin("plain_function", "def mino_commands():\n    return {}")
    (line,) = lines(shelf.host())
    assert "mino_commands is not marked with @hookimpl" in line


def test_fewer_arguments_defaults_and_settings_are_filled(shelf):
    shelf.plugin(
        "some",
        """
        @hookimpl
        def mino_commands(settings=None, other=7):
            return {settings.text("name"): print, f"other-{other}": print}
        """,
    )
    host = shelf.host(settings={"some": {"name": "called"}})
    assert {"called", "other-7"} <= set(host.commands())


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_plugins_are_asked_in_the_order_of_their_names(shelf, order):
    for name in order:
        shelf.plugin(name, f"@hookimpl\ndef mino_commands():\n    ASKED.append({name!r})\n    return {{}}")
        module = f"mino_{name}_{name}"
        path = shelf.site / f"{module}.py"
        path.write_text("import sys\nASKED = sys.__dict__.setdefault('asked', [])\n" + path.read_text())
    shelf.plugin(
        "zz_first",
        "import sys\n@hookimpl(tryfirst=True)\ndef mino_commands():\n"
        "    sys.asked.append('first')\n    return {}",
    )
    import sys

    sys.__dict__.pop("asked", None)
    try:
        shelf.host().commands()
        assert sys.asked == ["first", "one", "two"]
    finally:
        del sys.asked


def test_two_strangers_with_one_name_do_not_load(shelf):
    shelf.plugin("twin", GOOD, distribution="mino-a")
    shelf.plugin("twin", GOOD, distribution="mino-b")
    host = shelf.host()
    (line,) = lines(host)
    assert "mino-a 1.0 and mino-b 1.0" in line
    assert [plugin.state for plugin in host.plugins if plugin.name == "twin"] == ["skipped", "skipped"]
    assert "hello" not in host.commands()


def test_disabling_one_distribution_settles_a_clash(shelf):
    shelf.plugin("twin", GOOD, distribution="mino-a")
    shelf.plugin("twin", GOOD, distribution="mino-b")
    host = shelf.host(disabled=("mino-b",))
    assert lines(host) == []
    assert [plugin.state for plugin in host.plugins if plugin.name == "twin"] == ["loaded", "disabled"]


def test_a_stranger_with_the_name_of_a_built_in_does_not_load(shelf):
    shelf.plugin("render", "raise ValueError('never imported')", distribution="mino-thief")
    host = shelf.host()
    (line,) = lines(host)
    assert "a built-in plugin has that name" in line
    assert "mino plugins disable mino-thief" in line
    states = {plugin.distribution: plugin.state for plugin in host.plugins if plugin.name == "render"}
    assert states == {"mino-shell": "loaded", "mino-thief": "skipped"}


def test_of_two_names_for_one_object_one_loads(shelf):
    shelf.plugin("one", "@hookimpl\ndef mino_event(event):\n    pass\n")
    shelf.distribution("mino-again", {"two": "mino_one_one"})
    (line,) = lines(shelf.host())
    assert "plugin 'one' (mino-one 1.0): hooks: it is the same object as the plugin 'two'; " in line


@pytest.mark.parametrize("name", ["", "-x", "x y", "x\0", ".."])
def test_what_has_no_name_that_can_be_typed_is_disabled_with_its_distribution(shelf, name):
    shelf.distribution("mino-odd", {name: "mino_odd"})
    (line,) = lines(shelf.host())
    assert line.endswith("is not `name = module:attribute`; to go without it: mino plugins disable mino-odd")
    assert lines(shelf.host(disabled=("mino-odd",))) == []


def test_distributions_may_share_a_namespace_package(shelf):
    (shelf.site / "mino_shared").mkdir()
    for name in ("one", "two"):
        code = f"{HEAD}@hookimpl\ndef mino_commands():\n    return {{'{name}': lambda session, rest: None}}\n"
        (shelf.site / "mino_shared" / f"{name}.py").write_text(code)
        shelf.distribution(f"mino-{name}", {name: f"mino_shared.{name}"})
    shelf.distribution("mino-zero", {"zero": "mino_shared"})
    host = shelf.host()
    assert lines(host) == []
    assert {"one", "two"} <= set(host.commands())
    assert row(host, "zero").notes == ["has no hook: nothing in it is marked with @hookimpl"]


def test_disabled_plugins_are_not_imported(shelf):
    shelf.plugin("parrot", "raise ValueError('never imported')")
    host = shelf.host(disabled=("parrot", "commands", "gone-since-long"))
    assert lines(host) == []
    assert row(host, "parrot").state == row(host, "commands").state == "disabled"


def test_safe_means_built_ins_only(shelf):
    shelf.plugin("parrot", "raise ValueError('never imported')")
    shelf.file("single", "raise ValueError('never imported')")
    host = shelf.host(safe=True)
    assert lines(host) == []
    assert row(host, "parrot").state == row(host, "single").state == "skipped"
    assert row(host, "render").state == "loaded"


def test_a_file_named_on_the_command_line_loads_for_this_run(shelf, tmp_path):
    path = tmp_path / "once.py"
    path.write_text("from mino_core import hookimpl\n" + GOOD)
    host = shelf.host(extensions=[path])
    assert "hello" in host.commands()
    assert not list(tmp_path.glob("**/__pycache__"))


def test_a_file_that_is_in_the_folder_and_on_the_command_line_loads_once(shelf):
    path = shelf.file("once", GOOD)
    host = shelf.host(extensions=[path])
    assert lines(host) == []
    assert [plugin.name for plugin in host.plugins].count("once") == 1


def test_safe_refuses_a_file_and_a_missing_file_is_an_error(shelf, tmp_path):
    path = shelf.file("single", GOOD)
    with pytest.raises(UsageError, match="exclude each other"):
        shelf.host(safe=True, extensions=[path])
    with pytest.raises(UsageError, match="no such file"):
        shelf.host(extensions=[tmp_path / "nowhere.py"])


def test_a_dataclass_in_a_file_works(shelf):
    shelf.file(
        "data",
        """
        from dataclasses import KW_ONLY, dataclass
        @dataclass(slots=True)
        class Thing:
            name: "str"
            _: "KW_ONLY"  # found in the module of the class
            size: "int" = 1
        assert Thing.__annotations__["name"] == "str"  # as this file says it, not as mino's do
        @hookimpl
        def mino_commands():
            return {Thing("made", size=2).name: print}
        """,
    )
    host = shelf.host()
    assert "made" in host.commands(), lines(host)


def test_a_file_that_fails_leaves_no_half_made_module(shelf):
    import sys

    shelf.file("broken", "1/0")
    (line,) = lines(shelf.host())
    assert "ZeroDivisionError: division by zero (broken.py:2)" in line
    assert str(shelf.home / "plugins" / "broken.py") in line
    assert "mino_file_broken" not in sys.modules


def test_a_secret_in_a_plugins_error_is_masked(shelf):
    from mino_core import secret

    secret.remember("sk-CANARY-123456")
    shelf.plugin("leaky", "raise ValueError('bad key sk-CANARY-123456')")
    (line,) = lines(shelf.host())
    assert "CANARY" not in line
