"""The key of one provider: how it is sent, and to whom it never is."""

from __future__ import annotations

from mino_core.errors import ConfigError, ProviderError
from mino_core.secret import Secret, remember_parts
from mino_core.settings import Settings

from .address import Address

_WAYS = ("bearer", "x-api-key")


class Credentials:
    """What the settings `api_key`, `auth` and `allow_http` say; ConfigError where that cannot be."""

    def __init__(self, settings: Settings, address: Address, auth: str) -> None:
        self.key = settings.secret("api_key")
        self._auth = settings.text("auth", auth)
        if self._auth not in _WAYS:
            raise settings.error("auth", f'must be "bearer" or "x-api-key", not {self._auth!r}')
        self._address = address
        self._may_be_read = settings.flag("allow_http", False)

    def headers(self) -> dict[str, str]:
        """The header that carries the key; ProviderError where it must not or cannot be sent."""
        if self.key is None:
            return {}
        address = self._address
        if address.scheme == "http" and not (address.is_local or self._may_be_read):
            raise ProviderError(
                "config",
                f"no key goes to {address.host} over plain http; use https:// or set `allow_http = true`",
            )
        key = told(self.key)
        return {"x-api-key": key} if self._auth == "x-api-key" else {"Authorization": f"Bearer {key}"}


def told(secret: Secret) -> str:
    """A secret's value; ProviderError (`config`) where its command fails or no header can carry it."""
    try:
        value = secret.reveal()
    except ConfigError as error:
        raise ProviderError("config", str(error)) from error
    remember_parts(value)
    if not value.isascii() or not value.isprintable():
        raise ProviderError(
            "config", f"the key from {secret.source} holds characters that no key has; copy it again"
        )
    return value
