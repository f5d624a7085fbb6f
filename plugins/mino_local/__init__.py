"""The embedded model: a child process that speaks the chat dialect."""
