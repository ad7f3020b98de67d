# shellcheck shell=bash
# Functions for bash, zsh and dash scripts: edit and check texts and names. The two
# functions with ARRAYNAME need arrays, which dash does not have.
#
#   string_to_upper TEXT, string_to_lower TEXT
#       Prints TEXT in upper or lower case. Non-ASCII letters change only in bash
#       from 4 and in zsh.
#   string_trim TEXT
#       Prints TEXT without white space at its ends.
#   string_contains TEXT PART, string_starts_with TEXT PREFIX
#       Status 0 if TEXT contains PART or starts with PREFIX, both taken literally.
#   strtobool VALUE
#       Status 0 for 1, true, t, yes, y, on in any letter case; otherwise 1.
#   validate_name NAME
#       Status 0 if NAME can be the word of a command: it starts with an ASCII letter
#       or digit, continues with those or . _ -, and has at most 64 characters.
#   sanitize_name TEXT
#       Prints a valid name made from TEXT: lower case, one "-" for every run of
#       other characters. Prints nothing and returns status 1 if nothing is left.
#   parse_comma_separated ARRAYNAME
#       Splits every element of the array at its commas, in place:
#       ("a,b" "c") becomes ("a" "b" "c"). A comma at the end adds no element.
#   join_to_comma_separated ARRAYNAME
#       Joins all elements of the array into one, in place: ("a" "b") becomes ("a,b").
#       These two functions do nothing and return status 2 if ARRAYNAME is not a
#       variable name.

string_to_upper() {
  if [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ] && local -u __cli_text="${1-}" 2>/dev/null; then
    printf '%s\n' "$__cli_text"
  else
    printf '%s\n' "${1-}" | tr '[:lower:]' '[:upper:]'
  fi
}

string_to_lower() {
  if [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ] && local -l __cli_text="${1-}" 2>/dev/null; then
    printf '%s\n' "$__cli_text"
  else
    printf '%s\n' "${1-}" | tr '[:upper:]' '[:lower:]'
  fi
}

string_trim() {
  local __cli_text="${1-}"
  __cli_text=${__cli_text#"${__cli_text%%[![:space:]]*}"}
  printf '%s\n' "${__cli_text%"${__cli_text##*[![:space:]]}"}"
}

string_contains() {
  case ${1-} in
    *"${2-}"*) ;;
    *) return 1 ;;
  esac
}

string_starts_with() {
  case ${1-} in
    "${2-}"*) ;;
    *) return 1 ;;
  esac
}

strtobool() {
  case ${1-} in
    1 | [Tt] | [Tt][Rr][Uu][Ee] | [Yy] | [Yy][Ee][Ss] | [Oo][Nn]) ;;
    *) return 1 ;;
  esac
}

validate_name() {
  local LC_ALL=C # in other locales A-Z can match letters such as É
  case ${1-} in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) return 1 ;;
  esac
  [ "${#1}" -le 64 ]
}

sanitize_name() {
  local __cli_name=''
  __cli_name=$(printf '%s' "${1-}" | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C tr -cs 'a-z0-9._-' '-')
  __cli_name=${__cli_name#"${__cli_name%%[a-z0-9]*}"}
  __cli_name=$(printf '%.64s' "$__cli_name")
  __cli_name=${__cli_name%"${__cli_name##*[a-z0-9]}"}
  [ -n "$__cli_name" ] && printf '%s\n' "$__cli_name"
}

# Indirect arrays without namerefs, which bash 3.2 lacks: the name is checked, so eval
# never evaluates data. The elements are passed as positional parameters.
parse_comma_separated() {
  __cli_is_variable_name "${1-}" || return 2
  local __cli_array="$1" __cli_element='' __cli_left=0
  eval "set -- \${${__cli_array}[@]+\"\${${__cli_array}[@]}\"}"
  __cli_left=$#
  while [ "$__cli_left" -gt 0 ]; do
    __cli_element=$1
    shift
    while :; do
      case $__cli_element in
        *,?*)
          set -- "$@" "${__cli_element%%,*}"
          __cli_element=${__cli_element#*,}
          ;;
        *) break ;;
      esac
    done
    set -- "$@" "${__cli_element%,}"
    __cli_left=$((__cli_left - 1))
  done
  eval "$__cli_array=(\"\$@\")"
}

join_to_comma_separated() {
  __cli_is_variable_name "${1-}" || return 2
  local __cli_array="$1" IFS=,
  eval "set -- \${${__cli_array}[@]+\"\${${__cli_array}[@]}\"}"
  eval "$__cli_array=(\"\$*\")"
}

__cli_is_variable_name() {
  local LC_ALL=C
  case $1 in
    '' | [!A-Za-z_]* | *[!A-Za-z0-9_]*) return 1 ;;
  esac
}
