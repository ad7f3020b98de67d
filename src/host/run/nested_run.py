"""A run inside a run: what the caller of the outer command had, without that command's own.

The variables of a command exist during its run only and do not leak to other commands
(SPEC 1.3, 2.5). A command that calls the program hands on the environment that was
merged for it; taken as the caller's, what settings.conf says would outrank the `envs`
of the inner command. So the outer command's sources are asked once more, and what they
gave is taken away. Only a run inside a run loads this.
"""

from host.errors import HostError
from host.run.catalog import Catalog
from host.run.installation import words_of_run
from host.run.layers import UNKNOWN, Reading
from host.run.plan import layers_of
from host.run.settings import READING
from host.run.text import Messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.run.definition import Definition
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock

_USUAL = ("PATH", "HOME", "USER", "PWD", "LANG", "LC_ALL")  # what any script counts on


def outer_environment(
    environ: "Mapping[str, str]",
    installation: "OpenInstallation",
    lock: "Lock",
    reading: "type[Reading]" = Reading,
) -> dict[str, str]:
    """Return `environ` less what the run of the command that calls gave it.

    Only a command of this very installation has such. A variable that has another value
    than it was given is the caller's, or the command has set it itself: it stays. Where
    the sources cannot be asked, everything stays. A `reading` may leave a value UNKNOWN,
    and is believed then.
    """
    words = words_of_run(environ)
    given: dict[str, str] = {}
    if words and environ.get("CLI_DIR") == installation.layout.root:
        try:
            found = Catalog(lock).find(words)
            if found.definition is not None and found.words == words:
                given = _given(words, found.definition, installation, lock, environ, reading)
        except HostError:
            pass  # then nobody can tell
    return {
        name: value for name, value in environ.items() if given.get(name) not in (value, UNKNOWN)
    }


def _given(
    words: tuple[str, ...],
    definition: "Definition",
    installation: "OpenInstallation",
    lock: "Lock",
    environ: "Mapping[str, str]",
    reading: "type[Reading]",
) -> dict[str, str]:
    """Return the variables that a run of the command has: its arguments', its sources', its own.

    The sources are asked twice: what names they speak of shows only where nothing is set, what
    they say of them only with all the rest.
    """
    base = {name: environ[name] for name in (*_USUAL, READING) if name in environ}
    silence = Messages("", {}, quiet=True)  # the outer run has said it
    arguments = {
        name: value
        for name, value in environ.items()
        if any(one.owns(name) for one in definition.args)
    }
    for _ in range(2):
        layers = layers_of(
            words, definition, installation, lock, base, silence, arguments, reading=reading
        )
        given = {one.name: one.value for one, _ in layers.trace()}
        base = {name: value for name, value in environ.items() if name not in given}
    return given
