"""Loads well, offers something of every kind, and breaks each promise only when it is used."""

from mino_core import TextDelta, hookimpl


class Gasping:
    def __init__(self, settings):
        pass

    def stream(self, request):
        yield TextDelta("half an ")
        raise RuntimeError("out of breath")


class Leaving(Gasping):
    def stream(self, request):
        raise SystemExit(7)


class Fading:
    def __init__(self, settings, screen):
        self.screen = screen

    def show(self, event):
        match event:
            case TextDelta():
                raise RuntimeError("out of ink")

    def close(self):
        raise RuntimeError("out of paper")


class Leaky:
    def __init__(self, settings):
        pass

    def conversations(self):
        raise RuntimeError("the list has a hole")

    def open(self, id, head=None, write=True):
        raise RuntimeError("the drawer is stuck")

    def remove(self, id):
        raise RuntimeError("nothing goes")


class Deaf:
    def __init__(self, settings, screen):
        pass

    def read(self, prompt):
        raise RuntimeError("what?")

    def ask(self, question, choices):
        raise RuntimeError("what?")


def stumble(session, rest):
    """Fail."""
    raise RuntimeError("it stumbled")


def drop(text: str) -> str:
    """Fail."""
    raise SystemExit(text)


def crash(arguments, host):
    raise RuntimeError("it crashed")


@hookimpl
def mino_providers():
    return {"gasping": Gasping, "leaving": Leaving}


@hookimpl
def mino_renderers():
    return {"fading": Fading}


@hookimpl
def mino_histories():
    return {"leaky": Leaky}


@hookimpl
def mino_inputs():
    return {"deaf": Deaf}


@hookimpl
def mino_commands():
    return {"stumble": stumble}


@hookimpl
def mino_tools():
    return {"drop": drop}


@hookimpl
def mino_subcommands():
    return {"crash": crash}
