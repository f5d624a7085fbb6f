"""The errors that mino shows as one sentence, without a traceback.

MinoError
├── UsageError       the command line asks for what cannot be            exit code 2
├── ConfigError      a configuration value is wrong                      exit code 2
├── PluginError      a plugin broke a promise
├── HistoryError     a conversation cannot be found, read or kept
│   └── Busy         another process writes this conversation
└── ProviderError    an answer failed, broke off or was cut short
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class MinoError(Exception):
    """Anything mino tells the user in one sentence: the thing, what is wrong, what to do.

    `exit_code` is what a program ends with that could not get past this error.
    """

    exit_code = 1


class UsageError(MinoError):
    """The command line asks for something that cannot be done."""

    exit_code = 2


class ConfigError(MinoError):
    """One or more configuration values are wrong; the message has a line for each."""

    exit_code = 2


class PluginError(MinoError):
    """A plugin broke a promise; the message names the plugin and how to disable it."""

    exit_code = 2


class HistoryError(MinoError):
    """A conversation cannot be found, read or kept."""

    exit_code = 2


class Busy(HistoryError):
    """Another process writes this conversation; `owner` says which, in words."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"this conversation is open in {owner}")
        self.owner = owner


class ProviderError(MinoError):
    """Why an answer did not complete.

    `kind` is where it went wrong: `config`, `auth`, `connect`, `http`, `timeout`, `stream` (broke
    while open), `protocol` (malformed), `server` (an error event), `empty`, `plugin`; for an
    answer that the server stopped early it is the stop itself: `length`, `filter`, `refusal`,
    `pause`, `rounds`. `status` is the HTTP status, `retry_after` is in seconds.
    """

    exit_code = 3

    def __init__(
        self,
        kind: str,
        message: str,
        status: int | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after

    def as_json(self) -> dict[str, object]:
        """The form in records and in the `json` renderer's lines."""
        return {
            "kind": self.kind,
            "message": self.message,
            "status": self.status,
            "request_id": self.request_id,
            "retry_after": self.retry_after,
        }


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What follows on an unknown word: `; did you mean …?`, or nothing where no known one is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""
