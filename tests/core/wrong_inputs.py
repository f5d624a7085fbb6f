"""Inputs for the tests of the suite for inputs: one that is right, and some that are wrong."""

import os
import termios


class Lines:
    """The right one: whole lines, byte by byte, so that nothing is read ahead."""

    def __init__(self, settings, screen):
        self.screen = screen

    def read(self, prompt):
        line = b""
        try:
            self.screen.write(prompt)
            self.screen.flush()
            line = self.line()
        finally:
            if not line:
                self.end_line()
        if not line:
            raise EOFError
        return line.decode(errors="replace").removesuffix("\n").removesuffix("\r")

    def end_line(self):
        if os.isatty(0):
            self.screen.write("\n")
            self.screen.flush()

    def line(self):
        line = b""
        while not line.endswith(b"\n") and (byte := os.read(0, 1)):
            line += byte
        return line

    def ask(self, question, choices):
        try:
            answer = self.read(f"{question} ")
        except EOFError:
            return None
        return answer if answer in choices else None


class Stripping(Lines):
    def read(self, prompt):
        return super().read(prompt).strip()


class Splitting(Lines):
    def read(self, prompt):
        return super().read(prompt).splitlines()[0]


class Endless(Lines):
    def read(self, prompt):
        try:
            return super().read(prompt)
        except EOFError:
            return ""


class Agreeing(Lines):
    def ask(self, question, choices):
        return super().ask(question, choices) or choices[0]


class Swallowing(Lines):
    def read(self, prompt):
        while True:
            try:
                return super().read(prompt)
            except KeyboardInterrupt:
                pass


class Unmade(Lines):
    def __init__(self, settings, screen):
        raise RuntimeError("out of order")


class Flushing(Lines):
    def __init__(self, settings, screen):
        super().__init__(settings, screen)
        if os.isatty(0):
            termios.tcflush(0, termios.TCIFLUSH)


class Untidy(Lines):
    """Ends where it stands."""

    def end_line(self):
        pass
