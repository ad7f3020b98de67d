"""`self completion`: the stub that a shell needs, shown or installed."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from builtin_plugins.files.atomic import write_file
from host import OperationError, UsageError
from host.cli.session import Session

_BASH = r"""_@NAME@_complete() {
  local line beside program=${1/#\~\//$HOME/}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z ${beside-} ]]; then beside=$line; else COMPREPLY+=("$line"); fi
  done < <("$program" --complete bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  case $beside in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
  esac
}
complete -F _@NAME@_complete @NAME@
"""
_ZSH = r"""_@NAME@_complete() {
  local -a lines values shown
  local line beside program=${~words[1]}
  lines=("${(@f)$("$program" --complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  beside=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    values+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  (( $#values )) && compadd -l -d shown -a values
  case $beside in
    files) _files ;;
    directories) _files -/ ;;
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
compdef _@NAME@_complete @NAME@
"""
_FISH = r"""function __@NAME@_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l lines (command $tokens[1] --complete fish $tokens[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
    printf '%s\n' $lines[2..-1]
end
complete -c @NAME@ -f -a '(__@NAME@_complete)'
"""
STUBS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@click.command
@click.argument("shell", type=click.Choice(list(STUBS)))
@click.option("--install", "action", flag_value="install", help="Load it in every new shell.")
@click.option("--uninstall", "action", flag_value="uninstall", help="Take that away again.")
@click.pass_obj
def command(session: Session, shell: str, action: str | None) -> None:
    """Show what makes SHELL complete this program's words, or install it.

    Without an option the code is printed, to be loaded by the shell that is running.
    """
    stub = STUBS[shell].replace("@NAME@", session.program)
    if action is None:
        session.show(stub)
        return
    path = start_up_file(shell, session.program, session.environ)
    try:
        if action == "uninstall":
            done = take_away(shell, session.program, session.environ)
        elif shell == "fish":
            done = _own_file(path, stub, session.program)
        else:
            done = _line(path, shell, session.program, present=True)
    except OSError as failure:
        raise OperationError(f"{path}: {failure.strerror}") from None
    if action == "install":
        session.show(f"{'installed in' if done else 'is already in'} {path}; open a new shell\n")
    else:
        session.show(f"{'removed from' if done else 'is not in'} {path}\n")


def start_up_file(shell: str, program: str, environ: Mapping[str, str]) -> str:
    """Return the file that a new shell reads: fish has one a program."""
    home = environ.get("HOME", "")
    if not home:
        raise UsageError("HOME is not set; completion goes into a file there")
    if shell == "fish":
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return os.path.join(config, "fish", "completions", f"{program}.fish")
    if shell == "zsh":
        return os.path.join(environ.get("ZDOTDIR") or home, ".zshrc")
    return os.path.join(home, ".bashrc")


def is_installed(shell: str, program: str, environ: Mapping[str, str]) -> bool:
    """Tell whether `--install` was called for this shell; raises UsageError without HOME."""
    path = start_up_file(shell, program, environ)
    if shell == "fish":
        return _is_ours(_read(path), program)
    return _LINE.format(program=program, shell=shell) in _read(path).splitlines()


def take_away(shell: str, program: str, environ: Mapping[str, str]) -> bool:
    """Undo `--install`; return whether there was anything. Raises UsageError, OSError."""
    path = start_up_file(shell, program, environ)
    if shell == "fish":
        return _own_file(path, "", program)
    return _line(path, shell, program, present=False)


def _is_ours(text: str, program: str) -> bool:
    """Tell whether a file for fish was made here, in this version or another."""
    return text.startswith(f"function __{program}_complete\n")


_LINE = (
    "command -v {program} >/dev/null && "
    'eval "$({program} self completion {shell})" # completion of {program}'
)


def _line(path: str, shell: str, program: str, *, present: bool) -> bool:
    """Make our one line stand in the file, or not; return whether that changed it."""
    line = _LINE.format(program=program, shell=shell)
    text = _read(path)
    lines = text.splitlines(keepends=True)
    kept = [one for one in lines if one.rstrip("\n") != line]
    if present == (len(kept) != len(lines)):
        return False
    if present:
        if kept and not kept[-1].endswith("\n"):
            kept[-1] += "\n"
        kept.append(f"{line}\n")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_file(os.path.realpath(path), "".join(kept).encode("utf-8", "surrogateescape"))
    return True


def _own_file(path: str, text: str, program: str) -> bool:
    """Make the file hold `text`, or be gone; one that somebody else made stays as it is."""
    there = _read(path)
    if there == text and os.path.exists(path) == bool(text):
        return False
    if there and not _is_ours(there, program):
        if text:
            raise OperationError(f"{path} is there and was not made here", "move it away")
        return False
    if text:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, text.encode())
    else:
        os.unlink(path)
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
