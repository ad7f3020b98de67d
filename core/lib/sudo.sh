# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: check and request superuser rights.
#
#   check_sudo
#       Status 0 if the script runs as root; otherwise a warning and status 1.
#   should_bypass_sudo "$@"
#       Status 0 if the arguments only request information: -h, --help, --version, -V
#       or --info before any "--", or help or version as the first word. (-v is not one of
#       them: for commands it means --verbose.)
#   required_sudo "$@"
#       Does nothing as root or if should_bypass_sudo returns 0. Otherwise, asks sudo to
#       authenticate the user, and ends the script with status 1 if that fails.

# shellcheck source=logger.sh
command -v __cli_log >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/logger.sh"

check_sudo() {
  __cli_is_root && return 0
  __cli_log WARNING 'This command needs superuser rights (sudo).'
  return 1
}

should_bypass_sudo() {
  case ${1-} in
    help | version) return 0 ;;
  esac
  local __cli_argument=''
  for __cli_argument in "$@"; do
    case $__cli_argument in
      -h | --help | -V | --version | --info) return 0 ;;
      --) break ;;
    esac
  done
  return 1
}

required_sudo() {
  if __cli_is_root || should_bypass_sudo "$@"; then
    return 0
  fi
  if ! command -v sudo >/dev/null; then
    __cli_log ERROR 'This command needs superuser rights, and sudo is not installed.'
    exit 1
  fi
  # The first call is for users who may run everything without a password:
  # "sudo -v" might still ask them for one.
  if ! sudo -n true 2>/dev/null && ! sudo -v; then
    __cli_log ERROR 'sudo did not grant the rights that this command needs.'
    exit 1
  fi
}

# dash has no EUID.
__cli_is_root() {
  if [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ]; then
    [ "$EUID" -eq 0 ]
  else
    [ "$(id -u)" -eq 0 ]
  fi
}
