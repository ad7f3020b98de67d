# shellcheck shell=bash
# Functions for bash, zsh and dash scripts: detect the operating system. Loading this
# file starts no process.
#
# Variable:
#   OS_TYPE   debian (with Ubuntu, Mint …), fedora (with RHEL, Rocky …), macos or
#             unknown. A value already set, such as by the caller's environment, is
#             kept; the functions below ignore it.
# Functions:
#   get_simple_os           prints linux, mac or unknown
#   is_linux, is_mac        status 0 on that system, otherwise status 1
#   is_arch                 status 0 on Arch Linux and distributions derived from it
#   get_distro_id           prints ID from os-release, such as ubuntu, or unknown
#   get_redhat_pkg_manager  prints dnf, or yum if there is no dnf

get_simple_os() {
  __cli_os_kernel
  case $__cli_kernel in
    linux*) printf 'linux\n' ;;
    darwin*) printf 'mac\n' ;;
    *) printf 'unknown\n' ;;
  esac
}

is_linux() {
  __cli_os_kernel
  case $__cli_kernel in
    linux*) ;;
    *) return 1 ;;
  esac
}

is_mac() {
  __cli_os_kernel
  case $__cli_kernel in
    darwin*) ;;
    *) return 1 ;;
  esac
}

is_arch() {
  __cli_os_release
  case " $__cli_distro " in
    *' arch '* | *' manjaro '*) ;;
    *) return 1 ;;
  esac
}

get_distro_id() {
  __cli_os_release
  printf '%s\n' "${__cli_distro%% *}"
}

get_redhat_pkg_manager() {
  if command -v dnf >/dev/null; then
    printf 'dnf\n'
  else
    printf 'yum\n'
  fi
}

# Sets __cli_kernel in the first call. dash has no OSTYPE, so the function calls uname.
__cli_os_kernel() {
  [ -n "${__cli_kernel-}" ] || __cli_kernel=${OSTYPE:-$(uname | tr '[:upper:]' '[:lower:]')}
}

# In the first call, sets __cli_distro to "ID ID_LIKE…" from os-release, or to "unknown".
# os-release is read as data and never sourced.
__cli_os_release() {
  [ -z "${__cli_distro-}" ] || return 0
  local __cli_line='' __cli_id='' __cli_like=''
  if [ -r /etc/os-release ]; then
    while IFS= read -r __cli_line || [ -n "$__cli_line" ]; do
      case $__cli_line in
        ID=*) __cli_id=${__cli_line#ID=} ;;
        ID_LIKE=*) __cli_like=${__cli_line#ID_LIKE=} ;;
      esac
    done </etc/os-release
    __cli_id=${__cli_id#[\"\']} __cli_id=${__cli_id%[\"\']}
    __cli_like=${__cli_like#[\"\']} __cli_like=${__cli_like%[\"\']}
  fi
  __cli_distro="${__cli_id:-unknown}${__cli_like:+ $__cli_like}"
}

# Each distribution has the marker file of its family. Reading os-release instead
# would take longer than the rest of this library.
if [ -z "${OS_TYPE+set}" ]; then
  if [ -e /System/Library/CoreServices/SystemVersion.plist ]; then
    OS_TYPE=macos
  elif [ -e /etc/debian_version ]; then
    OS_TYPE=debian
  elif [ -e /etc/redhat-release ] || [ -e /etc/fedora-release ] || [ -e /etc/system-release ]; then
    OS_TYPE=fedora
  else
    OS_TYPE=unknown
  fi
fi
