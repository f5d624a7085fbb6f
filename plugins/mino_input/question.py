"""A question to the person at the terminal, on prompt_toolkit: one short answer, and no second thoughts.

Nothing that was typed before the question answers it; a paste never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys

from .choices import understand
from .drawing import follow, layout, output, style
from .running import ESCAPE, run

if TYPE_CHECKING:
    from mino_core import Screen

    from .keys import Keyboard


def answer(screen: Screen, keyboard: Keyboard, prompt: str, choices: Sequence[str]) -> str | None:
    """One of the choices; None at Escape and Ctrl-D. Where each is one letter, its key is enough.

    KeyboardInterrupt at Ctrl-C.
    """
    buffer = Buffer(multiline=False)
    pastes: list[KeyPress] = []
    app: Application[str | None] = Application(
        layout=layout(buffer, lambda: prompt),
        key_bindings=_bindings(buffer, choices, pastes),
        style=style(),
        include_default_pygments_style=False,
        terminal_size_polling_interval=None,
        input=keyboard,
        output=output(screen),
    )
    app.ttimeoutlen = ESCAPE
    follow(app, screen)
    try:
        return run(app)
    finally:
        keyboard.put_back(pastes)


def _bindings(buffer: Buffer, choices: Sequence[str], pastes: list[KeyPress]) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def take(event: KeyPressEvent) -> None:
        try:
            event.app.exit(result=understand(buffer.text, choices))
        except ValueError:
            buffer.reset()

    @keys.add("c-d")
    @keys.add("escape", eager=True)
    def decline(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    @keys.add("c-c")
    def interrupt(event: KeyPressEvent) -> None:
        event.app.exit(exception=KeyboardInterrupt())

    @keys.add("c-z")
    def suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add(Keys.BracketedPaste)
    def keep(event: KeyPressEvent) -> None:
        pastes.append(event.key_sequence[-1])

    @keys.add("c-j")
    @keys.add("c-r")
    @keys.add("c-s")
    def ignore(event: KeyPressEvent) -> None:
        """Nothing to search, and no second line."""

    if all(len(choice) == 1 for choice in choices):

        @keys.add(Keys.Any)
        def choose(event: KeyPressEvent) -> None:
            for choice in choices:
                if choice.casefold() == event.data.casefold():
                    buffer.text = choice
                    event.app.exit(result=choice)

    return keys
