"""Writes what the documentation takes from the code: one page from docstrings, two tables from helps.

python tests/docs/write.py
"""

from __future__ import annotations

import offered
import public

if __name__ == "__main__":
    for source in (public, offered):
        source.PAGE.write_text(source.page(), "utf-8")
