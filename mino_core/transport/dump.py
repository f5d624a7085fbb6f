"""What goes over the wire, for whoever debugs: to standard error or a file, secrets masked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mino_core.errors import ProviderError
from mino_core.secret import MASK, mask, names_a_secret

_UNPRINTABLE = "[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]"


class Dump:
    """Writes requests, the heads of responses and the bodies of errors where DEBUG or MINO_DEBUG asks for it.

    MINO_DEBUG_FILE names a file (mode 0600) to append to instead of standard error, with the bodies
    of answers too; ProviderError (`config`) where it cannot be written.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = (environ.get("MINO_DEBUG", ""), environ.get("DEBUG", ""))
        self.is_on = any(value.strip().lower() in ("1", "true", "yes", "on") for value in values)
        self._path = environ.get("MINO_DEBUG_FILE", "")

    def request(self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """The request line, the headers, and the body on a line of its own as it is sent."""
        if self.is_on:
            self._write("> ", [f"{method} {url}", *_shown(headers)], body.decode())

    def response(self, status: int, seconds: float, headers: Iterable[tuple[str, str]]) -> None:
        """The status, how long it took, and the headers."""
        if self.is_on:
            self._write("< ", [f"{status} after {seconds:.3f} s", *_shown(headers)])

    def refusal(self, body: str) -> None:
        """The body of an error, line by line; a file has it already."""
        if not self._path:
            self.note(body)

    def note(self, text: str) -> None:
        """Lines of a body, or what became of it."""
        if self.is_on and text:
            self._write("< ", text.splitlines())

    def copied(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """The same bytes, and each line of them in the file; a screen has the words already."""
        return self._copied(chunks) if self.is_on and self._path else chunks

    def _copied(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        rest = b""  # only whole lines: a key that is cut in two would not be known
        try:
            for chunk in chunks:
                lines, newline, rest = (rest + chunk).rpartition(b"\n")
                if newline:
                    self.note(lines.decode("utf-8", "replace"))
                yield chunk
        finally:
            self.note(rest.decode("utf-8", "replace"))

    def _write(self, mark: str, head: list[str], body: str = "") -> None:
        import re

        lines = [mark + line for line in head] + ([body] if body else [])
        text = re.sub(_UNPRINTABLE, lambda found: f"\\u{ord(found[0]):04x}", mask("\n".join(lines))) + "\n"
        if not self._path:
            sys.stderr.write(text)
            return
        path = Path(self._path).expanduser()
        try:
            path.touch(mode=0o600)
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise ProviderError(
                "config", f"cannot write to MINO_DEBUG_FILE, {path}: {error.strerror}"
            ) from error


def _shown(headers: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}: {MASK if names_a_secret(name) else value}" for name, value in headers]
