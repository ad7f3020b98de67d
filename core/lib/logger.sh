# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: write log lines to stderr.
#
#   log_debug TEXT…     only while DEBUG is true, 1 or on
#   log_info TEXT…
#   log_success TEXT…
#   log_warning TEXT…
#   log_error TEXT…
#       Writes "[LEVEL] YYYY-MM-DD HH:MM:SS - TEXT". TEXT is data: backslashes and
#       percent signs are written as they are.
#   log_message LEVEL TEXT…
#       Writes such a line with any level; debug, info, success, warning and error (in any
#       letter case) behave like the functions above. With only one
#       argument, this argument is the text, and the level is MESSAGE.
#   log_output [TEXT…]
#       Writes only TEXT, for help texts and the like. \e \E \033 \0033 \x1b \u001b
#       become an escape character, \n a line break, \t a tab, \\ a backslash;
#       any other backslash stays. If colours are not allowed (see color.sh),
#       escape sequences are removed.
#
# Several arguments are joined by one space. SILENT (true, 1 or on) silences all
# but errors; letter case does not matter in SILENT and DEBUG. Both are read in
# every call, so a script may set them while it runs. The status is always 0, even
# if stderr is closed: a lost message must not end a script under set -e.

# shellcheck source=color.sh
command -v __cli_colors_allowed >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/color.sh"

log_debug() { __cli_log DEBUG "$@"; }
log_info() { __cli_log INFO "$@"; }
log_success() { __cli_log SUCCESS "$@"; }
log_warning() { __cli_log WARNING "$@"; }
log_error() { __cli_log ERROR "$@"; }

log_message() {
  [ "$#" -gt 1 ] || set -- MESSAGE "$@"
  local __cli_level="$1"
  shift
  case $__cli_level in
    [Dd][Ee][Bb][Uu][Gg]) __cli_level=DEBUG ;;
    [Ii][Nn][Ff][Oo]) __cli_level=INFO ;;
    [Ss][Uu][Cc][Cc][Ee][Ss][Ss]) __cli_level=SUCCESS ;;
    [Ww][Aa][Rr][Nn][Ii][Nn][Gg]) __cli_level=WARNING ;;
    [Ee][Rr][Rr][Oo][Rr]) __cli_level=ERROR ;;
  esac
  __cli_log "$__cli_level" "$@"
}

log_output() {
  ! __cli_is_on "${SILENT-}" || return 0
  local __cli_text='' IFS=' '
  __cli_text="$*"
  case $__cli_text in
    *\\*) __cli_interpret_escapes ;;
  esac
  case $__cli_text in
    *"$__cli_esc"*) __cli_colors_allowed || __cli_strip_escapes ;;
  esac
  printf '%s\n' "$__cli_text" >&2 || :
}

# __cli_is_on VALUE: status 0 for true, 1, on.
__cli_is_on() {
  case $1 in
    [Tt][Rr][Uu][Ee] | 1 | [Oo][Nn]) ;;
    *) return 1 ;;
  esac
}

# __cli_log LEVEL TEXT…: writes one line if DEBUG and SILENT allow it. The libraries call
# this function, so that a script can define its own log_error.
__cli_log() {
  local __cli_tag="[$1]" __cli_colour='' __cli_now='' IFS=' '
  case $1 in
    ERROR) __cli_colour=31 ;;
    WARNING) __cli_colour=33 ;;
    SUCCESS) __cli_colour=32 ;;
    INFO) __cli_colour=34 ;;
    DEBUG) __cli_colour=90 ;;
    *) __cli_colour=36 ;;
  esac
  [ "$1" = ERROR ] || ! __cli_is_on "${SILENT-}" || return 0
  [ "$1" != DEBUG ] || __cli_is_on "${DEBUG-}" || return 0
  shift
  __cli_clock
  if __cli_colors_allowed; then
    __cli_tag="${__cli_esc}[${__cli_colour}m${__cli_tag}${__cli_esc}[0m"
  fi
  printf '%s %s - %s\n' "$__cli_tag" "$__cli_now" "$*" >&2 || :
}

# __cli_clock: puts the time into the caller's __cli_now, without starting a process
# if the shell itself can print it (bash from 4.2, zsh from 5.3).
case ${BASH_VERSION-} in
  '' | [0-3].* | 4.[01].*)
    __cli_clock() {
      if [ -n "${ZSH_VERSION-}" ]; then
        print -v __cli_now -P '%D{%Y-%m-%d %H:%M:%S}' 2>/dev/null && return 0
      fi
      __cli_now=$(date '+%Y-%m-%d %H:%M:%S') || :
    }
    ;;
  *)
    __cli_clock() {
      printf -v __cli_now '%(%Y-%m-%d %H:%M:%S)T' -1
    }
    ;;
esac

# __cli_interpret_escapes: replaces backslash escapes in the caller's __cli_text. printf
# %b and echo -e cannot do this: they differ between shells and drop all text after a \c.
__cli_interpret_escapes() {
  local __cli_rest="$__cli_text"
  __cli_text=''
  while :; do
    case $__cli_rest in
      *\\*) ;;
      *) break ;;
    esac
    __cli_text="$__cli_text${__cli_rest%%\\*}"
    __cli_rest=${__cli_rest#*\\}
    case $__cli_rest in
      [eE]*) __cli_rest="$__cli_esc${__cli_rest#?}" ;;
      033* | x1[bB]*) __cli_rest="$__cli_esc${__cli_rest#???}" ;;
      0033*) __cli_rest="$__cli_esc${__cli_rest#????}" ;;
      u001[bB]*) __cli_rest="$__cli_esc${__cli_rest#?????}" ;;
      n*) __cli_rest="
${__cli_rest#?}" ;;
      t*) __cli_rest="	${__cli_rest#?}" ;;
      \\*) __cli_text="$__cli_text\\" __cli_rest=${__cli_rest#?} ;;
      *) __cli_text="$__cli_text\\" ;;
    esac
  done
  __cli_text="$__cli_text$__cli_rest"
}

# __cli_strip_escapes: removes the escape sequences from the caller's __cli_text.
__cli_strip_escapes() {
  local __cli_rest="$__cli_text"
  __cli_text=''
  while :; do
    case $__cli_rest in
      *"$__cli_esc"*) ;;
      *) break ;;
    esac
    __cli_text="$__cli_text${__cli_rest%%"$__cli_esc"*}"
    __cli_rest=${__cli_rest#*"$__cli_esc"}
    case $__cli_rest in
      \[*) # parameters, then one final character
        __cli_rest=${__cli_rest#?}
        __cli_rest=${__cli_rest#"${__cli_rest%%[!0-9:;?]*}"}
        __cli_rest=${__cli_rest#?}
        ;;
    esac
  done
  __cli_text="$__cli_text$__cli_rest"
}
