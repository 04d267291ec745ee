"""The error of all functions of this package, and how they warn."""

import re
import sys
import warnings

PAGE = "docs/when-it-breaks"


class Error(Exception):
    """A command of ringtrain failed, or was refused before it began.

    code is the exit code of the program, cause its first cause, doc the entry of the manual that says what to do, and
    stderr what the program said to people.
    """

    def __init__(self, code, cause, page="", stderr=""):
        super().__init__(code, cause, page, stderr)
        self.code = code
        self.cause = cause
        self.page = page or PAGE
        self.stderr = stderr

    def __str__(self):
        return f"{self.cause} (exit code {self.code}; what to do: ringtrain help {self.page})"

    @property
    def doc(self):
        """The entry of the manual: that of the message, else that of the exit code."""
        from . import program

        text = program.text("help", self.page)
        if self.page != PAGE:
            return text
        for codes, meaning, again in re.findall(r"^\| ([\d, ]+) \| (.*) \| (.*) \|$", text, re.MULTILINE):
            if str(self.code) in codes.split(", "):
                return f"Exit code {self.code}: {meaning}. Will the same command help later? {again}."
        return f"Exit code {self.code}: a signal has ended a rank or the program."


def warn(text):
    """Warns, at the line of the caller of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
