"""Written for a mino that is still to come."""

MINO_API = 99
