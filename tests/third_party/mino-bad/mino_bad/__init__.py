"""Modules that each break one promise."""
