"""Cannot be compiled."""

return 7  # noqa: F706 (which is the point)
