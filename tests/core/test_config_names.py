"""Names of kinds, backends, renderers and inputs are checked once the plugins have been asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core.config import Flags
from mino_core.config.keys import KEYS
from mino_core.config.loading import load
from mino_core.errors import ConfigError
from mino_core.plugins.names import unknown

OFFERS = {
    "mino_providers": ["openai-chat", "local"],
    "mino_histories": ["jsonl", "memory"],
    "mino_renderers": ["rich", "plain"],
    "mino_inputs": ["editor", "lines"],
}


def configured(home, toml, flags=None, wrong=None):
    (home / "config.toml").write_text(toml)
    return load({"MINO_HOME": str(home)}, flags, wrong)


def test_every_name_that_nothing_has_is_reported_with_its_place(tmp_path):
    toml = '[session]\nprovider = "gone"\n[history]\nbackend = "jsnl"\n[renderer]\nname = "zz"\n'
    found = unknown(configured(tmp_path, toml, Flags(input="none")), OFFERS.__getitem__)
    assert found[0].startswith("config.toml:2: session.provider: there is no provider 'gone'; there are: ")
    assert found[1].startswith(
        "config.toml:4: history.backend: there is no history backend 'jsnl'; there are: "
    )
    assert found[1].endswith("jsonl, memory; did you mean jsonl?")
    assert found[2:] == [
        "config.toml:6: renderer.name: there is no renderer 'zz'; there are: plain, rich",
        "--input: there is no input 'none'; there are: editor, lines",
    ]


def test_with_safe_every_name_of_a_strangers_is_told_with_the_reason(tmp_path):
    toml = '[session]\nprovider = "{}"\n[providers.mine]\nkind = "odd"\n[history]\nbackend = "odd"\n'
    toml += '[renderer]\nname = "odd"\n[input]\nname = "odd"\n'
    for provider in ("gone", "mine"):
        config = configured(tmp_path, toml.format(provider), Flags(safe=True))
        found = unknown(config, OFFERS.__getitem__)
        assert len(found) == 4
        for line in found:
            assert line.endswith(" (--safe leaves out every plugin that is not built in)")


def test_what_is_there_is_not_reported(tmp_path):
    assert unknown(configured(tmp_path, ""), OFFERS.__getitem__) == []
    unused = '[providers.other]\nkind = "of a plugin that is gone"\n'
    assert unknown(configured(tmp_path, unused), OFFERS.__getitem__) == []


def test_wrong_values_and_unknown_names_can_be_shown_together(tmp_path):
    wrong: list[str] = []
    toml = """\
[session]
max_rounds = "x"
instructions = "gone.md"
[providers.a]
kind = 3
model = "m"
[renderer]
name = "gone"
[extra]
[plugins]
settings = {a = 1, b = {c = 1}}
"""
    config = configured(tmp_path, toml, wrong=wrong)
    assert [line.split(": ")[1] for line in wrong] == [
        "session.max_rounds",
        "providers.a.kind",
        "extra",
        "plugins.settings.a",
        "session.instructions",
    ]
    assert config.session.max_rounds == 50
    assert dict(config.providers["a"]) == {"model": "m"}
    assert set(config.plugins.settings) == {"b"}
    assert "config.toml:8: renderer.name" in unknown(config, OFFERS.__getitem__)[0]


def test_of_a_file_that_is_no_toml_nothing_is_left(tmp_path):
    with pytest.raises(ConfigError, match=r"config.toml:1:"):
        configured(tmp_path, "[session")
    wrong: list[str] = []
    config = configured(tmp_path, "[session", wrong=wrong)
    assert config.problems == tuple(wrong)
    assert "expected ']'" in wrong[0]
    assert config.file.path == tmp_path / "config.toml"


NAMES = st.sampled_from(
    [word for key in KEYS for word in key.path.split(".")] + ["providers", "tools", "a.b", "x"]
)
VALUES = st.recursive(
    st.none().map(lambda _: "x") | st.integers(0, 3) | st.booleans() | st.dates() | st.floats(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_whatever_the_tables_hold_every_mistake_is_a_line_and_the_rest_holds(tmp_path_factory, tables):
    import tomli_w

    home = tmp_path_factory.mktemp("home")
    wrong: list[str] = []
    config = configured(home, tomli_w.dumps(tables), wrong=wrong)
    unknown(config, OFFERS.__getitem__)
    config.shown()
    if wrong:
        with pytest.raises(ConfigError) as caught:
            configured(home, tomli_w.dumps(tables))
        assert str(caught.value).splitlines() == wrong
