"""Secrets: values that cannot be formatted, and the mask that keeps them out of every text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from .errors import ConfigError

MASK = "***"
#: Seconds that a `cmd:` may take.
_COMMAND_LIMIT = 10.0
#: A shorter value is a placeholder for a server that wants none; masking it would spoil every text.
_SHORTEST = 6
#: Longer ones that the pages of such servers name.
_PLACEHOLDERS = frozenset(
    {"ollama", "lm-studio", "lmstudio", "not-needed", "no-key", "no-key-required", "sk-no-key-required"}
    | {"anything", "placeholder", "secret", "password", "api-key", "api_key", "llama.cpp", "token"}
)
#: What names a secret, as the last word of a name.
_NAMES = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "passphrase"}
    | {"authorization", "cookie", "credential", "credentials"}
)
#: The places where one can be kept, each as it is written.
_EXAMPLES = {"env": "env:NAME", "file": "file:PATH", "cmd": "cmd:COMMAND"}
#: Every value that was ever revealed in this process, longest first.
_known: list[str] = []


def remember(value: str) -> None:
    """Mask this value from now on, also as it stands in JSON, unless it is no secret."""
    if value.lower() in _PLACEHOLDERS:
        return
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    for form in {value, quoted}:
        if len(form) >= _SHORTEST and form not in _known:
            _known.append(form)
            _known.sort(key=len, reverse=True)


def remember_parts(value: str) -> None:
    """Mask the value of a header, and what is secret in it: `Bearer KEY`, `session=KEY; path=/`."""
    remember(value)
    parts = value.replace(";", " ").replace(",", " ").split()
    for word in (*value.split(), *parts):  # a key may hold what parts a list
        if len(parts) == 1 or not word.isalpha():  # else it says only what follows
            remember(word)
        remember(word.partition("=")[2])


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for a program that a model may have chosen: no key of mino, and no `…_API_KEY`."""
    return {
        name: value
        for name, value in environ.items()
        if value.strip() not in _known and not name.upper().endswith("_API_KEY")
    }


def mask(text: str) -> str:
    """The text with every known secret in it masked, by exact match."""
    for value in _known:
        if value in text:
            text = text.replace(value, MASK)
    return text


def names_a_secret(key: str) -> bool:
    """Whether what goes by this name is a secret: `api_key`, `X-Auth-Token`, `db.password`."""
    return key.lower().replace("-", "_").replace(".", "_").rpartition("_")[2] in _NAMES


def is_place(value: str) -> bool:
    """Whether a text says where a secret is kept, and is none itself."""
    kind, _, rest = value.strip().partition(":")
    return kind in _EXAMPLES and bool(rest.strip())


class Secret:
    """A key or password. `reveal()` is the only way to its value; `source` says where it is kept.

    A `cmd:` runs at the first `reveal()`, once; ConfigError where it fails or says nothing.
    """

    __slots__ = ("_read", "_value", "source")

    def __init__(self, source: str, read: Callable[[], str]) -> None:
        self.source = source
        self._read = read
        self._value: str | None = None

    def reveal(self) -> str:
        """The value itself, known to `mask` from now on."""
        if self._value is None:
            self._value = self._read()
            remember(self._value)
        return self._value

    def __repr__(self) -> str:
        return f"<secret from {self.source}>"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret cannot be copied out of the process")


def parse(value: str, key: str, environ: Mapping[str, str], directory: Path) -> Secret | None:
    """The secret that `env:NAME`, `file:PATH`, `cmd:COMMAND` or a literal stands for; None if blank.

    `env:` and `file:` are read now. Raises ConfigError, without place, where there is nothing.
    """
    kind, colon, rest = value.strip().partition(":")
    rest = rest.strip()
    if colon and not rest and kind in ("env", "file", "cmd"):
        raise ConfigError(f"{kind}: names no place; write {_EXAMPLES[kind]}")
    if colon and kind == "env":
        if not environ.get(rest, "").strip():
            raise ConfigError(
                f"the environment variable {rest} is not set; set it, or name another place in config.toml"
            )
        return _known_secret(rest, environ[rest].strip())
    if colon and kind == "file":
        path = directory / Path(rest).expanduser()
        try:
            text = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the key from {path}: {_reason(error)}") from error
        if not text:
            raise ConfigError(f"the key file {path} is empty")
        return _known_secret(str(path), text)
    if colon and kind == "cmd":
        return Secret(f"`{rest}`", lambda: _run(rest, key))
    return _known_secret(key, value.strip()) if value.strip() else None


def _known_secret(source: str, value: str) -> Secret:
    secret = Secret(source, lambda: value)
    secret.reveal()
    return secret


def _run(command: str, key: str) -> str:
    import subprocess

    try:
        done = subprocess.run(  # noqa: S602 (the user's own command, from the user's own file)
            command, shell=True, capture_output=True, text=True, timeout=_COMMAND_LIMIT, check=True
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"{key}: the command took longer than {_COMMAND_LIMIT:g} s") from error
    except subprocess.CalledProcessError as error:
        raise ConfigError(f"{key}: the command ended with code {error.returncode}") from error
    except (OSError, ValueError) as error:  # UnicodeDecodeError is one
        raise ConfigError(f"{key}: the command failed: {_reason(error)}") from error
    if not done.stdout.strip():
        raise ConfigError(f"{key}: the command printed nothing")
    return done.stdout.strip()


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
