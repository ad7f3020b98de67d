# shellcheck shell=bash source-path=SCRIPTDIR
{ __cli_flags=${-//[!avx]/} && builtin set +avx && builtin export -n __cli_flags; } 2>/dev/null
# Loads all libraries before the first line of a script in bash 3.2 or newer. A script
# in another shell sources the libraries that it needs.
#
# The framework starts the script with two more variables in its environment:
#   BASH_ENV=<this file>
#   CLI_HOST_INIT=<pid>:<program>:u           the caller had no BASH_ENV, or
#   CLI_HOST_INIT=<pid>:<program>:s<value>    had one with this value
# <pid> is the process that becomes bash (exec keeps it), <program> the name that
# the user called, without colons; it may be empty. The value may contain anything.
#
# This file restores BASH_ENV, removes CLI_HOST_INIT, and loads the libraries if this
# is the intended bash. (A bash that another program starts inherits the variables from
# that program; this file then loads nothing.) Then it sources the caller's own BASH_ENV
# as bash would have done, except that it expands only a leading $HOME.
#
# If sourced by hand, it only loads the libraries. Either way it prints nothing, exports
# nothing and does not change the script's options, IFS, positional parameters or
# traps. The first line turns the options a, v and x off while it runs, so that the
# libraries are neither exported nor traced.
#
# Variable: CLI_PROGRAM, the program's name, for the script; never exported. A value
# that the caller has set is kept, as color.sh explains.
#
# color, logger, string, os and sudo are loaded at once. The others are rarely used and
# would make the start of every script 50 % slower: a call of one of their functions
# loads its library in a subshell and runs there. They need no state in the script, and
# functions that the script defines under the same names are not replaced.

__cli_startup=''
__cli_load=yes
if [[ -n ${CLI_HOST_INIT+set} ]]; then
  [[ ${CLI_HOST_INIT%%:*} == "$$" ]] || __cli_load=''
  __cli_rest=${CLI_HOST_INIT#*:}
  __cli_program=${__cli_rest%%:*}
  __cli_rest=${__cli_rest#*:}
  builtin unset BASH_ENV CLI_HOST_INIT
  case $__cli_rest in
    s*)
      builtin export BASH_ENV="${__cli_rest#s}"
      case $BASH_ENV in
        /*) __cli_startup=$BASH_ENV ;;
        \$HOME/* | \$\{HOME\}/*) __cli_startup=${HOME-}/${BASH_ENV#*/} ;;
        ?*) __cli_startup=./$BASH_ENV ;; # PATH is not searched
      esac
      [[ -r $__cli_startup && ! -d $__cli_startup ]] || __cli_startup=''
      ;;
  esac
fi

if [[ -n $__cli_load ]]; then
  : "${CLI_PROGRAM=${__cli_program-}}"
  __cli_start=$PWD
  __cli_lib=${BASH_SOURCE[0]%/*}
  [[ $__cli_lib == /* ]] || __cli_lib=$PWD/$__cli_lib

  for __cli_name in color logger string os sudo; do
    if [[ ! -f $__cli_lib/$__cli_name.sh ]]; then # bash would wait for a FIFO
      builtin printf '%s: missing, or not a regular file; the library is not loaded\n' \
        "$__cli_lib/$__cli_name.sh" >&2
      __cli_load=''
    fi
  done
fi

if [[ -n $__cli_load ]]; then
  # shellcheck source=color.sh
  builtin . "$__cli_lib/color.sh"
  # shellcheck source=logger.sh
  builtin . "$__cli_lib/logger.sh"
  # shellcheck source=string.sh
  builtin . "$__cli_lib/string.sh"
  # shellcheck source=os.sh
  builtin . "$__cli_lib/os.sh"
  # shellcheck source=sudo.sh
  builtin . "$__cli_lib/sudo.sh"

  # __cli_call LIBRARY FUNCTION ARGUMENT…: loads LIBRARY in a subshell and calls FUNCTION.
  __cli_call() {
    (
      # shellcheck source=/dev/null
      builtin . "$__cli_lib/$1.sh"
      shift
      "$@"
    )
  }
  get_config_field() { __cli_call config get_config_field "$@"; }
  show_version() { __cli_call config show_version "$@"; }
  show_number_version() { __cli_call config show_number_version "$@"; }
  build_command_path() { __cli_call cli build_command_path "$@"; }
  show_usage() { __cli_call cli show_usage "$@"; }
  show_description() { __cli_call cli show_description "$@"; }
  get_command_config_file() { __cli_call cli get_command_config_file "$@"; }
  detect_shell_type() { __cli_call shell detect_shell_type "$@"; }
  detect_shell_config() { __cli_call shell detect_shell_config "$@"; }
  command_exists() { __cli_call dependencies command_exists "$@"; }
  check_dependencies() { __cli_call dependencies check_dependencies "$@"; }
  ensure_curl_installed() { __cli_call dependencies ensure_curl_installed "$@"; }
  ensure_jq_installed() { __cli_call dependencies ensure_jq_installed "$@"; }
  ensure_fzf_installed() { __cli_call dependencies ensure_fzf_installed "$@"; }
  ensure_pip3_installed() { __cli_call dependencies ensure_pip3_installed "$@"; }
  wait_for_apt_lock() { __cli_call dependencies wait_for_apt_lock "$@"; }
  ensure_git_installed() { __cli_call git ensure_git_installed "$@"; }
  git_clone_safe() { __cli_call git git_clone_safe "$@"; }
fi

if [[ -n $__cli_startup ]]; then
  [[ -z $__cli_flags ]] || builtin set "-$__cli_flags"
  # shellcheck source=/dev/null
  . "$__cli_startup"
elif [[ -n $__cli_flags ]]; then
  builtin set "-$__cli_flags"
fi
