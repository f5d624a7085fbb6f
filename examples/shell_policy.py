"""A policy for shell commands: what only looks is allowed, what destroys is not: `mino_approve`.

    [plugins.settings.shell_policy]
    tool = "shell"                   # the tool that this is about; its argument is `command`
    allow = "ls cat head git-log git-diff git-status"
    deny = "sudo rm dd mkfs shutdown"

The first plugin with an opinion decides. None is no opinion: then the next one is asked, and the
last one, which is built in, asks the user. A hook that fails means no.
"""

import shlex

from mino_core import Verdict, hookimpl

MINO_API = 1
#: Whatever has one of these in it is more than one command, or writes somewhere.
SHELL = set(";&|<>$`(){}\n\\!*?[]~#")


@hookimpl(tryfirst=True)
def mino_approve(call, settings):
    if call.name != settings.text("tool", "shell"):
        return None
    command = str((call.parsed or {}).get("command", ""))
    try:
        words = shlex.split(command)
    except ValueError:
        return Verdict(allowed=False, reason="its quotes do not match")
    denied = set(settings.text("deny", "sudo rm dd mkfs shutdown").split()) & set(words)
    if denied:
        return Verdict(allowed=False, reason=f"{', '.join(sorted(denied))} is not allowed here")
    allowed = settings.text("allow", "ls cat head git-log git-diff git-status").split()
    if words and not SHELL & set(command) and {words[0], "-".join(words[:2])} & set(allowed):
        return Verdict(allowed=True, reason="it only looks")
    return None
