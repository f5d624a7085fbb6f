"""Links: where they go must be seen, and only what is safe to open can be opened."""

from __future__ import annotations

import re

from .look import Palette

_LINKABLE = re.compile(r"(?:https?://|mailto:)[!-~]+\Z", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^\s/@]*@)?([^\s/:?#@]+)", re.IGNORECASE)
_LIKE_AN_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?[^\s/@]*\w\.\w[^\s]*", re.IGNORECASE)
#: Longer targets are shown, but not made to be clicked.
_LONGEST = 2000


def target(url: str, palette: Palette) -> str:
    """The address to link to, or nothing where this terminal, or this address, is no good for it."""
    if palette.hyperlinks and len(url) <= _LONGEST and _LINKABLE.match(url):
        return url
    return ""


def addition(label: str, url: str, palette: Palette) -> str:
    """What must stand behind a label so that nobody is misled: nothing, the host, or the address."""
    bare = re.sub(r"\A(?:https?://|mailto:)", "", url)
    if not url or label.strip() in (url, bare, bare.rstrip("/")):
        return ""
    if not target(url, palette):
        return url
    if _LIKE_AN_ADDRESS.search(label) and _host(label) != _host(url):
        return _host(url)
    return ""


def trimmed(url: str) -> str:
    """A bare address without the punctuation of the sentence it stands in."""
    while url:
        last = url[-1]
        if last in ".,:;!?'\"*_~":
            url = url[:-1]
        elif last in ")]}":
            if url.count(last) <= url.count("([{"[")]}".index(last)]):
                break
            url = url[:-1]
        else:
            break
    return url


def _host(address: str) -> str:
    found = _HOST.match(address.strip().removeprefix("mailto:"))
    return found.group(1).lower() if found else ""
