"""A run inside a run: what the caller of the outer command had, without that command's own.

The variables of a command exist during its run only and do not leak to other commands
(SPEC 1.3, 2.5). A command that calls the program hands on the environment that was
merged for it; taken as the caller's, what settings.conf says would outrank the `envs`
of the inner command. So the outer command's sources are asked once more, and what they
gave is taken away. Only a run inside a run loads this.
"""

from host.errors import HostError
from host.run.installation import ADOPTED_BY
from host.run.locate import locate, roots
from host.run.plan import read_layers
from host.run.settings import READING
from host.run.text import Messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.run.definition import Definition
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock

FRAMEWORK_NAMES = (
    *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
    *("COMMAND_NAME", "COMMAND_CATEGORY", ADOPTED_BY),
)


_USUAL = ("PATH", "HOME", "USER", "PWD", "LANG", "LC_ALL")  # what any script counts on


class _Silence(Messages):
    """Says nothing: the outer run has said it."""

    __slots__ = ()
    quiet = True

    def line(self, text: str) -> None:
        del text


def outer_environment(
    environ: "Mapping[str, str]", installation: "OpenInstallation", lock: "Lock"
) -> dict[str, str]:
    """Return `environ` less what the sources of the command that calls gave it.

    Only a command of this very installation has such. A variable that has another value
    than they give is the caller's, or the command has set it itself: it stays. Where they
    cannot be asked, everything stays.
    """
    if "COMMAND_NAME" not in environ or environ.get("CLI_DIR") != installation.layout.root:
        return dict(environ)
    words = (*filter(None, environ.get("COMMAND_CATEGORY", "").split("/")), environ["COMMAND_NAME"])
    try:
        found = locate(words, roots(lock.trees), lock.commands)
        if found.definition is None or found.words != words:
            return dict(environ)
        given = _given(words, found.definition, environ, lock)
    except HostError:
        return dict(environ)
    arguments = tuple(f"{one.variable}_" for one in found.definition.args)
    return {
        name: value
        for name, value in environ.items()
        if given.get(name) != value and not f"{name}_".startswith(arguments)
    }


def _given(
    words: tuple[str, ...], definition: "Definition", environ: "Mapping[str, str]", lock: "Lock"
) -> dict[str, str]:
    """Return the variables that the sources of a command give it.

    They are asked twice: what names they speak of shows only where nothing is set, what
    they say of them only with all the rest.
    """
    framework = {name: environ[name] for name in FRAMEWORK_NAMES if name in environ}
    base = {name: environ[name] for name in (*_USUAL, READING) if name in environ}
    for _ in range(2):
        layers = read_layers(words, definition, lock.sources, base, framework, _Silence("", {}))
        given = {one.name: one.value for one, _ in layers.trace() if one.name not in framework}
        base = {
            name: value
            for name, value in environ.items()
            if name not in given and name not in FRAMEWORK_NAMES
        }
    return given
