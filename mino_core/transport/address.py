"""What the settings of an HTTP provider say, read and checked once."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from mino_core.errors import ProviderError
from mino_core.secret import Secret, mask, names_a_secret, remember, remember_parts
from mino_core.settings import Settings
from mino_core.values import value

from .proxies import Proxy, checked, is_loopback, may_be_host

_SAFE = "/%:@!$&'()*+,;=~-._"
#: What the name of a header may hold besides letters and digits (RFC 9110, section 5.6.2).
_IN_NAMES = "!#$%&'*+-.^_`|~"
#: Headers by which a server tells where the body ends.
_OURS = ("content-length", "transfer-encoding")


@value
class Address:
    """Where a server is. `where` is host and port, `netloc` what the Host header says."""

    _unshown = ("url", "query")  # a query may hold a key

    url: str
    scheme: str
    host: str
    port: int
    netloc: str
    path: str
    query: str

    @property
    def where(self) -> str:
        """Host and port, for a sentence."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        return is_loopback(self.host)

    def target(self, path: str) -> str:
        """What a request line asks for: this path below the base, the base's query kept."""
        return self.path + path + self.query


def read_address(settings: Settings, default: str) -> Address:
    """The address in the setting `base_url`; ConfigError where it is none.

    A key in its query is a secret like any other.
    """
    url = settings.text("base_url", default).strip()
    _hide_keys(url.partition("?")[2])
    if not url:
        raise settings.error("base_url", "is missing")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _ascii(parts.hostname or "")
    except ValueError as error:  # UnicodeError is one
        raise settings.error("base_url", f"is no address: {error}") from error
    if port == 0 or not url.isprintable() or not may_be_host(host):
        raise settings.error("base_url", "is no address: its host, its port or a character in it cannot be")
    if parts.scheme not in ("http", "https") or not host:
        raise settings.error("base_url", f"must begin with https:// or http://, not {mask(url)!r}")
    if parts.username is not None:
        raise settings.error("base_url", "must not hold a user name or password; use `api_key`")
    bracketed = f"[{host}]" if ":" in host else host
    query = quote(parts.query, safe=f"{_SAFE}?")
    _hide_keys(query)
    return Address(
        url=url.rstrip("/"),
        scheme=parts.scheme,
        host=host,
        port=port or (443 if parts.scheme == "https" else 80),
        netloc=bracketed if port is None else f"{bracketed}:{port}",
        path=quote(parts.path.rstrip("/"), safe=_SAFE),
        query=f"?{query}" if query else "",
    )


def _ascii(host: str) -> str:
    """A host as the wire has it; UnicodeError where it can be no host's name."""
    if host.isascii() and all(0 < len(label) < 64 for label in host.split(".")):
        return host  # the codec would say the same, and costs two large imports
    return host.encode("idna").decode()


def read_headers(settings: Settings) -> dict[str, str | Secret]:
    """The extra headers, each a text, or a secret by `env:`, `file:`, `cmd:`; ConfigError if one is none."""
    headers: dict[str, str | Secret] = {}
    for name in settings:
        value = settings.text(name)
        if not (name.isascii() and name and all(char.isalnum() or char in _IN_NAMES for char in name)):
            raise settings.error(name, "is no name of a header")
        if name.lower() in _OURS:
            raise settings.error(name, "cannot be set: mino says itself how long a request is")
        if not (value.isascii() and value.isprintable()):
            raise settings.error(name, "holds characters that a header cannot carry")
        secret = settings.secret(name) if value.startswith(("env:", "file:", "cmd:")) else None
        if secret is None and names_a_secret(name):
            remember_parts(value)
        headers[name] = secret or value
    return headers


def read_max_tokens(settings: Settings, default: int | None) -> int | None:
    """The setting `max_tokens`: a number from 1 up, or the default."""
    value = settings.number("max_tokens", default)
    if value is not None and value < 1:
        raise settings.error("max_tokens", "must be a number from 1 up")
    return None if value is None else int(value)


def read_proxy(settings: Settings) -> Proxy | None:
    """The proxy in the settings: None where they say nothing, one without url where they say "none"."""
    value = settings.text("proxy", None)
    if value is None or not value.strip():
        return None if value is None else Proxy("", "proxy")
    try:
        return checked(value.strip(), settings.key("proxy"))
    except ProviderError as error:
        raise settings.error("proxy", error.message.removeprefix(f"{settings.key('proxy')} ")) from error


def read_file(settings: Settings, key: str) -> str:
    """The path of a file that has to be there, or nothing."""
    text = settings.text(key, "")
    if not text:
        return ""
    path = settings.home / Path(text).expanduser()
    if not path.is_file():
        raise settings.error(key, f"there is no file {path}")
    return str(path)


def _hide_keys(query: str) -> None:
    """Have the keys in a query masked wherever they stand, as written and as meant."""
    if not query:
        return
    written = dict(pair.partition("=")[::2] for pair in query.partition("#")[0].split("&"))
    for name, key in [*parse_qsl(query), *written.items()]:
        if names_a_secret(name):
            remember(key)
