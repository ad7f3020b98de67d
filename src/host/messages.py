"""Errors, warnings and debug lines on stderr."""

import posix

from host.caller import is_on
from host.text import encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from host.errors import Problem


_RED, _YELLOW, _MAGENTA, _RESET = "\033[1;31m", "\033[1;33m", "\033[35m", "\033[0m"


class Messages:
    """Writes messages to stderr, one line each, with unprintable characters escaped.

    On a terminal, or with colours, an error begins with `error:`, and its remedy is on the next
    line. `color_mode` is the value of --color. A command uses the messages of its `Program`::

        program.messages.warn(f"{path}: is empty")
    """

    def __init__(self, program: str, environ: "Mapping[str, str]") -> None:
        self.program = program
        self.environ = environ
        self.color_mode = ""
        self.debugging = is_on(environ.get("DEBUG"))
        self.warned: set[str] = set()

    def colours(self, descriptor: int) -> bool:
        """Return whether output to `descriptor` has colours.

        If --color is neither "always" nor "never", NO_COLOR and TERM=dumb decide first, then
        FORCE_COLOR and CLICOLOR_FORCE, and then whether the output is a terminal.
        """
        if self.color_mode in ("always", "never"):
            return self.color_mode == "always"

        environ = self.environ
        if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
            return False
        for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
            if environ.get(name, "") not in ("", "0"):
                return True
        return "TERM" in environ and posix.isatty(descriptor)

    def error(
        self,
        text: str,
        remedy: str = "",
        suggestions: "Iterable[str]" = (),
        said: "Iterable[str]" = (),
    ) -> None:
        """Print an error, its remedy, and below it the lines `said` of another program.

        `suggestions` has the command lines in `remedy`; a terminal shows each on its own line.
        """
        self._write_error(text, remedy, suggestions)
        for line in said:
            self.line(f"  {line}")

    def _write_error(
        self, text: str, remedy: str, suggestions: "Iterable[str]"
    ) -> None:
        colours = self.colours(2)
        if not colours and not posix.isatty(2):
            line = f"{self.program}: {text}"
            if remedy:
                line = f"{line}; {remedy}"
            self.line(line)
            return

        self._write_kind("error:", _RED, text, colours)
        lines = [remedy] if remedy else []
        if suggestions:
            lines = ["did you mean:"]
            lines += [f"  {suggestion}" for suggestion in suggestions]
        for line in lines:
            shown = printable(line)
            if colours:
                shown = f"{_MAGENTA}{shown}{_RESET}"
            self._write(f"  {shown}")

    def warn(self, *problems: "str | Problem") -> None:
        """Print a warning for each problem, but only once per text."""
        for problem in problems:
            text = str(problem)
            if text not in self.warned:
                self.warned.add(text)
                self._write_kind("warning:", _YELLOW, text, self.colours(2))

    def debug(self, text: str) -> None:
        """Print the time and `text` if DEBUG is on in the caller's environment."""
        if self.debugging:
            import time

            self.line(f"[DEBUG] {time.strftime('%Y-%m-%d %H:%M:%S')} - {text}")

    def line(self, text: str) -> None:
        """Print `text` without the program's name."""
        self._write(printable(text))

    def _write_kind(self, kind: str, style: str, text: str, colours: bool) -> None:
        if colours:
            kind = f"{style}{kind}{_RESET}"
        self._write(f"{printable(self.program)}: {kind} {printable(text)}")

    def _write(self, line: str) -> None:
        try:
            posix.write(2, encode(line) + b"\n")
        except OSError:
            pass  # stderr is closed or full
