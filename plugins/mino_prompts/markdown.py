"""A Markdown file as a command: what stands in its front matter, and the text below."""

from __future__ import annotations

from typing import NamedTuple

#: A summary is one line of the help.
_LONGEST = 80
#: What YAML puts in front of a text of several lines.
_BLOCKS = frozenset({"|", ">", "|-", ">-"})


class Markdown(NamedTuple):
    """`description`, `hint` and `model` are empty where the file does not say them."""

    body: str
    description: str = ""
    hint: str = ""
    model: str = ""

    @classmethod
    def read(cls, data: bytes) -> Markdown:
        """A file's bytes. Keys that mean nothing here are passed over: other programs may know them."""
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        front, body = _apart(text)
        description = front.get("description") or _first_words(body)
        return cls(body.strip(), description, front.get("argument-hint", ""), front.get("model", ""))


def _apart(text: str) -> tuple[dict[str, str], str]:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    ends = (n for n, line in enumerate(lines) if n and line.rstrip() == "---")
    end = next(ends, None)
    if end is None:
        return {}, text
    return _pairs(lines[1:end]), "\n".join(lines[end + 1 :])


def _pairs(lines: list[str]) -> dict[str, str]:
    """`key: value` by line; indented lines go on with the value above."""
    found: dict[str, str] = {}
    key = ""
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            if key:
                found[key] = f"{found[key]} {line.strip()}".strip()
            continue
        key, _, value = line.partition(":")
        key = key.strip().lower()
        value = value.strip()
        found[key] = "" if value in _BLOCKS else _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _first_words(body: str) -> str:
    """What a command without a description is about: its first line that says something."""
    line = next((line.strip("# \t") for line in body.split("\n") if line.strip("# \t")), "")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
