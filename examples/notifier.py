"""A notifier that says when a long answer is there: `mino_event`.

    [plugins.settings.notifier]
    command = "notify-send mino"     # gets one more argument: what to say
    after = 30                       # seconds

An observer sees every event after it was shown. It must be quick: this one starts a program and
does not wait for it.
"""

import shlex
import subprocess

from mino_core import TurnEnded, hookimpl

MINO_API = 1
_running = []


@hookimpl
def mino_event(event, settings):
    if not isinstance(event, TurnEnded) or event.seconds < settings.number("after", 30):
        return
    _running[:] = [child for child in _running if child.poll() is None]  # no zombies
    said = f"{event.outcome} after {event.seconds:.0f} s"
    command = [*shlex.split(settings.text("command", "notify-send mino")), said]
    nowhere = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    _running.append(child)
