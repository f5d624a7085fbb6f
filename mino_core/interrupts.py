"""Ctrl-C and timers, made to land only where mino waits.

Python raises KeyboardInterrupt between any two bytecodes, so an unguarded program can be cut in
the middle of a write. Here a signal raises at once only where it is *armed*; elsewhere it stays
pending until the next armed place. There are three levels:

    armed     a wait: the next delta, a line, a call into a plugin      raises at once
    held      everything else, such as a renderer's write               waits; a second one raises
    sealed    an append, the commit of a turn                           waits, always

SIGTERM and SIGHUP follow the same rules and raise Terminated. One interval timer serves both
repeated work and time limits; it too acts only where armed. When the window changes, repeated work
is done at once.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, TracebackType

_SEALED, _HELD, _ARMED = 0, 1, 2
_TERMINATING = (signal.SIGTERM, signal.SIGHUP)
#: How soon a timer that came due in a held place looks again, and a limit raises again, in seconds.
_LOOK_AGAIN, _RAISE_AGAIN = 0.05, 1.0

_level = _HELD
_pending = 0  # the signal number that waits to be honoured, or 0
stops = 0  # how often the user has said stop so far, also where it came too late
_wakers: tuple[int, int] | None = None  # a pipe into which each signal writes a byte
#: What tells of an error that Python swallows, and that is none of ours.
unraised: Callable[[sys.UnraisableHookArgs], object] = sys.__unraisablehook__


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived; `signum` says which. Caught before KeyboardInterrupt, by no door.

    It is a KeyboardInterrupt because asyncio lets only that and SystemExit through cleanly.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


class TimedOut(BaseException):
    """A call into a plugin took longer than its limit. Not an Exception, so no plugin swallows it."""


def _honour() -> None:
    """Raise what is pending."""
    global _pending
    signum, _pending = _pending, 0
    raise users(Terminated(signum) if signum in _TERMINATING else KeyboardInterrupt())


def users(stop: KeyboardInterrupt) -> KeyboardInterrupt:
    """The same stop, marked as the user's own, and counted: a signal's, or that of a key."""
    global stops
    stops += 1
    stop.__dict__["is_users"] = True
    return stop


def is_users(error: BaseException | None) -> bool:
    """Whether an error is the user's stop, or came in its place; what a plugin makes up is neither."""
    while isinstance(error, KeyboardInterrupt):
        if _wakers is None or "is_users" in error.__dict__:  # where signals are Python's, none is marked
            return True
        error = error.__context__
    return False


def _on_signal(signum: int, frame: FrameType | None) -> None:
    global _pending
    second = _pending != 0
    if _pending not in _TERMINATING:
        _pending = signum
    if _settled(frame) and (_level == _ARMED or (second and _level == _HELD)):
        _honour()


def _settled(frame: FrameType | None) -> bool:
    """Whether an error may be raised here: not where a block ends, or its level would stay for ever.

    Where a block begins, its level is taken back first, since its end will not come.
    """
    global _level
    code = None if frame is None else frame.f_code
    if frame is not None and code is _At.__enter__.__code__ and _level == _ARMED:
        _level = frame.f_locals["self"]._before  # noqa: SLF001 (our own class, seen from the handler)
    return code is not _At.__exit__.__code__


class _At:
    """One stretch of code at a level; nests, and puts the former level back."""

    __slots__ = ("_before", "_level")

    def __init__(self, level: int) -> None:
        self._level = level
        self._before = _level

    def __enter__(self) -> None:
        global _level
        self._before = _level
        _level = self._level
        if _pending and _level == _ARMED:
            _level = self._before  # __exit__ will not run
            _honour()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _level
        _level = self._before
        # An error on its way out is not replaced by a Ctrl-C; the next armed place honours that.
        if _pending and _level == _ARMED and kind is None:
            _honour()


#: Where a block begins or ends: its level is not settled there.
_EDGES = (_At.__enter__.__code__, _At.__exit__.__code__)


def armed() -> _At:
    """Let signals raise at once in this block, and honour a pending one on entry."""
    return _At(_ARMED)


def held() -> _At:
    """Keep signals waiting in this block; a second one raises."""
    return _At(_HELD)


def sealed() -> _At:
    """Keep signals waiting in this block, whatever comes."""
    return _At(_SEALED)


def discard() -> None:
    """Forget a Ctrl-C that came too late for its turn, so that it does not end the program."""
    global _pending, stops
    if _pending and _pending not in _TERMINATING:
        _pending = 0
        stops += 1


@contextmanager
def installed() -> Iterator[None]:
    """Own the signals of this module for this block, and put the former handlers back."""
    global _pending, _level, _wakers
    before = {signum: signal.getsignal(signum) for signum in _owned()}
    former_hook, sys.unraisablehook = sys.unraisablehook, _on_unraisable
    reclaim()
    _pending, _level = 0, _HELD
    _wakers = os.pipe()
    for fd in _wakers:
        os.set_blocking(fd, False)
    try:
        yield
    finally:
        _timers.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.set_wakeup_fd(-1)
        for signum, handler in before.items():
            signal.signal(signum, handler if handler is not None else signal.SIG_DFL)
        sys.unraisablehook = former_hook
        wakers, _wakers = _wakers, None
        for fd in wakers:
            os.close(fd)


def _owned() -> Mapping[signal.Signals, Callable[[int, FrameType | None], None]]:
    asked = dict.fromkeys((signal.SIGINT, *_TERMINATING), _on_signal)
    return {**asked, signal.SIGALRM: _on_alarm}


def reclaim() -> None:
    """Own our signals again, where code that was just imported took one for itself."""
    for signum, handler in _owned().items():
        signal.signal(signum, handler)


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Python swallows what is raised in a destructor or a callback of its own: a Ctrl-C waits again."""
    global _pending
    error = unraisable.exc_value
    if not isinstance(error, KeyboardInterrupt):
        unraised(unraisable)
    elif is_users(error):
        _pending = getattr(error, "signum", signal.SIGINT)


def wait(fd: int, seconds: float | None = None) -> bool:
    """Wait until there is something to read; False where nothing came in `seconds`, or a signal that is held.

    A plain read does not notice a signal that arrived in the instant before it: Python runs
    handlers between bytecodes, and the read has begun. Here it lands, also then.
    """
    if _wakers is None:
        return bool(select.select([fd], [], [], seconds)[0])
    deadline = None if seconds is None else time.monotonic() + seconds
    woken, waker = _wakers
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)  # again: asyncio takes it away
    while not _pending or _level == _ARMED:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select([fd, woken], [], [], left)
        if woken in ready:
            os.read(woken, 4096)  # the handler itself runs when we are back here
        if fd in ready:
            return True
        if not ready:
            break
    return False


# -- the one timer -----------------------------------------------------------------------------


class _Timer:
    """Something to do at `due`, and again `period` seconds later."""

    __slots__ = ("act", "due", "period")

    def __init__(self, due: float, period: float, act: Callable[[], None]) -> None:
        self.due = due
        self.period = period
        self.act = act


_timers: list[_Timer] = []


def _schedule() -> None:
    """Set the interval timer to whatever is due first."""
    if not _timers:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return
    wait = min(timer.due for timer in _timers) - time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, max(wait, 0.000_001))


def _on_alarm(signum: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    due = [timer for timer in _timers if timer.due <= now]
    may_act = _level == _ARMED and (frame is None or frame.f_code not in _EDGES)
    for timer in due:
        timer.due = now + (timer.period if may_act else _LOOK_AGAIN)
    _schedule()
    if may_act:
        with held():
            for timer in due:
                timer.act()


def _on_window(signum: int, frame: FrameType | None) -> None:
    """The window changed, or we are back in it: what is done again and again is done now."""
    now = time.monotonic()
    for timer in _timers:
        if timer.act is not _time_out:
            timer.due = now
    _on_alarm(signum, frame)


@contextmanager
def _running(timer: _Timer) -> Iterator[None]:
    try:
        _timers.append(timer)
        _schedule()
        yield
    finally:
        if timer in _timers:
            _timers.remove(timer)
        _schedule()


@contextmanager
def every(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` every `seconds` of this block, on the main thread and where armed; also at a new window."""
    former = signal.signal(signal.SIGWINCH, _on_window)
    try:
        with _running(_Timer(time.monotonic() + seconds, seconds, act)):
            yield
    finally:
        signal.signal(signal.SIGWINCH, former or signal.SIG_DFL)


def _time_out() -> None:
    raise TimedOut


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise TimedOut inside this block after `seconds`, and again each second until it ends."""
    with _running(_Timer(time.monotonic() + seconds, _RAISE_AGAIN, _time_out)):
        yield


@contextmanager
def unlimited() -> Iterator[None]:
    """Stop every clock during this block: a person is being asked."""
    global _timers
    stopped, started = _timers, time.monotonic()
    _timers = []
    _schedule()
    try:
        yield
    finally:
        waited = time.monotonic() - started
        for timer in stopped:
            timer.due += waited
        _timers = stopped
        _schedule()
