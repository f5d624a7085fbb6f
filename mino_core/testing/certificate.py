"""A certificate for loopback, made for one test."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path


class Certificate:
    """Self-signed, for localhost, 127.0.0.1 and ::1, at `path`; skips the test without openssl."""

    def __init__(self) -> None:
        program = shutil.which("openssl")
        if program is None:
            import pytest

            pytest.skip("there is no openssl to make a certificate with")
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name) / "certificate.pem"
        key = self.path.with_name("key.pem")
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
        make = [
            program,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ]
        make += ["-days", "2", "-subj", "/CN=localhost", "-addext", names]
        subprocess.run([*make, "-keyout", key, "-out", self.path], check=True, capture_output=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.path, key)

    def wrap(self, sock: socket.socket) -> socket.socket:
        """The server's side of a handshake; OSError where it fails."""
        return self._context.wrap_socket(sock, server_side=True)

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()
