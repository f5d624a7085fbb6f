"""A console script that does nothing: what every other one costs at least."""


def main() -> int:
    return 0
