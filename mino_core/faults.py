"""A plugin's fault, told in one line: which plugin, what, why, and how to go without it."""

from __future__ import annotations

import os

from . import interrupts
from .errors import MinoError
from .interrupts import TimedOut
from .screen import ScreenGone, sanitise
from .secret import mask
from .values import value

#: No reason is longer than this many characters.
_LONGEST = 400
_OWN = os.path.dirname(__file__)
_STANDARD = os.path.dirname(os.__file__)


@value
class Fault:
    """One promise that the plugin named `plugin` broke while doing `what`; `text` is the line to show."""

    plugin: str
    what: str
    text: str

    def __str__(self) -> str:
        return self.text


def fault(plugin: str, origin: str, what: str, why: str, cure: str = "") -> Fault:
    """A fault whose line ends with how to be rid of it: by default, how to disable the plugin.

    `origin` says where the plugin comes from, in words, or is empty.
    """
    who = f"plugin {plugin!r} ({origin})" if origin else f"plugin {plugin!r}"
    cure = cure or f"to go without it: mino plugins disable {plugin}"
    return Fault(plugin, what, f"{who}: {what}: {one_line(why)}; {cure}")


def reason(error: BaseException, limit: float | None = None) -> str:
    """What went wrong, on one line that is safe to show, with the plugin's own file and line."""
    if isinstance(error, TimedOut):
        return f"took longer than {limit:g} s" if limit else "took too long"
    try:
        said = str(error)
    except BaseException as another:  # noqa: BLE001 (a plugin's __str__ is a plugin's code)
        said = f"its message cannot be shown: {type(another).__name__}"
    if isinstance(error, MinoError):
        return one_line(said)
    if isinstance(error, SystemExit):
        return one_line(f"tried to end the program (SystemExit: {said})")
    name = type(error).__name__
    return one_line(f"{name}: {said}" if said else name) + _place(error)


def let_go(thing: object, limit: float | None = None) -> str:
    """Close something of a plugin's, if it can be closed; what went wrong with that, or nothing.

    With a `limit`, in seconds, Ctrl-C ends it as well.
    """
    close = getattr(thing, "close", None)
    if close is None:
        return ""
    try:
        if limit is None:
            close()
        else:
            with interrupts.limit(limit), interrupts.armed():
                close()
    except BaseException as error:
        if interrupts.is_users(error) or isinstance(error, ScreenGone):
            raise
        return reason(error, limit)
    return ""


def one_line(text: str) -> str:
    """Text from outside, on one line, bounded, without secrets and without terminal controls."""
    line = sanitise(" ".join(mask(text).split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _place(error: BaseException) -> str:
    """The last line of code that is neither Python's nor ours: where the author has to look."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        standard = file.startswith(_STANDARD) and "site-packages" not in file
        if not (standard or file.startswith(("<", _OWN))):
            place = f" ({os.path.basename(file)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place
