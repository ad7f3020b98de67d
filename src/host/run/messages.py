"""Lines on stderr: warnings, errors and, when the caller asks for them, debug lines."""

import os

from host.run.text import encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def is_on(value: str | None) -> bool:
    """Tell whether a switch such as DEBUG is on: `true`, `1` or `on` in any case (SPEC 2.9)."""
    return value is not None and value.lower() in ("true", "1", "on")


class Messages:
    """Writes each message as one line; what comes from data is shown escaped."""

    __slots__ = ("debugging", "program", "warned")
    quiet = False  # whether sources of variables may not be heard either

    def __init__(self, program: str, environ: "Mapping[str, str]") -> None:
        self.program = program
        self.debugging = is_on(environ.get("DEBUG"))
        self.warned: set[str] = set()

    def error(self, text: str) -> None:
        self.line(f"{self.program}: {text}")

    def warn(self, text: str) -> None:
        """Say `text` as a warning, once however often it comes."""
        if text not in self.warned:
            self.warned.add(text)
            self.line(f"{self.program}: warning: {text}")

    def debug(self, text: str) -> None:
        if self.debugging:
            import time

            self.line(f"[DEBUG] {time.strftime('%Y-%m-%d %H:%M:%S')} - {text}")

    def line(self, text: str) -> None:
        try:
            os.write(2, encode(printable(text)) + b"\n")
        except OSError:
            pass  # stderr is closed or full: there is nobody left to tell
