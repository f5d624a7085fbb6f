"""What holds for a conversation wherever it is kept."""

from __future__ import annotations

from mino_core import Head, HistoryError

_DIGITS = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FORMAT = 1


def check_id(id: object) -> None:
    """Refuse what is not an id before it can become part of a path."""
    if not (isinstance(id, str) and len(id) == 26 and _DIGITS.issuperset(id)):
        shown = repr(id)
        raise HistoryError(f"{shown[:60]} is not the id of a conversation; see `mino history list`")


def check_format(head: Head) -> None:
    """Refuse to go on with what a later mino wrote: it may mean what this one does not know."""
    if (found := head.get("format", _FORMAT)) != _FORMAT:
        raise HistoryError(
            f"conversation {head['id']} was written by a newer mino (format {found!r}, this one writes "
            f"{_FORMAT}): it can be read and copied, not continued"
        )


def unknown(id: str) -> HistoryError:
    """There is no such conversation."""
    return HistoryError(f"there is no conversation {id}; see `mino history list`")
