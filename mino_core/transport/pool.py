"""One server's connections: made at the first request, with TLS only where the address asks for it.

httpcore, not httpx: it takes a network backend through its front door, and costs half the import.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpcore

from mino_core.errors import ProviderError

from .network import Backend
from .proxies import Proxy

#: Seconds for which an unused connection is kept.
_KEEP_ALIVE = 60.0


def make_pool(
    is_secure: bool, proxy: Proxy | None, ca_file: str, environ: Mapping[str, str], backend: Backend
) -> httpcore.ConnectionPool:
    """The connections of one server.

    `ca_file`, else SSL_CERT_FILE and SSL_CERT_DIR, replace the built-in certificates. Raises
    ProviderError (`config`) where certificates or the proxy cannot be used.
    """
    # Loading the certificates takes 20 ms, and over plain http it would be for nothing.
    context = _tls(ca_file, environ) if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if proxy is None:
        return httpcore.ConnectionPool(
            ssl_context=context, max_connections=None, keepalive_expiry=_KEEP_ALIVE, network_backend=backend
        )
    parts = urlsplit(proxy.url)
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    scheme = parts.scheme.lower()
    if scheme.startswith("socks"):
        if not _has_socks():
            raise ProviderError("config", f"{proxy.source}: a SOCKS proxy needs the package `socksio`")
        return httpcore.SOCKSProxy(
            _address(proxy, "socks5", 1080),
            proxy_auth=login,
            ssl_context=context,
            max_connections=None,
            keepalive_expiry=_KEEP_ALIVE,
            network_backend=backend,
        )
    return httpcore.HTTPProxy(
        _address(proxy, scheme, 443 if scheme == "https" else 80),
        proxy_auth=login,
        ssl_context=context,
        proxy_ssl_context=_tls(ca_file, environ) if scheme == "https" else None,
        max_connections=None,
        keepalive_expiry=_KEEP_ALIVE,
        network_backend=backend,
    )


def _address(proxy: Proxy, scheme: str, port: int) -> httpcore.URL:
    parts = urlsplit(proxy.url)
    host = (parts.hostname or "").encode("idna")
    return httpcore.URL(scheme=scheme.encode(), host=host, port=parts.port or port, target=b"/")


def _has_socks() -> bool:
    from importlib.util import find_spec

    return find_spec("socksio") is not None


def _tls(ca_file: str, environ: Mapping[str, str]) -> ssl.SSLContext:
    source, file = ("ca_file", ca_file) if ca_file else ("SSL_CERT_FILE", environ.get("SSL_CERT_FILE", ""))
    folder = "" if ca_file else environ.get("SSL_CERT_DIR", "")
    if not file and not folder:
        import certifi

        file = certifi.where()
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:  # ssl.SSLError is one
        is_missing = not isinstance(error, ssl.SSLError) or not Path(file).is_file()
        what = "cannot be read" if is_missing else "holds no certificates in PEM form"
        raise ProviderError("config", f"{source}: {file or folder} {what}") from error
