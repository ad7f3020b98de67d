"""The shells for which there is completion.

A shell is one template in `templates/completion` and one line in SHELLS.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from host.caller import home


class Shell(NamedTuple):
    """How a shell loads the code of its template.

    file      the file that new shells read, with the names of `path_of` in braces
    line      the line in this file that loads the code of `{program}` with `{options}`. If it is
              "", the file has the code itself
    former    the file that earlier versions used, or ""
    """

    file: str
    line: str = ""
    former: str = ""


_POSIX = 'command -v {{program}} >/dev/null && eval "$({{program}} self completion {}{{options}})"'
# fish reads conf.d before config.fish, which may set PATH.
_FISH = (
    "function __{program}_load --on-event fish_prompt; functions -e __{program}_load;"
    " command -v {program} >/dev/null;"
    " and command {program} self completion fish{options} | source; end"
)
_ELVISH = (
    "if (has-external {program}) {{ eval (e:{program} self completion "
    "elvish{options} | slurp) }}"
)
_FISH_BEFORE = "{config}/fish/completions/{program}.fish"

SHELLS = {
    "bash": Shell("{home}/.bashrc", _POSIX.format("bash")),
    "zsh": Shell("{zdotdir}/.zshrc", _POSIX.format("zsh")),
    "fish": Shell("{config}/fish/conf.d/{program}.fish", _FISH, former=_FISH_BEFORE),
    "nushell": Shell("{config}/nushell/autoload/{program}.nu"),
    "elvish": Shell("{config}/elvish/rc.elv", _ELVISH),
}
_PROGRAMS = {"nu": "nushell"}  # names of the shells' programs, if they differ


def path_of(file: str, program: str, environ: Mapping[str, str]) -> str:
    """Return the path of `Shell.file` or `Shell.former` for a program."""
    at_home = home(environ)
    config = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config):
        config = os.path.join(at_home, ".config")
    zdotdir = environ.get("ZDOTDIR", "")
    if not zdotdir:
        zdotdir = at_home

    return file.format(home=at_home, config=config, zdotdir=zdotdir, program=program)


def shell_of(environ: Mapping[str, str]) -> str:
    """Return the name of the caller's shell, or "" if there is no completion for it."""
    program = os.path.basename(environ.get("SHELL", ""))
    name = _PROGRAMS.get(program, program)
    if name not in SHELLS:
        return ""
    return name
