# shellcheck shell=bash disable=SC1090,SC2015,SC2329
# Sources a settings.conf and reports its variables: bash -p -c TEXT NAME FILE DESCRIPTOR
#
# Before the file can redefine anything, bash parses it as the body of a loop, which never runs.
# The `done` behind its last line is the marker that must be reached. Messages in the C locale
# give the line. The second `eval` resets a parser that stopped inside `[[`.
# RETURN fires at depth 0 when bash has left the file, even under `set -e`; EXIT without it
# means that the shell has ended. If the file sets a RETURN trap of its own, bash comes back
# from `.` instead. DEBUG keeps the line, notes a top-level `return`, and keeps `set -a`: a
# file that loads others between `set -a` and `set +a` assigns more after them. Traps close
# stderr, as `set -x` would show their lines.
# A file may redefine any builtin. In POSIX mode no function replaces a special builtin, so the
# report uses these, and removes functions that stand for the other two.
# The report goes to DESCRIPTOR: messages of the parser, "parsed", a NUL, "end LINE" or "exit
# LINE", perhaps " return", a NUL, the exported variables as `export -p` words them, two NULs.
# One builtin prints them all, as a loop over the names costs 2 ms more.

__cli_report() {
  [[ -o posix ]] || POSIXLY_CORRECT=y
  unset -f enable printf
  enable trap printf export exit
  trap - DEBUG RETURN EXIT
  {
    printf '\0%s %s\0' "$1" "$__cli_line"
    export -p
    printf '\0\0'
  } >&"$__cli_out"
  exit 0
}
__cli_step() {
  if [[ ${BASH_SOURCE[1]-} == "$__cli_file" && $BASH_COMMAND != ". \"\$__cli_file\"" ]]; then
    __cli_line=$1
    [[ ${FUNCNAME[1]}:$BASH_COMMAND != source:return?( *) ]] || __cli_line+=' return'
  fi
  [[ -o allexport ]] || builtin set -a
  [[ -o allexport ]] || set -a
}
command_not_found_handle() {
  builtin printf '%s: line %s: %s: command not found\n' "$0" "${BASH_LINENO[0]}" "$1"
  if [[ ${2-} == =* && $1 != *[!A-Za-z0-9_]* ]]; then
    builtin printf '%s: line %s: an assignment has no blanks around its =\n' \
      "$0" "${BASH_LINENO[0]}"
  fi
  builtin return 127
} >&2
__cli_file=$1 __cli_out=$2 __cli_line=
trap '{ __cli_report exit; } 2>&-' EXIT
{
  IFS= read -rd '' __cli_text <"$1"
  shopt -s extglob
  LC_ALL=C eval "__cli_text() while :; do :
${__cli_text%$'\n'}
done" && printf parsed || eval ')' 2>&-
  shopt -u extglob
} >&"$2" 2>&1
trap '{ ((${#BASH_SOURCE[@]})) || __cli_report end; } 2>&-' RETURN
trap '{ __cli_step "$LINENO"; } 2>&-' DEBUG
set -aT --
{
  . "$__cli_file"
  { __cli_report end; } 2>&-
}
