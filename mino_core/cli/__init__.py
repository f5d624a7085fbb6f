"""The command line: from arguments to a chat, one answer or a subcommand, and to an exit code."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run mino with these arguments (default: the process's own); returns the exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments in (["--version"], ["-V"]):  # before any import: it costs as much as all of this
        from mino_core import __version__

        sys.stdout.write(f"mino {__version__}\n")
        return 0
    try:
        from .run import run

        return run(arguments)
    except KeyboardInterrupt:  # before signals are ours
        return 130
