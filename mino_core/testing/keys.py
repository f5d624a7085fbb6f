"""What a terminal sends for the keys of a keyboard, and the modes that it starts in."""

from __future__ import annotations

#: The private modes that are on in a fresh terminal: wrapping, and a visible cursor.
FRESH_MODES = frozenset({7, 25})
#: Private modes that change what is sent.
CURSOR_KEYS, BRACKETED_PASTE = 1, 2004

_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_NAMED = {
    "enter": "\r",
    "tab": "\t",
    "shift-tab": "\x1b[Z",
    "space": " ",
    "escape": "\x1b",
    "backspace": "\x7f",
    "insert": "\x1b[2~",
    "delete": "\x1b[3~",
    "page-up": "\x1b[5~",
    "page-down": "\x1b[6~",
    "ctrl-left": "\x1b[1;5D",
    "ctrl-right": "\x1b[1;5C",
}


def pressed(key: str, modes: frozenset[int]) -> str:
    """What one key sends, by its name; ValueError where no key is called so."""
    if key in _CURSOR:
        return f"\x1b{'O' if CURSOR_KEYS in modes else '['}{_CURSOR[key]}"
    if key in _NAMED:
        return _NAMED[key]
    if key.startswith("alt-"):
        return "\x1b" + pressed(key.removeprefix("alt-"), modes)
    if key.startswith("ctrl-") and len(key) == len("ctrl-x"):
        return chr(ord(key[-1].upper()) & 0x1F)
    if len(key) == 1:
        return key
    raise ValueError(f"no key is called {key!r}")


def pasted(text: str, modes: frozenset[int]) -> str:
    """What a paste sends: every line end as Enter, between brackets where the program wants them."""
    text = text.replace("\r\n", "\r").replace("\n", "\r")
    if BRACKETED_PASTE in modes:
        return f"\x1b[200~{text.replace(chr(27), '')}\x1b[201~"
    return text
