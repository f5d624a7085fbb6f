"""Which proxy a request goes through: the usual environment variables, read without a library's guesses."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from mino_core.errors import ProviderError
from mino_core.secret import remember
from mino_core.values import value

#: Schemes, with the port that goes without saying.
_SCHEMES = {"http": 80, "socks5": 1080, "socks5h": 1080}


@value
class Proxy:
    """A proxy; `source` is the variable or the setting that names it."""

    _unshown = ("url",)  # it may hold a password

    url: str
    source: str

    @property
    def host(self) -> str:
        """A name or a number."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port, the scheme's own if the address says none."""
        parts = urlsplit(self.url)
        return parts.port or _SCHEMES[parts.scheme]

    @property
    def where(self) -> str:
        """Host and port, for a sentence."""
        return f"{self.host}:{self.port}"

    @property
    def login(self) -> tuple[str, str]:
        """User name and password, empty where there are none."""
        parts = urlsplit(self.url)
        return unquote(parts.username or ""), unquote(parts.password or "")

    @property
    def authorization(self) -> str:
        """The value of Proxy-Authorization, or nothing."""
        from base64 import b64encode

        name, password = self.login
        return "Basic " + b64encode(f"{name}:{password}".encode()).decode() if name else ""

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS 5 instead of HTTP."""
        return self.url.lower().startswith("socks")


def is_loopback(host: str) -> bool:
    """Whether a host can only be this machine."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy that the environment names for a server, or None; never one for this machine itself.

    Reads `https_proxy` or `http_proxy`, then `all_proxy`, then `no_proxy`, each in lower case first.
    Raises ProviderError (`config`) naming the variable where its value is no address of a proxy.
    """
    if is_loopback(host):
        return None
    for variable in (f"{scheme}_proxy", "all_proxy"):
        for name in (variable, variable.upper()):
            if value := environ.get(name, "").strip():
                excepted = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
                return None if _is_excepted(host, port, excepted) else checked(value, name)
    return None


def hide_passwords(environ: Mapping[str, str]) -> None:
    """Have the passwords of all proxies masked, before any is used."""
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        for name in (variable, variable.upper()):
            _hide_password(environ.get(name, ""))


def _hide_password(address: str) -> None:
    user, at, _ = address.rpartition("@")
    if at:
        password = user.rpartition("://")[2].partition(":")[2]
        remember(password)
        remember(unquote(password))


def may_be_host(host: str) -> bool:
    """Whether a name or a number holds only what is in one."""
    return all(char.isalnum() or char in "-._:%" for char in host)


def checked(value: str, source: str) -> Proxy:
    """A proxy from what a person wrote: `host:port` is an http one. ProviderError (`config`) if wrong."""
    _hide_password(value)
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_usable = parts.scheme in _SCHEMES and parts.port != 0 and host != "" and may_be_host(host)
        is_usable = is_usable and url.isprintable()
    except ValueError:
        is_usable = False
    if not is_usable:
        allowed = ", ".join(f"{scheme}://host:port" for scheme in _SCHEMES)
        raise ProviderError("config", f"{source} is not the address of a proxy; write {allowed}")
    return Proxy(url, source)


def _is_excepted(host: str, port: int, no_proxy: str) -> bool:
    """Whether `no_proxy` names this host: `*`, a host, a `.suffix`, a network, each maybe with a port."""
    host = host.rstrip(".")
    for entry in no_proxy.replace(",", " ").lower().split():
        name, colon, wanted = entry.rpartition(":")
        if not (colon and wanted.isdecimal() and (":" not in name or name.endswith("]"))):
            name = entry
        elif int(wanted) != port:
            continue
        if name == "*":
            return True
        name = name.strip("[]").removeprefix("*").strip(".")
        if name and (host == name or host.endswith(f".{name}") or _is_in_network(host, name)):
            return True
    return False


def _is_in_network(host: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
