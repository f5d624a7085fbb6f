"""Drawing an answer: rich, plain and json."""
