# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: detect the user's shell. This is the shell
# in SHELL or, if SHELL is not set, in the password file. Another shell may run the script.
#
#   detect_shell_type
#       Prints bash, zsh, fish or unknown.
#   detect_shell_config
#       Prints the path of the file that the user's shell reads at the start of an
#       interactive session, whether it exists or not; ~/.profile for an unknown
#       shell. Status 1 with an error line if the user has no home directory.

# shellcheck source=logger.sh
command -v __cli_log >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/logger.sh"
# shellcheck source=os.sh
command -v __cli_os_kernel >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/os.sh"

detect_shell_type() {
  local __cli_shell="${SHELL-}"
  [ -n "$__cli_shell" ] || __cli_shell=$(__cli_passwd_field 7)
  case ${__cli_shell##*/} in
    bash | zsh | fish) printf '%s\n' "${__cli_shell##*/}" ;;
    *) printf 'unknown\n' ;;
  esac
}

detect_shell_config() {
  local __cli_home="${HOME-}"
  [ -n "$__cli_home" ] || __cli_home=$(__cli_passwd_field 6)
  if [ -z "$__cli_home" ]; then
    __cli_log ERROR 'HOME is not set, and the password file names no home directory.'
    return 1
  fi
  case $(detect_shell_type) in
    zsh) printf '%s\n' "${ZDOTDIR:-$__cli_home}/.zshrc" ;;
    fish) printf '%s\n' "${XDG_CONFIG_HOME:-$__cli_home/.config}/fish/config.fish" ;;
    bash)
      # macOS terminals start login shells, which do not read .bashrc.
      if is_mac; then
        printf '%s\n' "$__cli_home/.bash_profile"
      else
        printf '%s\n' "$__cli_home/.bashrc"
      fi
      ;;
    *) printf '%s\n' "$__cli_home/.profile" ;;
  esac
}

# __cli_passwd_field NUMBER: prints this field of the user's line in the password file.
__cli_passwd_field() {
  local __cli_user=''
  __cli_user=$(id -u)
  { getent passwd "$__cli_user" 2>/dev/null || cat /etc/passwd; } |
    awk -F : -v user="$__cli_user" -v field="$1" '$3 == user && !found++ { print $field }'
}
