# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: check and install the programs they need.
#
#   command_exists NAME
#       Status 0 if NAME can be called.
#   check_dependencies NAME…
#       Status 0 if all programs can be called; otherwise status 1, and one error line
#       that names all missing programs.
#   ensure_curl_installed, ensure_jq_installed, ensure_fzf_installed,
#   ensure_pip3_installed
#       Status 0 if the program exists or has been installed with the system's package
#       manager (apt-get, dnf, yum, pacman, zypper, apk or brew). The program is
#       installed only if ASSUME_YES is 1, true or on, or if the user answers yes on a
#       terminal. Otherwise, status 1 and an error line. Nothing is written to stdout.
#   wait_for_apt_lock [SECONDS]
#       Waits until no other process holds the locks of apt and dpkg, at most SECONDS
#       (default 60). Status 1 with an error line if they are still held then.

# shellcheck source=sudo.sh
command -v __cli_is_root >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/sudo.sh"

command_exists() { __cli_has "${1-}"; }

check_dependencies() {
  local __cli_name='' __cli_missing=''
  for __cli_name in "$@"; do
    __cli_has "$__cli_name" || __cli_missing="$__cli_missing${__cli_missing:+, }$__cli_name"
  done
  [ -n "$__cli_missing" ] || return 0
  __cli_log ERROR "not installed: $__cli_missing"
  return 1
}

ensure_curl_installed() { __cli_ensure curl curl curl curl; }
ensure_jq_installed() { __cli_ensure jq jq jq jq; }
ensure_fzf_installed() { __cli_ensure fzf fzf fzf fzf; }
# Homebrew's and Arch's packages have different names.
ensure_pip3_installed() { __cli_ensure pip3 python3-pip python-pip python; }

wait_for_apt_lock() {
  local __cli_left="${1:-60}" __cli_reported=''
  while __cli_is_locked /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
    if [ "$__cli_left" -le 0 ]; then
      __cli_log ERROR 'another process still holds the lock of the package manager (apt).'
      return 1
    fi
    if [ -z "$__cli_reported" ]; then
      __cli_log INFO 'waiting for another process to release the package manager (apt)'
      __cli_reported=yes
    fi
    sleep 1
    __cli_left=$((__cli_left - 1))
  done
}

# __cli_has NAME: the implementation of command_exists. Scripts often define their own
# command_exists or check_dependencies; the libraries must not call those.
__cli_has() {
  [ -n "$1" ] && command -v -- "$1" >/dev/null 2>&1
}

# __cli_is_locked FILE…: status 0 if a process holds a lock on one of them. The kernel
# lists locks by inode; fuser shows the same but is not always installed. Without that
# list, no file is considered locked.
__cli_is_locked() {
  [ -r /proc/locks ] || return 1
  # shellcheck disable=SC2012 # only the inodes are used
  { ls -i "$@" 2>/dev/null || :; } | awk '
    NR == FNR { asked[$1]; next }
    {
      for (i = 1; i <= NF; i++)
        if (split($i, part, ":") == 3 && part[3] in asked) held = 1
    }
    END { exit !held }
  ' - /proc/locks
}

# __cli_ensure PROGRAM PACKAGE ARCH_PACKAGE BREW_PACKAGE: installs PROGRAM if it is missing.
__cli_ensure() {
  if __cli_has "$1"; then
    return 0
  fi
  local __cli_manager='' __cli_package="$2" __cli_answer=''
  for __cli_manager in apt-get dnf yum pacman zypper apk brew ''; do
    __cli_has "$__cli_manager" && break
  done
  case $__cli_manager in
    '')
      __cli_log ERROR "$1 is not installed, and no known package manager was found. Install it by hand."
      return 1
      ;;
    pacman) __cli_package=$3 ;;
    brew) __cli_package=$4 ;;
  esac
  if ! __cli_is_on "${ASSUME_YES-}"; then
    if [ ! -t 0 ] || [ ! -t 2 ]; then
      __cli_log ERROR "$1 is not installed. Install the package $__cli_package, or set ASSUME_YES=1 to install it without a question."
      return 1
    fi
    printf '%s is not installed. Install it with %s? [y/N] ' "$1" "$__cli_manager" >&2
    read -r __cli_answer || :
    case $__cli_answer in
      [Yy] | [Yy][Ee][Ss]) ;;
      *)
        __cli_log ERROR "$1 is not installed."
        return 1
        ;;
    esac
  fi
  if ! __cli_install "$__cli_manager" "$__cli_package" >&2 || ! __cli_has "$1"; then
    __cli_log ERROR "$1 could not be installed with $__cli_manager."
    return 1
  fi
}

# __cli_install MANAGER PACKAGE: installs PACKAGE with the package manager MANAGER.
__cli_install() {
  case $1 in
    brew) brew install "$2" ;;
    apt-get)
      wait_for_apt_lock 60 || return 1
      # A fresh system has no package lists, so the first attempt may find nothing.
      __cli_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y "$2" && return 0
      __cli_as_root apt-get update &&
        __cli_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y "$2"
      ;;
    dnf | yum | zypper) __cli_as_root "$1" install -y "$2" ;;
    pacman) __cli_as_root pacman -S --noconfirm "$2" ;;
    apk) __cli_as_root apk add "$2" ;;
  esac
}

__cli_as_root() {
  if __cli_is_root; then
    "$@"
  elif __cli_has sudo; then
    sudo "$@"
  else
    __cli_log ERROR "$1 needs superuser rights, and sudo is not installed."
    return 1
  fi
}
