# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: clone untrusted git repositories.
#
#   ensure_git_installed
#       Works like the ensure_ functions in dependencies.sh.
#   git_clone_safe URL DIR
#       Clones the newest commit of URL into DIR, which must be empty or absent.
#       URL is https://, ssh://, git://, file:// or user@host:path; anything else is
#       refused with status 2. git neither prompts nor runs code of the repository, and
#       clones no submodules. It takes at most GIT_CLONE_TIMEOUT seconds (default 600;
#       needs timeout(1)). Nothing is written to stdout. If git fails, the function
#       writes an error line with git's message and returns status 1.

# shellcheck source=dependencies.sh
command -v __cli_ensure >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/dependencies.sh"

ensure_git_installed() { __cli_ensure git git git git; }

git_clone_safe() {
  if ! __cli_is_clone_url "${1-}" || [ -z "${2-}" ]; then
    __cli_log ERROR "cannot clone '$(__cli_printable "${1-}")': use git_clone_safe URL DIR with an https://, ssh://, git://, file:// or user@host:path URL"
    return 2
  fi
  if ! __cli_has git; then
    __cli_log ERROR 'not installed: git'
    return 1
  fi
  local __cli_message=''
  if ! __cli_message=$(__cli_clone "$1" "$2" 2>&1 </dev/null); then
    __cli_log ERROR "cannot clone $(__cli_printable "$1"): $(__cli_printable "$__cli_message")"
    return 1
  fi
}

# ssh would read a host that starts with "-" as an option; "ext::" runs a command.
__cli_is_clone_url() {
  local LC_ALL=C
  case $1 in
    -* | *[[:cntrl:]]* | *://-* | *@-* | *::*) return 1 ;;
    https://?* | ssh://?* | git://?* | file://?*) ;;
    *://*) return 1 ;;
    [A-Za-z0-9_]*@[A-Za-z0-9]*:?*)
      case ${1%%:*} in
        *[!A-Za-z0-9._@-]* | *@*@*) return 1 ;;
      esac
      ;;
    *) return 1 ;;
  esac
}

# The options prevent the repository and the environment from making git run a program
# or wait forever. The function changes variables, so call it in a command substitution.
__cli_clone() {
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_TEMPLATE_DIR GIT_OBJECT_DIRECTORY GIT_COMMON_DIR
  export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:ssh:git:file
  set -- git -c core.hooksPath=/dev/null -c protocol.ext.allow=never \
    -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=30 -c transfer.fsckObjects=true \
    clone --quiet --template= --no-recurse-submodules --depth=1 -- "$1" "$2"
  # --foreground: Ctrl-C must still reach git. Not every timeout(1) has this option.
  if timeout --foreground 1 true 2>/dev/null; then
    set -- timeout --foreground -k 10 "${GIT_CLONE_TIMEOUT:-600}" "$@"
  fi
  "$@"
}

# __cli_printable TEXT: prints TEXT on one line, without control characters and without
# the passwords in URLs.
__cli_printable() {
  printf '%s\n' "$1" | tr '\n' ' ' | LC_ALL=C tr -d '\000-\037\177' | sed 's|://[^/@ ]*@|://|g; s| *$||'
}
