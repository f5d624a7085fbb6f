"""Getting a socket to a server: directly or through a proxy, with TLS where the address asks for it."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from mino_core.errors import ProviderError

from .address import Address
from .failures import not_connected
from .network import FAULTS, Watched
from .proxies import Proxy

CONNECT_SECONDS = 10.0
_SOCKS_REPLIES = {
    1: "failed",
    2: "does not allow it",
    3: "cannot reach its network",
    4: "cannot reach it",
    5: "was refused there",
    6: "waited too long",
}


def dial(address: Address, proxy: Proxy | None, context: ssl.SSLContext | None) -> socket.socket:
    """A socket that carries requests for this address; ProviderError (`connect`) where none comes about."""
    where, setting = address.where, "`base_url`"
    if proxy is not None:
        where, setting = f"the proxy {proxy.where} (from {proxy.source})", proxy.source
    try:
        host, port = (address.host, address.port) if proxy is None else (proxy.host, proxy.port)
        # As bytes, a name needs no codec for other scripts, whose import takes 5 ms.
        name: Any = host.encode() if host.isascii() else host
        sock = socket.create_connection((name, port), CONNECT_SECONDS)
    except OSError as error:
        raise not_connected(error, where, setting) from error
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a model may think for minutes
        if proxy is not None and proxy.is_socks:
            _through_socks(sock, proxy, address)
        elif proxy is not None and context is not None:
            _through_http(sock, proxy, address)
        if context is not None:
            where, setting = address.where, "`base_url`"
            sock = context.wrap_socket(sock, server_hostname=address.host)
    except BaseException as error:
        sock.close()
        if isinstance(error, FAULTS):
            raise not_connected(error, where, setting) from error
        raise
    return sock


def _through_http(sock: socket.socket, proxy: Proxy, address: Address) -> None:
    """Ask an HTTP proxy for a tunnel."""
    lines = [f"CONNECT {address.where} HTTP/1.1", f"Host: {address.where}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    sock.sendall("\r\n".join([*lines, "", ""]).encode())
    response = HTTPResponse(Watched(sock, CONNECT_SECONDS), method="CONNECT")  # type: ignore[arg-type]  # see Watched
    response.begin()
    if response.status // 100 != 2:
        cure = "; it wants a user name and password in its address" if response.status == 407 else ""
        raise OSError(f"it says {response.status} {response.reason}{cure}")


def _through_socks(sock: socket.socket, proxy: Proxy, address: Address) -> None:
    """Ask a SOCKS 5 proxy for a tunnel (RFC 1928, 1929); it looks the host up."""
    name, password = map(_counted, proxy.login)
    sock.sendall(b"\x05\x02\x00\x02" if proxy.login[0] else b"\x05\x01\x00")
    version, method = _exactly(sock, 2)
    if version == 5 and method == 2:
        sock.sendall(b"\x01" + name + password)
        if _exactly(sock, 2)[1] != 0:
            raise OSError("it refuses the user name and password")
    elif version != 5 or method != 0:
        raise OSError("it wants a user name and password" if version == 5 else "it does not speak SOCKS 5")
    sock.sendall(b"\x05\x01\x00\x03" + _counted(address.host) + address.port.to_bytes(2, "big"))
    _, reply, _, kind = _exactly(sock, 4)
    if reply != 0:
        raise OSError(f"the connection to {address.where} {_SOCKS_REPLIES.get(reply, 'failed')}")
    size = {1: 4, 4: 16}.get(kind) or _exactly(sock, 1)[0]
    _exactly(sock, size + 2)


def _counted(text: str) -> bytes:
    data = text.encode()
    if len(data) > 255:
        raise OSError("its protocol knows no name or password of more than 255 bytes")
    return bytes([len(data)]) + data


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise OSError("it closed the connection")
        data += piece
    return data


def make_tls(ca_file: str, environ: Mapping[str, str]) -> ssl.SSLContext:
    """What trusts servers: `ca_file`, else SSL_CERT_FILE and SSL_CERT_DIR, else the certificates of certifi.

    Takes 20 ms. ProviderError (`config`) where they cannot be read.
    """
    source, file = ("ca_file", ca_file) if ca_file else ("SSL_CERT_FILE", environ.get("SSL_CERT_FILE", ""))
    folder = "" if ca_file else environ.get("SSL_CERT_DIR", "")
    if not file and not folder:
        import certifi

        file = certifi.where()
    elif folder and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise ProviderError("config", f"SSL_CERT_DIR: there is no folder {folder}")
    try:
        context = ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:  # ssl.SSLError is one
        is_there = isinstance(error, ssl.SSLError) and Path(file).is_file()
        problem = "holds no certificates in PEM form" if is_there else "cannot be read"
        raise ProviderError("config", f"{source}: {file} {problem}") from error
    context.set_alpn_protocols(["http/1.1"])
    return context
