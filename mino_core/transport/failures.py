"""Every failure of the wire as one sentence: what happened, the server's own words, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mino_core.errors import ProviderError
from mino_core.secret import mask

from .foreign import LIMIT, plain, title_of

if TYPE_CHECKING:
    from mino_core.secret import Secret

    from .address import Address

#: Seconds, a month: nobody means to wait longer.
_LONGEST = 2_678_400.0
_REQUEST_IDS = ("x-request-id", "request-id", "x-generation-id", "cf-ray")
#: X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH
_OTHER_HOST = (62, 64)


def request_id(headers: Mapping[str, str]) -> str:
    """What the server calls this request, or nothing."""
    return next((plain(headers[name], 80) for name in _REQUEST_IDS if headers.get(name)), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait, in seconds."""
    import time
    from email.utils import parsedate_to_datetime

    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds <= _LONGEST else None
    try:
        seconds = parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
        return max(0.0, seconds) if seconds <= _LONGEST else None
    except (KeyError, ValueError, OverflowError):
        return None


def refused(
    status: int, headers: Mapping[str, str], body: str, host: str, key: Secret | None
) -> ProviderError:
    """The error for a status from 300 up; `key` is the one that was sent."""
    words, told = _words(body)
    identity, wait = request_id(headers) or told, retry_after(headers)
    if 300 <= status < 400:
        target = re.split("[?#]", mask(headers.get("location", "")), maxsplit=1)[0]
        words = f"redirects to {plain(target, 120)}" if target else "redirects, but does not say where to"
    hint = _hint(status, words, wait, key)
    head = f"HTTP {status} from {host}: "
    tail = (f"; {hint}" if hint else "") + (f" (request {identity})" if identity else "")
    said = plain(words or "empty body", max(LIMIT - len(head) - len(tail), 60))
    kind = "auth" if status in (401, 403) else "http"
    return ProviderError(kind, head + said + tail, status, identity, wait)


def _words(body: str) -> tuple[str, str]:
    """What the body of an error says, and the id that it gives its request."""
    import json

    from .decoding import error_text, named_request

    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return title_of(body) or plain(body), ""
    return (plain(error_text(value)) if value else ""), named_request(value)


def _hint(status: int, words: str, wait: float | None, key: Secret | None) -> str:
    """What to do about it."""
    match status:
        case 401 | 403:
            return f"the key came from {plain(key.source, 60)}" if key else "no key was sent; set `api_key`"
        case 404 | 405:
            return "check the model, and whether `base_url` needs or has a `/v1`"
        case 407:
            return "the proxy wants a user name and password in its address"
        case 413:
            return "the request is too large for this server; /clear starts afresh"
        case _ if 300 <= status < 400:
            return "mino follows no redirects; put the final address into `base_url`"
        case _ if status < 500 and "stream_options" in words:
            return "set `include_usage = false`"
        case _ if status < 500 and "max_completion_tokens" in words:
            return "set `max_tokens_field`"
        case 429 if "insufficient_quota" in words:
            return "waiting does not help; look at the account's plan"
        case _ if status in (408, 409, 429) or status >= 500:
            return f"ask again in {wait:.7g} s" if wait else "ask again in a while"
    return ""


# -- without a status --------------------------------------------------------------------------


def not_connected(error: Exception, where: str, setting: str) -> ProviderError:
    """The error where no connection came about, by what the system says; `setting` is what says where to."""
    return ProviderError("connect", plain(_why_not(error, where, setting)))


def _why_not(error: Exception, where: str, setting: str) -> str:
    import socket
    import ssl

    match error:
        case ssl.SSLCertVerificationError() if error.verify_code in _OTHER_HOST:
            return f"the certificate that {where} shows belongs to another host; check {setting}"
        case ssl.SSLCertVerificationError():
            return (
                f"the certificate of {where} is not trusted ({error.verify_message});"
                " name the authority's file with `ca_file` or SSL_CERT_FILE"
            )
        case TimeoutError():
            return f"cannot connect to {where}: it does not answer"
        case ssl.SSLError():
            return f"{where} does not speak TLS ({error.reason or error}); check {setting}, maybe http://"
        case ConnectionRefusedError():
            return f"nothing listens at {where} (connection refused); is the server running?"
        case socket.gaierror():
            return f"the host of {where} is unknown ({error.strerror}); check {setting} and the network"
        case OSError() if error.strerror:
            return f"cannot connect to {where}: {error.strerror}"
    return f"cannot connect to {where}: {error}"


def unanswered(error: Exception, address: Address, wait: float) -> ProviderError:
    """The error where the connection stood but no answer began; reads took up to `wait` seconds."""
    from http.client import HTTPException

    match error:
        case TimeoutError():
            return ProviderError("timeout", _silence(address, wait))
        case OSError():  # http.client's RemoteDisconnected is one
            return ProviderError(
                "connect", f"{address.where} closed the connection without an answer; ask again"
            )
        case HTTPException():
            said = plain(str(error), 120)
            words = f"{address.where} does not speak HTTP here{said and ': '}{said}; check `base_url`"
            return ProviderError("protocol", words)
    return ProviderError("connect", plain(f"{address.where}: {error}"))


def broken(error: Exception, address: Address, wait: float) -> ProviderError:
    """The error where an answer had begun: kind `stream`, or `timeout` with its status."""
    if isinstance(error, TimeoutError):
        return ProviderError("timeout", _silence(address, wait), 200)
    from http.client import IncompleteRead

    is_short = isinstance(error, IncompleteRead)
    said = getattr(error, "strerror", None) or str(error)
    words = "the server closed it" if is_short else plain(said, 120) or type(error).__name__
    return ProviderError("stream", f"the connection broke before the answer was complete: {words}", 200)


def _silence(address: Address, wait: float) -> str:
    return f"{address.host} sent nothing for {wait:g} s; `read_timeout` can be raised"
