"""A renderer that writes the conversation to an HTML page as it goes: `mino_renderers`.

    mino --renderer html-page

    [renderer]
    name = "html-page"
    file = "conversation.html"       # relative to the working directory

A renderer is shown one event after the other. It draws at `Idle`, when nothing more has arrived,
and not at each delta. The screen still gets the text itself, so that one can read along.
"""

from html import escape
from pathlib import Path

from mino_core import (
    Idle,
    Notice,
    ReasoningDelta,
    RefusalDelta,
    SessionEnded,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
    hookimpl,
)

MINO_API = 1
HEAD = """<!doctype html>
<meta charset="utf-8">
<title>A conversation with mino</title>
<style>
  body { max-width: 42em; margin: 2em auto; font-family: sans-serif; line-height: 1.5 }
  pre { white-space: pre-wrap; font: inherit }
  .question { color: #555 } .thought { color: #999 } .error { color: #b00 }
</style>
"""


class HtmlPage:
    def __init__(self, settings, screen):
        self.screen = screen
        path = Path(settings.text("file", "conversation.html"))
        self.page = path.open("w", encoding="utf-8")
        self.page.write(HEAD)
        self.last = "\n"

    def show(self, event):
        match event:
            case TurnStarted(prompt=prompt):
                self.page.write(f'<pre class="question">{escape(prompt)}</pre>\n<pre>')
            case ReasoningDelta(text):
                self.page.write(f'<span class="thought">{escape(text)}</span>')
            case TextDelta(text) | RefusalDelta(text):
                self.page.write(escape(text))
                self.write(text)
            case Idle():
                self.page.flush()
                self.screen.flush()
            case Notice(level, text):
                self.aside(f"Error: {text}" if level == "error" else text)
            case TurnEnded(error=error):
                self.page.write("</pre>\n")
                self.end_line()
                if error is not None:
                    self.page.write(f'<p class="error">Error: {escape(error.message)}</p>\n')
                    self.aside(f"Error: {error.message}")
                self.page.flush()
                self.screen.flush()
            case SessionStarted(banner=text) | SessionEnded(farewell=text) if text:
                self.aside(text)

    def write(self, text):
        if text:
            self.screen.write(text)
            self.last = text[-1]

    def end_line(self):
        if self.last != "\n":
            self.write("\n")

    def aside(self, text):
        """What is not the answer goes on a line of its own, and in a pipe elsewhere."""
        if self.screen.is_terminal:
            self.end_line()
        self.screen.aside(f"{text}\n")

    def close(self):
        self.page.close()


@hookimpl
def mino_renderers():
    return {"html-page": HtmlPage}
