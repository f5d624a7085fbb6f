"""Providers for OpenAI Responses and Chat Completions."""
