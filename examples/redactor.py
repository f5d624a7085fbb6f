"""A redactor that keeps words of yours from being sent: `mino_request`.

    [plugins.settings.redactor]
    words = "Project Nightjar, Nightjar"
    patterns = '[\\w.+-]+@[\\w-]+\\.[\\w.]+'

The hook gets each request before it goes out and returns the one to send in its place. History and
screen keep what was said; the same words are always replaced by the same, so a provider's cache of
the beginning of a conversation stays good.
"""

import re
from dataclasses import replace

from mino_core import Message, Text, ToolResult, hookimpl

MINO_API = 1


@hookimpl
def mino_request(request, settings):
    words = [re.escape(word.strip()) for word in settings.text("words", "").split(",") if word.strip()]
    patterns = [*words, settings.text("patterns", r"[\w.+-]+@[\w-]+\.[\w.]+")]
    secret = re.compile("|".join(filter(None, patterns)))

    def redacted(part):
        match part:
            case Text(text):
                return replace(part, text=secret.sub("[redacted]", text))
            case ToolResult(content=content):
                return replace(part, content=secret.sub("[redacted]", content))
        return part

    return replace(
        request,
        instructions=secret.sub("[redacted]", request.instructions),
        messages=tuple(
            Message(message.role, tuple(map(redacted, message.parts)), message.meta)
            for message in request.messages
        ),
    )
