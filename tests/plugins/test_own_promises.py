"""The built-in plugins keep the promises that strangers' plugins are held to, by the same suites."""

import pytest
from mino_core.testing import CommandConformance, InputConformance, ProviderConformance

from mino_anthropic import mino_providers as anthropic
from mino_commands.commands import COMMANDS
from mino_openai import mino_providers as openai


class TestResponses(ProviderConformance):
    dialect = "responses"

    def provider(self, settings):
        return openai()["openai-responses"](settings)


class TestMessages(ProviderConformance):
    dialect = "messages"

    def provider(self, settings):
        return anthropic()["anthropic-messages"](settings)


class TestEditor(InputConformance):
    factory = "mino_input.editor:Editor"


class TestLines(InputConformance):
    factory = "mino_input.lines:Lines"
    edits = False


@pytest.mark.parametrize("name", sorted(COMMANDS))
class TestCommands(CommandConformance):
    @pytest.fixture(autouse=True)
    def chosen(self, name):
        self.name = name

    def command(self):
        return COMMANDS[self.name]
