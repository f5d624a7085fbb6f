"""Stands where a shell would: leads a terminal's session and runs one program in its foreground.

A program that led the session itself would take the terminal's settings with it when it ends, and
nobody could see in which state it left them. Run as a script, with nothing but the standard
library: `launcher.py SOCKET TTY PROGRAM [ARGUMENT ...]`. Writes the program's process id to the
socket, and when it has ended a mark to the terminal (all its output came before) and the wait
status to the socket; stays until the socket is closed.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios

#: An operating system command that no terminal knows.
MARK = b"\x1b]7770;the program has ended\x07"
#: What a program under a shell finds as the system made it, whatever runs the tests ignores.
_FRESH = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ),
    *(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
)


def main(argv: list[str]) -> None:
    """Run the program to its end."""
    report, tty, program = int(argv[0]), argv[1], argv[2:]
    terminal = os.open(tty, os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(terminal, fd)
    os.close(terminal)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # changing the foreground must not stop us
    begun, beginning = os.pipe()  # the program's end closes when it begins
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for signum in _FRESH:
            signal.signal(signum, signal.SIG_DFL)
        os.set_inheritable(report, False)
        try:
            os.execvp(program[0], program)  # noqa: S606 (that is what it is for)
        except OSError as error:
            os.write(2, f"{program[0]}: {error.strerror}\r\n".encode())
            os._exit(127)
    os.close(beginning)
    os.read(begun, 1)
    os.write(report, b"%d\n" % child)
    status = os.waitpid(child, 0)[1]
    os.write(1, MARK)
    os.write(report, b"%d\n" % status)
    os.read(report, 1)


if __name__ == "__main__":
    main(sys.argv[1:])
