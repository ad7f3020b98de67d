# shellcheck shell=bash disable=SC1090,SC2015,SC2329
# Sources a settings.conf and reports its variables: bash -p -c TEXT NAME FILE DESCRIPTOR
#
# Before the file can redefine anything, bash parses it as the body of a loop, which never runs.
# The parser must reach the `done` after the last line. In the C locale, its messages contain the
# line number. The second `eval` resets a parser that stopped inside `[[`.
# The RETURN trap fires at depth 0 when bash has left the file, even under `set -e`. If only the
# EXIT trap fires, the shell has ended. If the file replaces the RETURN trap, the command after `.`
# writes the report instead. The DEBUG trap stores the line, notes a top-level `return`, and keeps
# `set -a` on, because a file may assign variables after its own `set +a`. Traps close stderr,
# because `set -x` would print their commands.
# A file may redefine any builtin. In POSIX mode, no function replaces a special builtin. So the
# report uses special builtins, and first removes functions named `enable` or `printf`.
# The report goes to DESCRIPTOR: messages of the parser, "parsed", a NUL, "end LINE" or "exit
# LINE", perhaps " return", a NUL, the output of `export -p`, and two NULs. One builtin prints all
# variables, because a loop over the names would take 2 ms more.

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
    builtin printf '%s: line %s: an assignment must not have blanks around its =\n' \
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
