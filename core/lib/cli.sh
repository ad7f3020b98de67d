# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: usage and description of the running command.
#
#   build_command_path
#       Prints the words of the running command, such as "setup postman".
#   show_usage [ARGS…]
#       Prints "Usage: <program> <words> [options]". If there are ARGS, they replace
#       "[options]"; with --no-options, neither is printed.
#   get_command_config_file
#       Prints the path of the command's command.json: the one beside the script
#       or in the nearest directory above it; category.json if a category's own
#       entrypoint runs; the script itself if its comment is its definition. Prints
#       nothing and returns status 1 if there is none.
#   show_description
#       Prints the description in that file, or the first line of a script's
#       comment. Returns status 0 even if there is none, so that a help text
#       under set -e continues.
#
# COMMAND_NAME, COMMAND_CATEGORY and CORE_DIR come from the framework.

# shellcheck source=config.sh
command -v __cli_json_field >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/config.sh"

# The working directory at the start of the script: a relative script path is relative to it.
: "${__cli_start=${PWD-.}}"

build_command_path() {
  local __cli_rest="${COMMAND_CATEGORY-}" __cli_words=''
  while [ -n "$__cli_rest" ]; do
    __cli_words="$__cli_words${__cli_rest%%/*} "
    case $__cli_rest in
      */*) __cli_rest=${__cli_rest#*/} ;;
      *) __cli_rest='' ;;
    esac
  done
  __cli_words="$__cli_words${COMMAND_NAME-}"
  printf '%s\n' "${__cli_words% }"
}

show_usage() {
  local __cli_words='' __cli_tail='' __cli_options=' [options]' IFS=' '
  while [ "$#" -gt 0 ]; do
    case $1 in
      --no-options) __cli_options='' ;;
      *) __cli_tail="$__cli_tail $1" ;;
    esac
    shift
  done
  __cli_words=$(build_command_path)
  printf 'Usage: %s%s%s\n' "$(__cli_program_name)" "${__cli_words:+ $__cli_words}" "${__cli_tail:-$__cli_options}"
}

show_description() {
  local __cli_file=''
  __cli_file=$(get_command_config_file) || return 0
  case $__cli_file in
    *.json) get_config_field "$__cli_file" description || : ;;
    *) sed -n '/^#!/d;/^# *shellcheck/d;/^# *[[:alnum:]]/{s/^# *//;s/^[SD][a-z]*: *//;p;q;}' "$__cli_file" ;;
  esac
}

get_command_config_file() {
  # In a zsh function, $0 is the function's name.
  local __cli_dir="${ZSH_ARGZERO:-$0}" __cli_script='' __cli_file=''
  case $__cli_dir in
    /*) ;;
    *) __cli_dir="$__cli_start/$__cli_dir" ;;
  esac
  [ -f "$__cli_dir" ] || return 1
  __cli_script=$__cli_dir
  while [ -n "$__cli_dir" ]; do
    __cli_dir=${__cli_dir%/*}
    for __cli_file in command.json category.json; do
      [ -f "$__cli_dir/$__cli_file" ] || continue
      __cli_file="$__cli_dir/$__cli_file"
      case $__cli_file in
        */category.json) # a script in a category is its own definition
          [ "$(get_config_field "$__cli_file" entrypoint 2>/dev/null)" = "${__cli_script#"$__cli_dir"/}" ] ||
            __cli_file=$__cli_script
          ;;
      esac
      printf '%s\n' "$__cli_file"
      return 0
    done
  done
  case $__cli_script in
    "${CLI_DIR:-/dev/null}"/*) printf '%s\n' "$__cli_script" ;;
    *) return 1 ;;
  esac
}

# Prints the program's name as the user typed it. The framework passes the name to
# bash; in other shells, it is the name of the launcher in core/.
__cli_program_name() {
  if [ -n "${__cli_program:-${CLI_PROGRAM-}}" ]; then
    printf '%s\n' "${__cli_program:-$CLI_PROGRAM}"
    return 0
  fi
  (
    set +f # the pattern below needs globbing, which the script may have turned off
    if [ -f "${CORE_DIR-}/cli.json" ]; then
      for __cli_file in "$CORE_DIR"/*; do
        if [ -f "$__cli_file" ] && [ -x "$__cli_file" ] && [ "${__cli_file##*/}" != cli.json ]; then
          printf '%s\n' "${__cli_file##*/}"
          exit
        fi
      done
    fi
    printf 'cli\n'
  )
}
