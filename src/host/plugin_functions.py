"""Functions that plugins declare and some runs call in a child process, as the lock keeps them."""

from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SecretScheme(Record):
    """A reference scheme for secrets, such as `op` for `op://prod/db/password`.

    scheme     the text before the colon: lower-case letters, digits, `-` and `+`
    provider   "module:attr", called with (references, environment) in a child process. It gets
               a list of all references with this scheme, and the command's variables. It returns
               a dict that maps each reference to its value, or to an exception with the reason.
               Its current directory is the folder of the definition, so relative paths start
               there. For an entry of `env_files`, the value is either the text of a `.env` file,
               or a dict of variables. Each value in this dict is exact: it is not expanded, and
               quotes are part of it.
    file_provider   optional: another "module:attr" that is called for entries of `env_files`
    plugin, folders   set by the host: the plugin that declares it, and its packages
    """

    scheme: str
    provider: str
    file_provider: str = ""
    plugin: str = ""
    folders: "Sequence[str]" = ()


class BeforeRun(Record):
    """A function that may refuse a run of the commands below `words`, or ask about it.

    name       the name that messages show
    function   "module:attr", called with a `PlannedRun` in a child process. It returns None, a
               `Refuse` or an `Ask`.
    words      the leading words of the commands, or () for all commands
    plugin, folders   set by the host: the plugin that declares it, and its packages
    """

    name: str
    function: str
    words: "Sequence[str]" = ()
    plugin: str = ""
    folders: "Sequence[str]" = ()

    def serves(self, words: tuple[str, ...]) -> bool:
        """Return whether it is for the command `words`."""
        return words[: len(self.words)] == tuple(self.words)


class Refuse(Record):
    """The answer of a `BeforeRun` function that the run must not start, and why, in one line."""

    reason: str


class Ask(Record):
    """The answer of a `BeforeRun` function that a person must agree first, on a terminal."""

    question: str


class AfterRun(Record):
    """A function that is called after each finished run of the commands below `words`.

    name       the name that messages show
    function   "module:attr", called with a `FinishedRun` in a child process
    words      the leading words of the commands, or () for all commands
    traced_if  names of variables. Then the function is called only if the caller sets one of them,
               and the run is a span of its own: the command gets it as TRACEPARENT (W3C Trace
               Context), and the function as `FinishedRun.traceparent`.
    plugin, folders   set by the host: the plugin that declares it, and its packages
    """

    name: str
    function: str
    words: "Sequence[str]" = ()
    traced_if: "Sequence[str]" = ()
    plugin: str = ""
    folders: "Sequence[str]" = ()

    def serves(self, words: tuple[str, ...], environ: "Mapping[str, str]") -> bool:
        """Return whether it is for the command `words` in the environment of a caller."""
        if self.traced_if and not any(environ.get(name) for name in self.traced_if):
            return False
        return words[: len(self.words)] == tuple(self.words)
