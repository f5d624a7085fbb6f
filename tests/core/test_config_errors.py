"""What is wrong with a file is said all at once, with the line, and with what was probably meant."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core.config import Flags
from mino_core.config.loading import load
from mino_core.config.toml_file import Document, read
from mino_core.errors import ConfigError


def errors(home, toml) -> list[str]:
    path = home / "config.toml"
    path.write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    before = path.read_bytes()
    with pytest.raises(ConfigError) as caught:
        load({"MINO_HOME": str(home)})
    assert path.read_bytes() == before
    return str(caught.value).splitlines()


def test_every_problem_is_reported_at_once_with_its_line(tmp_path):
    toml = """\
[session]
provder = "x"
max_rounds = 0
[shell]
interrupt = "stop"
[historie]
backend = "jsonl"
[providers.a]
model = 3
[plugins]
disabled = "x"
limit = true
"""
    assert errors(tmp_path, toml) == [
        "config.toml:2: session.provder: there is no such key; did you mean provider?",
        "config.toml:3: session.max_rounds: must be a whole number from 1 up, not 0",
        'config.toml:5: shell.interrupt: must be "prompt" or "exit", not \'stop\'',
        "config.toml:6: historie: there is no such table or key; did you mean history?",
        "config.toml:9: providers.a.model: must be a string",
        "config.toml:11: plugins.disabled: must be a list of strings, not 'x'",
        "config.toml:12: plugins.limit: must be a number of seconds above 0, at most a day, not True",
    ]


def test_a_key_that_lost_its_table_is_told_where_it_belongs(tmp_path):
    assert errors(tmp_path, 'provider = "x"\n') == [
        "config.toml:1: provider: there is no such table or key; did you mean session.provider?"
    ]


def test_tables_must_be_tables(tmp_path):
    toml = 'session = 1\nproviders = {a = 1}\nplugins = {settings = {x = 2}}\nrenderer = "rich"\n'
    assert errors(tmp_path, toml) == [
        "config.toml:1: session: must be a table: write [session]",
        "config.toml:2: providers.a: must be a table: write [providers.a]",
        "config.toml:3: plugins.settings.x: must be a table",
        "config.toml:4: renderer: must be a table: write [renderer]",
    ]


def test_what_nothing_would_heed_is_an_error(tmp_path):
    assert errors(tmp_path, '[tools]\nenabled = ["shell"]\nenable = []\n[mcp]\nservers = {}\n') == [
        (
            "config.toml:2: tools.enabled: must be empty: mino brings no tools, and those of plugins need no"
            " entry, not ['shell']"
        ),
        "config.toml:3: tools.enable: there is no such key; did you mean enabled?",
        "config.toml:4: mcp: there is no such table or key",
    ]


def test_options_must_be_what_json_can_hold(tmp_path):
    assert errors(tmp_path, "[providers.a]\noptions = {day = 2024-01-01}\n")[0].startswith(
        "config.toml:2: providers.a.options: must hold only what JSON can"
    )
    assert "must be a table" in errors(tmp_path, "[providers.a]\noptions = 1\n")[0]


def test_a_value_is_never_quoted_at_length_and_a_key_not_at_all(tmp_path):
    assert len(errors(tmp_path, f"[session]\nmodel = [{'1, ' * 500}]\n")[0]) < 120
    assert "CANARY" not in errors(tmp_path, '[providers.a]\napi_key = ["CANARY"]\n')[0]


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('[session]\nmodel = "x\n', ":2:11: the text is not closed; a quote is missing at its end"),
        ("[session]\nmodel = gpt\n", ":2:9: invalid value; text needs quotes"),
        (
            "[session]\nmodel = 'a'\nmodel = 'b'\nresume = 'last'",
            ":3:1: model is given a second time; keep one",
        ),
        ("[session]\nmodel = 'a'\nmodel = 'b'", ":3:1: model is given a second time; keep one"),
        ("[shell]\n[session]\n# x\n[shell]\n", ":4:1: [shell] is given a second time; keep one"),
        ("x = {a=1, a=2}\n", ":1:1: x is given a second time; keep one"),
        ('p = "C:\\Users"\n', "write \\\\ for a backslash"),
        ('p = "C:\\dir"\n', "write \\\\ for a backslash"),
        ("[session\n", ":1:9: expected ']' at the end of a table declaration"),
        ("a = [1,\n", ":1:1: "),
        ('ok = 1\na = """x\n\ny\n', ":2:1: unterminated string"),
    ],
)
def test_a_syntax_error_names_path_line_column_and_reason(tmp_path, toml, expected):
    (line,) = errors(tmp_path, toml)
    assert line.startswith(f"{tmp_path / 'config.toml'}:")
    assert expected in line
    assert line[len(str(tmp_path)) :].split(":")[1].isdecimal()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path, encoding):
    (line,) = errors(tmp_path, '[session]\nmodel = "x"\n'.encode(encoding))
    assert line == f"{tmp_path / 'config.toml'}: this is UTF-16, or no text at all; save it as UTF-8"


def test_an_older_encoding_is_named_with_its_line(tmp_path):
    (line,) = errors(tmp_path, '[session]\nmodel = "café"\n'.encode("latin-1"))
    assert line.startswith(f"{tmp_path / 'config.toml'}:2: this is not UTF-8 text (byte 0xe9")


def test_a_directory_or_an_unreadable_path_is_one_sentence(tmp_path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config.toml: this is a directory; a TOML file belongs here$"):
        load({"MINO_HOME": str(tmp_path)})
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"config.toml: cannot be read: Not a directory"):
        load({"MINO_HOME": str(tmp_path / "file")})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_sentence(tmp_path):
    (tmp_path / "config.toml").touch(mode=0)
    with pytest.raises(ConfigError, match=r"config.toml: cannot be read: Permission denied"):
        load({"MINO_HOME": str(tmp_path)})


def test_a_named_file_that_is_missing_is_an_error_and_so_is_a_link_to_nothing(tmp_path):
    with pytest.raises(ConfigError, match=r"x.toml: there is no such file"):
        load({"MINO_HOME": str(tmp_path)}, Flags(config=tmp_path / "x.toml"))
    (tmp_path / "config.toml").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigError, match=r"config.toml: there is no such file"):
        load({"MINO_HOME": str(tmp_path)})


def test_deep_nesting_is_one_sentence(tmp_path):
    (line,) = errors(tmp_path, f"a = {'[' * 5000}")
    assert "nested too deeply" in line


# -- where a key stands ------------------------------------------------------------------------


def place(tmp_path, toml: str, key: str) -> str:
    path = tmp_path / "config.toml"
    path.write_bytes(toml.encode())
    document = read(path)
    assert document
    return document.place(key)


def test_a_value_of_several_lines_stands_where_it_begins(tmp_path):
    toml = '# x\n[plugins]\n\ndisabled = [\n  "a",\n]\nlimit = 3\ntext = """\nlimit = 9\n"""\nlast = 1\n'
    assert place(tmp_path, toml, "plugins.disabled") == "config.toml:4"
    assert place(tmp_path, toml, "plugins.limit") == "config.toml:7"
    assert place(tmp_path, toml, "plugins.text") == "config.toml:8"
    assert place(tmp_path, toml, "plugins.last") == "config.toml:11"


def test_dotted_inline_quoted_and_escaped_keys_are_found(tmp_path):
    toml = 'a.b.c = 1\r\nx = {y = {z = 1}}\r\n["q.r"]\r\n"s\\u0074" = 1\r\n[[list]]\r\nk = 1\r\n'
    assert place(tmp_path, toml, "a.b.c") == "config.toml:1"
    assert place(tmp_path, toml, "x.y.z") == "config.toml:2"
    assert place(tmp_path, toml, "q.r.st") == "config.toml:4"
    assert place(tmp_path, toml, "list") == "config.toml:5"


def test_a_missing_key_stands_where_its_table_does(tmp_path):
    assert place(tmp_path, "x = 1\n[a]\n[a.b]\nc = 1\n", "a.b.d") == "config.toml:3"
    assert place(tmp_path, "x = 1\n", "y.z") == ""
    assert Document().place("x") == ""


@given(
    st.lists(st.sampled_from(["# note", "", "t = '''", "'''", "l = [", "1,", "]"]), max_size=6),
    st.integers(1, 40),
)
def test_a_key_is_found_on_its_line_whatever_stands_around_it(tmp_path_factory, noise, count):
    import tomllib

    before = "\n".join(noise)
    try:
        tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        before = "\n".join("# " + line for line in noise)
    lines = before.split("\n") + [f"k{n} = {n}" for n in range(count)]
    where = lines.index(f"k{count - 1} = {count - 1}") + 1
    assert place(tmp_path_factory.mktemp("x"), "\n".join(lines), f"k{count - 1}") == f"config.toml:{where}"


def test_the_search_parses_few_prefixes_of_a_long_file(tmp_path, monkeypatch):
    import tomllib

    lines = [f"k{n} = {n}" for n in range(3000)]
    parsed = []
    loads = tomllib.loads
    document = Document(tmp_path / "config.toml", "\n".join(lines), loads("\n".join(lines)))
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(1) or loads(text))
    assert document.place("k1700") == "config.toml:1701"
    assert len(parsed) < 20
