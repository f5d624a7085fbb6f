"""Needs what nobody has."""

import nowhere_to_be_found  # noqa: F401
