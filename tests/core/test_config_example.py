"""config.example.toml and the reference page say what is true."""

import re
from dataclasses import replace
from pathlib import Path

from mino_core.config import Config, Flags, load
from mino_core.config.keys import KEYS
from mino_core.config.presets import presets

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.toml"
REFERENCE = (ROOT / "docs/reference/configuration.md").read_text("utf-8")


def test_the_example_holds_every_default(tmp_path):
    config = load({"MINO_HOME": str(tmp_path)}, Flags(config=EXAMPLE))
    assert {name: dict(table) for name, table in config.plugins.settings.items()} == {
        "tools": {"enabled": []}
    }
    without_tools = replace(config, plugins=replace(config.plugins, settings={}), warnings=())
    assert without_tools == Config(home=tmp_path)


def test_the_example_holds_every_key(tmp_path):
    table, found = "", set()
    for line in EXAMPLE.read_text("utf-8").splitlines():
        if header := re.match(r"(?:# )?\[([\w.]+)\]", line):
            table = header[1]
        elif key := re.match(r"(?:# )?(\w+) = ", line):
            found.add(f"{table}.{key[1]}")
    assert {key.path for key in KEYS} <= found


def test_the_commented_part_of_the_example_is_valid_too(tmp_path):
    lines = EXAMPLE.read_text("utf-8").splitlines()
    everything = "\n".join(re.sub(r"^# (?=\[|\w+ = )", "", line) for line in lines)
    (tmp_path / "all.toml").write_text(everything)
    config = load({"MINO_HOME": str(tmp_path)}, Flags(config=tmp_path / "all.toml"))
    assert config.session.provider == "deepseek"
    assert config.provider().options == {"temperature": 0.2}


def test_the_reference_page_names_every_key_variable_and_preset():
    for key in KEYS:
        assert f"`{key.path.partition('.')[2]}`" in REFERENCE, key.path
        assert not key.variable or f"`{key.variable}`" in REFERENCE
    for name, preset in presets().items():
        assert f"`{name}`" in REFERENCE
        for variable in preset.keys:
            assert f"`{variable}`" in REFERENCE
        assert not preset.model or f"`{preset.model}`" in REFERENCE


def test_the_toml_of_the_reference_page_loads(tmp_path):
    blocks = re.findall(r"```toml\n(.*?)```", REFERENCE, re.DOTALL)
    assert blocks
    for block in blocks:
        (tmp_path / "config.toml").write_text(block)
        (tmp_path / "config.toml").chmod(0o600)
        assert load({"MINO_HOME": str(tmp_path)}).warnings == ()
