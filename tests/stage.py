"""A session on a real host, with a scripted provider and a recorder, for the tests of the core."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType

from mino_core import interrupts
from mino_core.cli import opening
from mino_core.cli.arguments import parse
from mino_core.config.loading import load
from mino_core.plugins import Host
from mino_core.screen import Screen
from mino_core.testing import Recorder, Scripted, home

_PLUGIN = """
import sys
from mino_core import hookimpl

stage = sys.modules["mino_stage"]

@hookimpl
def mino_providers():
    return {"scripted": lambda settings: stage.provider}

@hookimpl
def mino_renderers():
    return {"recorder": lambda settings, screen: stage.renderer}

@hookimpl
def mino_histories():
    return {"staged": lambda settings: stage.history}

@hookimpl
def mino_inputs():
    return stage.inputs

@hookimpl
def mino_tools():
    return stage.tools

@hookimpl
def mino_commands():
    return stage.commands

@hookimpl
def mino_approve(call, session):
    return stage.approve(call, session)

@hookimpl
def mino_event(event, session):
    stage.observe(event, session)

@hookimpl
def mino_request(request, session):
    return stage.change(request, session)
"""
_ARGUMENTS = ("--provider", "scripted", "--model", "m", "--renderer", "recorder")


class Stage(ModuleType):
    """What the plugin on stage offers; a test sets what it needs before `opened`."""

    def __init__(self, tmp_path, *rounds, toml=""):
        super().__init__("mino_stage")
        self.environ = home(tmp_path, toml)
        self.plugin = tmp_path / "staged.py"
        self.plugin.write_text(_PLUGIN)
        self.provider = Scripted(*rounds)
        self.renderer = Recorder()
        self.history = None
        self.reader = None
        self.inputs = {}
        self.tools = {}
        self.commands = {}
        self.approve = lambda call, session: None
        self.observe = lambda event, session: None
        self.change = lambda request, session: None

    @contextmanager
    def opened(self, *arguments):
        """A session, as the command line with these further arguments would open it."""
        sys.modules[self.__name__] = self
        flags = parse([*_ARGUMENTS, "-e", str(self.plugin), *arguments]).flags
        with interrupts.installed():
            host = Host(load(self.environ, flags), extensions=flags.extensions)
            host.load()
            assert not host.faults, host.faults
            with open("/dev/null", "wb") as out:
                screen = Screen(out.fileno(), out.fileno(), self.environ)
                try:
                    with opening.session(host, screen, self.reader) as session:
                        yield session
                finally:
                    screen.close()
