"""What every block is drawn for: the window, what it can show, and how far back it may look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .look import DIM, Look, Palette

if TYPE_CHECKING:
    from mino_core import Screen


class Page:
    """The window of one answer. `parsed` counts the characters that were read for their meaning."""

    def __init__(
        self, columns: int, rows: int, palette: Palette, bits: int = 0, *, moves: bool = True
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.palette = palette
        self.bits = bits
        #: Whether the cursor can be put into a column.
        self.moves = moves
        self.parsed = 0
        #: An emphasis or a link that goes over more lines is none.
        self.lines = max(1, min(4, rows - 6))
        self._begun = columns, rows

    def limit(self, margin: int = 0) -> int:
        """An emphasis or a link of more characters is none: what is open must fit on the screen.

        Behind a `margin` of so many cells there is less room. The size that the window had at first
        counts, so that no paragraph changes its mind.
        """
        columns, rows = self._begun
        width = max(columns - margin, 1)
        return max(width if rows < 8 else 2 * width, min(2000, width * (rows - 8) // 2))

    @property
    def room(self) -> int:
        """Cells that one open line may take: what is open must fit on the screen."""
        return self.columns * max(self.rows - 2, 1)

    @property
    def plain(self) -> Look:
        """The look of words without any markup."""
        return self.palette.look(self.bits)

    @property
    def dim(self) -> Look:
        """The look of what is there for order's sake only."""
        return self.palette.look(self.bits | DIM)

    @classmethod
    def of(cls, screen: Screen, bits: int = 0) -> Page:
        """The page that this screen is now."""
        palette = Palette(screen.colour, screen.hyperlinks)
        return cls(screen.columns, screen.rows, palette, bits, moves=screen.can_move)

    def resize(self, screen: Screen) -> None:
        """Note the size that the window has now."""
        self.columns, self.rows = screen.columns, screen.rows
