"""The shells for which there is completion.

A shell is one template in `templates/completion` and one line in SHELLS.
"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from host.run.installation import home

Environ = Mapping[str, str]


class Shell(NamedTuple):
    """How a shell loads the code of its template.

    file        returns the file that new shells read, for a program
    line        the line in this file that loads the code of the program `{0}`, with the options
                `{1}`. If it is "", the file contains the code itself
    former      returns the file that earlier versions used for a program, or ""
    """

    file: Callable[[Environ, str], str]
    line: str = ""
    former: Callable[[Environ, str], str] = lambda environ, program: ""


def _in_home(environ: Environ, *names: str) -> str:
    return os.path.join(home(environ), *names)


def _in_config(environ: Environ, *names: str) -> str:
    config = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config):
        config = _in_home(environ, ".config")
    return os.path.join(config, *names)


def _bashrc(environ: Environ, program: str) -> str:
    return _in_home(environ, ".bashrc")


def _zshrc(environ: Environ, program: str) -> str:
    return os.path.join(environ.get("ZDOTDIR") or home(environ), ".zshrc")


def _fish_conf(environ: Environ, program: str) -> str:
    return _in_config(environ, "fish", "conf.d", f"{program}.fish")


def _fish_completions(environ: Environ, program: str) -> str:
    return _in_config(environ, "fish", "completions", f"{program}.fish")


def _nushell_autoload(environ: Environ, program: str) -> str:
    return _in_config(environ, "nushell", "autoload", f"{program}.nu")


def _elvish_rc(environ: Environ, program: str) -> str:
    return _in_config(environ, "elvish", "rc.elv")


_POSIX = 'command -v {0} >/dev/null && eval "$({0} self completion SHELL{1})"'
# fish reads conf.d before config.fish, which may set PATH.
_FISH = (
    "function __{0}_load --on-event fish_prompt; functions -e __{0}_load;"
    " command -v {0} >/dev/null; and command {0} self completion fish{1} | source; end"
)
_ELVISH = "if (has-external {0}) {{ eval (e:{0} self completion elvish{1} | slurp) }}"

SHELLS = {
    "bash": Shell(_bashrc, _POSIX.replace("SHELL", "bash")),
    "zsh": Shell(_zshrc, _POSIX.replace("SHELL", "zsh")),
    "fish": Shell(_fish_conf, _FISH, former=_fish_completions),
    "nushell": Shell(_nushell_autoload),
    "elvish": Shell(_elvish_rc, _ELVISH),
}
# The names of their programs, as in SHELL, if they differ.
_PROGRAMS = {"nu": "nushell"}


def shell_of(environ: Environ) -> str:
    """Return the name of the caller's shell, or "" if there is no completion for it."""
    program = os.path.basename(environ.get("SHELL", ""))
    name = _PROGRAMS.get(program, program)
    return name if name in SHELLS else ""
