"""A plugin that offers one thing of every kind, each as small as it can be."""

from dataclasses import replace

from mino_core import (
    Finished,
    HistoryError,
    Idle,
    Notice,
    TextDelta,
    ToolCall,
    ToolContext,
    TurnEnded,
    Verdict,
    hookimpl,
)

MINO_API = 1


class Parrot:
    """Says what it hears; told to `count`, it calls its tool first."""

    def __init__(self, settings):
        self.suffix = settings.text("suffix", "")

    def stream(self, request):
        last = request.messages[-1]
        if last.text.startswith("count ") and request.tools:
            yield ToolCall("call-1", "count", '{"text": "one two two"}')
            yield Finished("tool_calls")
            return
        said = last.text or " ".join(part.content for part in last.parts)
        for word in said.split():
            yield TextDelta(f"{word} ")
        yield TextDelta(f"[{request.instructions.splitlines()[-1]}]{self.suffix}")
        yield Finished("stop")

    def models(self):
        return ["grey", "green"]


@hookimpl
def mino_providers():
    return {"parrot": Parrot}


def squawk(session, rest):
    """Ask in capitals."""
    return rest.upper()


@hookimpl
def mino_commands():
    return {"squawk": squawk}


class Nest:
    """Keeps conversations in memory, as `nest` or under the name of the setting."""

    def __init__(self, settings):
        self.logs = {}

    def conversations(self):
        return (log.kept[0] for log in reversed(self.logs.values()) if log.kept)

    def open(self, id, head=None, write=True):
        if head is not None:
            self.logs[id] = Twigs([head])
        if id not in self.logs:
            raise HistoryError(f"there is no conversation {id}")
        return self.logs[id]

    def remove(self, id):
        del self.logs[id]


class Twigs:
    def __init__(self, kept):
        self.kept = kept

    def append(self, record, durable=True):
        self.kept.append(record)

    def records(self, reverse=False):
        return iter(self.kept[::-1] if reverse else list(self.kept))

    def close(self):
        pass


@hookimpl
def mino_histories():
    return {"nest": Nest}


class Perch:
    """Draws an answer between angle brackets."""

    def __init__(self, settings, screen):
        self.screen = screen
        self.mark = settings.text("mark", ">")

    def show(self, event):
        match event:
            case TextDelta(text):
                self.screen.write(f"{self.mark}{text}")
            case Notice(_, text):
                self.screen.aside(f"{text}\n")
            case TurnEnded():
                self.screen.write("\n")
                self.screen.flush()
            case Idle():
                self.screen.flush()


@hookimpl
def mino_renderers():
    return {"perch": Perch}


class Beak:
    """Reads the lines of a setting."""

    def __init__(self, settings, screen):
        self.lines = iter(settings.text("lines", "").splitlines())

    def read(self, prompt):
        for line in self.lines:
            return line
        raise EOFError

    def ask(self, question, choices):
        return None


@hookimpl
def mino_inputs():
    return {"beak": Beak}


def count(context: ToolContext, text: str) -> dict[str, int]:
    """Count the words of a text."""
    words = text.split()
    return {word: words.count(word) for word in sorted(set(words))}


@hookimpl
def mino_tools():
    return {"count": count}


def feathers(arguments, host):
    print(*sorted(host.offers("mino_providers")))
    return len(arguments)


@hookimpl
def mino_subcommands():
    return {"feathers": feathers}


@hookimpl
def mino_request(request, settings):
    return replace(
        request, instructions=f"{request.instructions}\n{settings.text('also', 'parrot was here')}"
    )


@hookimpl
def mino_approve(call):
    return Verdict(allowed=True) if call.name == "count" else None


@hookimpl
def mino_event(event, session):
    if isinstance(event, TurnEnded):
        session.notify("the parrot saw the end")
