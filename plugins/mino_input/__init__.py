"""Reading a line: the full editor, and plain lines."""
