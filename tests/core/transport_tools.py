"""What the tests of the transport share: an endpoint without an environment, asked for once."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from mino_core import ProviderError, Settings
from mino_core.transport import Endpoint

ONE = b'data: {"n": 1}\n\n'
KEY = "sk-very-secret-0123456789"


def endpoint(url: str, environ: dict[str, str] | None = None, **settings: Any) -> Endpoint:
    return Endpoint(Settings({"base_url": url, **settings}, path="providers.demo", environ=environ or {}))


def ask(url: str, environ: dict[str, str] | None = None, **settings: Any) -> list[tuple[str, str]]:
    with closing(endpoint(url, environ, **settings)) as made:
        return list(made.events("/chat", {"q": "é"}))


def failure(url: str, environ: dict[str, str] | None = None, **settings: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(url, environ, **settings)
    error = caught.value
    assert len(error.message) < 300
    assert error.message.isprintable()
    assert KEY not in repr(error.as_json())
    return error
