"""Conversations in memory and in JSONL files."""
