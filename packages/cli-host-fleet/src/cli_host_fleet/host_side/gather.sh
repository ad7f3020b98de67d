# shellcheck shell=sh disable=SC2088
# Prints checksums of files on this host, ended by NUL, and then a tar archive of them.
# Arguments: paths, which can be patterns such as /var/log/*.log.

list=$CLI_DIR/list
fail() {
  printf '%s\n' "$1" >&2
  exit 1
}
add() { # PATTERN PATHS: lists the files below the paths, to which the pattern expands
  pattern=$1
  shift
  for path; do
    [ -e "$path" ] || [ -L "$path" ] || fail "there is no $pattern"
    [ -d "$path" ] || [ -f "$path" ] || fail "$path is not a file or a directory"
    # A link that is named is followed; links below a directory are left out.
    find -H "$path" -type f -print0 >>"$list" || exit
  done
}
sum="sha256sum"
command -v sha256sum >/dev/null || sum="shasum -a 256"
command -v "${sum%% *}" >/dev/null || fail "neither sha256sum nor shasum is on PATH"
for pattern; do
  case $pattern in
    '~') pattern=$HOME ;;
    '~/'*) pattern=$HOME/${pattern#"~/"} ;;
  esac
  case $pattern in
    /*) ;;
    *) pattern=$PWD/$pattern ;;
  esac
  if [ -e "$pattern" ]; then
    add "$pattern" "$pattern"
  else
    IFS=
    # shellcheck disable=SC2086 # the pattern is to be expanded; IFS is empty, so nothing is split
    add "$pattern" $pattern
    unset IFS
  fi
done
[ -s "$list" ] || fail "there are no files"
# shellcheck disable=SC2086 # the program and its arguments
xargs -0 $sum -- <"$list" >"$CLI_DIR/sums" || exit
cat "$CLI_DIR/sums" && printf '\0' && cd / || exit
# For a long list, xargs calls tar several times; the archives are read one after the other.
xargs -0 tar -chf - <"$list" 2>"$CLI_DIR/problems" ||
  fail "$(sed -e '/emoving leading/d' -e '/Exiting with failure/d' "$CLI_DIR/problems" | tail -n 1)"
