"""Providers for Anthropic Messages."""
