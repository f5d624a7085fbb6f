"""The command line: from arguments to a chat, one answer or a subcommand, and to an exit code."""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run mino with these arguments (default: the process's own); returns the exit code."""
    _fill_gaps()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        if arguments in (["--version"], ["-V"]):  # before any import: it costs as much as all of this
            from mino_core import __version__

            try:
                os.write(1, f"mino {__version__}\n".encode())
                return 0
            except OSError:
                pass  # what `run` cannot write either, it tells
        gc.disable()  # on the way to the first prompt nothing is thrown away; `run` enables it again
        from .run import run

        return _let_go(run(arguments))
    except KeyboardInterrupt:  # before signals are ours
        return 130
    except BrokenPipeError:
        return 141
    finally:
        gc.enable()


def _let_go(code: int) -> int:
    """Leave, whatever plugins have left behind: threads that print or never end, an end that fails."""
    from mino_core.plugins.traces import unraised

    sys.unraisablehook = unraised
    if not os.isatty(1):
        sys.stdout = sys.stderr
    threading = sys.modules.get("threading")
    if threading is None:
        return code
    left = [thread.name for thread in threading.enumerate() if not thread.daemon]
    left.remove(threading.main_thread().name)
    if left:
        sys.stderr.write(f"Warning: a plugin's thread goes on and is left: {', '.join(left)}\n")
        sys.stderr.flush()
        os._exit(code)
    return code


def _fill_gaps() -> None:
    """Give descriptors 0, 1 and 2 to nobody where they are closed, or our first files would be them.

    Writing to a closed standard output fails as it would have, so that whoever waits for it is told.
    """
    for fd, way in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, way)
    for name, fd in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(fd, "w", closefd=False))
