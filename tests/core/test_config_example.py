"""config.example.toml and the reference page say what is true."""

import json
import re
from dataclasses import replace
from pathlib import Path

from mino_core import Screen, interrupts
from mino_core.config import Config, Flags
from mino_core.config.keys import KEYS
from mino_core.config.loading import load
from mino_core.config.presets import presets
from mino_core.plugins import Host
from mino_core.testing import home

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.toml"
REFERENCE = (ROOT / "docs/reference/configuration.md").read_text("utf-8")


def test_the_example_holds_every_default(tmp_path):
    config = load({"MINO_HOME": str(tmp_path)}, Flags(config=EXAMPLE))
    assert replace(config, warnings=()) == Config(home=tmp_path)


def test_the_example_holds_every_key(tmp_path):
    table, found = "", set()
    for line in EXAMPLE.read_text("utf-8").splitlines():
        if header := re.match(r"(?:# )?\[([\w.]+)\]", line):
            table = header[1]
        elif key := re.match(r"(?:# )?(\w+) = ", line):
            found.add(f"{table}.{key[1]}")
    assert {key.path for key in KEYS} <= found


def asked_by_the_built_in_parts(tmp_path):
    """What everything that mino brings asks for: the table's path, the key, and its default."""
    for kind in ("openai-chat", "openai-responses", "anthropic-messages", "local"):
        with interrupts.installed():
            host = Host(load(home(tmp_path), Flags(provider=kind)))
            host.load()
        choice = host.config.provider()
        host.make("mino_providers", choice.kind, choice.settings)
        yield from (("providers", key, value) for key, value in choice.settings.asked().items())
    screen = Screen()
    host.make("mino_histories", "jsonl")
    host.make("mino_renderers", "rich", screen)
    host.make("mino_inputs", "editor", screen)
    screen.close()
    for chosen in (host.config.history, host.config.renderer, host.config.input):
        yield from ((chosen.settings.path, *item) for item in chosen.settings.asked().items())


def test_every_key_that_something_asks_for_is_on_the_page_and_no_other(tmp_path):
    rows = [row.split(" | ") for row in REFERENCE.splitlines() if row.startswith("| ")]
    told = {cell.strip("| `"): row for row in rows for cell in row[:2] if re.fullmatch(r"\W*`\w+`\W*", cell)}
    asked = {key: value for _, key, value in asked_by_the_built_in_parts(tmp_path)}
    assert asked.keys() <= told.keys()
    for key, value in asked.items():
        if isinstance(value, bool | int | float) and key not in ("max_tokens", "threads", "think_tags"):
            assert re.search(rf"(^|\W){str(value).lower().removesuffix('.0')}(\W|$)", " ".join(told[key])), (
                key
            )
    providers = REFERENCE.partition("| key | default | kinds |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)`", providers, re.MULTILINE))
    assert named == {
        key for table, key, _ in asked_by_the_built_in_parts(tmp_path) if table == "providers"
    } - {"model"}


def test_the_example_holds_every_key_of_the_built_in_parts(tmp_path):
    example = EXAMPLE.read_text("utf-8")
    for table, key, value in asked_by_the_built_in_parts(tmp_path):
        if table != "providers":
            shown = json.dumps(value)
            part = example.partition(f"[{table}]")[2].partition("\n[")[0]
            assert f"# {key} = {shown} " in part, f"{table}.{key}"


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
