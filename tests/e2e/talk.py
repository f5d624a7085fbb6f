"""A conversation for the tests of the terminal: the real mino there, and a server to talk to."""

import subprocess
from pathlib import Path

from mino_core.testing import Server, Terminal, chat, home, mino

CONFIG = """
[session]
provider = "fake"
[providers.fake]
kind = "openai-chat"
base_url = "{url}/v1"
model = "m"
"""


def is_stopped(pid):
    """Whether a process sleeps until somebody says SIGCONT."""
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return state.stdout.startswith("T")


def press_ctrl_z(terminal):
    """Stop mino by its key. Paste mode is on again only when mino goes on, and keys are its own again."""
    terminal.press("ctrl-z")
    terminal.wait_until(lambda: is_stopped(terminal.pid))
    terminal.wait_until(lambda: 2004 not in terminal.private_modes)
    assert terminal.modes == terminal.modes_at_start


class Talk:
    """mino on a terminal, against a server that answers every question."""

    def __init__(self, tmp_path, toml="", columns=80, rows=24, args=(), plugin="", **environ):
        self.server = Server()
        self.env = home(tmp_path, CONFIG.format(url=self.server.url) + toml, **environ)
        self.home = Path(self.env["MINO_HOME"])
        if plugin:
            (self.home / "plugins").mkdir(exist_ok=True)
            (self.home / "plugins" / "tried.py").write_text(plugin)
        self.terminal = Terminal(mino(*args), self.env, columns=columns, rows=rows)
        self.prompts = 0

    def answers(self, *texts):
        """Let the server answer the next questions with these."""
        for text in texts:
            self.server.reply(*chat(text))

    def at_prompt(self):
        """Wait for the next prompt; returns the terminal."""
        self.prompts += 1
        self.terminal.wait_for("You>", count=self.prompts)
        return self.terminal

    def ends_by(self, *keys):
        """Press keys that leave; mino ends in order, and the terminal is as it was."""
        self.terminal.press(*keys)
        assert self.terminal.wait_exit() == 0, self.terminal.dump()
        assert self.terminal.modes == self.terminal.modes_at_start
        assert self.terminal.private_modes == {7, 25}

    @property
    def asked(self):
        """What was asked, question by question."""
        return [request.json["messages"][-1]["content"] for request in self.server.requests]

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        self.terminal.close()
        self.server.__exit__(*error)
