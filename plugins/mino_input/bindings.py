"""The keys that are ours; all others are those of Emacs or vi, as prompt_toolkit has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import emacs_mode, has_focus, has_selection, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from . import letters, outside
from .keys import BURST

if TYPE_CHECKING:
    from .line import Line


def bindings(line: Line) -> KeyBindings:
    """The keys of a line."""
    keys = KeyBindings()
    here = has_focus(line.buffer)

    @keys.add("enter", filter=here)
    def send(event: KeyPressEvent) -> None:
        line.send(is_burst=event.data == BURST)

    @keys.add("c-j", filter=here)
    @keys.add("escape", "enter", filter=here & emacs_mode)
    def newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=here)
    def paste(event: KeyPressEvent) -> None:
        line.paste(event.data)

    @keys.add(Keys.BracketedPaste, filter=~here)
    def paste_what_is_searched_for(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(" ".join(event.data.split()))

    @keys.add("c-c", filter=here)
    def clear(event: KeyPressEvent) -> None:
        if line.buffer.text:
            line.clear()
        else:
            event.app.exit(exception=KeyboardInterrupt())

    @keys.add("c-d", filter=here)
    def end(event: KeyPressEvent) -> None:
        if line.buffer.text:
            line.buffer.delete(_ahead(line.buffer, event.arg))
        else:
            event.app.exit(exception=EOFError())

    unmarked = here & ~has_selection

    @keys.add("delete", filter=unmarked)
    def delete(event: KeyPressEvent) -> None:
        line.buffer.delete(_ahead(line.buffer, event.arg))

    @keys.add("backspace", filter=unmarked)
    def rub_out(event: KeyPressEvent) -> None:
        line.buffer.delete_before_cursor(_behind(line.buffer, event.arg))

    @keys.add("left", filter=unmarked)
    @keys.add("c-b", filter=unmarked & emacs_mode)
    def left(event: KeyPressEvent) -> None:
        column = line.buffer.document.cursor_position_col
        line.buffer.cursor_position -= min(_behind(line.buffer, event.arg), column)

    @keys.add("right", filter=unmarked)
    @keys.add("c-f", filter=unmarked & emacs_mode)
    def right(event: KeyPressEvent) -> None:
        room = len(line.buffer.document.current_line_after_cursor)
        line.buffer.cursor_position += min(_ahead(line.buffer, event.arg), room)

    @keys.add("c-z")
    def suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("c-x", "c-e", filter=here & emacs_mode & ~has_selection)
    @keys.add("v", filter=here & vi_navigation_mode)
    async def edit(event: KeyPressEvent) -> None:
        async with in_terminal():
            try:
                text = outside.edit(line.buffer.text)
            except outside.NoEditorError as error:
                line.say(str(error))
                return
        line.edited(text)

    return keys


def _behind(buffer: Buffer, count: int) -> int:
    """How many characters the letters before the cursor have."""
    at = buffer.cursor_position
    for _ in range(max(count, 0)):
        at = letters.before(buffer.text, at)
    return buffer.cursor_position - at


def _ahead(buffer: Buffer, count: int) -> int:
    """How many characters the letters behind the cursor have."""
    at = buffer.cursor_position
    for _ in range(max(count, 0)):
        at = letters.after(buffer.text, at)
    return at - buffer.cursor_position
