# shellcheck shell=bash disable=SC2088
# Prints checksums of files on this host, ended by NUL, and then a tar archive of them.
# Arguments: paths, which can be patterns such as /var/log/*.log.

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}
sum=(sha256sum)
type -P sha256sum >/dev/null || sum=(shasum -a 256)
type -P "${sum[0]}" >/dev/null || fail "neither sha256sum nor shasum is on PATH"
shopt -s nullglob
list=$CLI_DIR/list
for pattern in "$@"; do
  case $pattern in
    '~') pattern=$HOME ;;
    '~/'*) pattern=$HOME/${pattern#'~/'} ;;
  esac
  [[ $pattern == /* ]] || pattern=$PWD/$pattern
  if [[ -e $pattern ]]; then
    paths=("$pattern")
  else
    IFS=
    # shellcheck disable=SC2206 # the pattern is to be expanded; IFS is empty, so nothing is split
    paths=($pattern)
    unset IFS
  fi
  ((${#paths[@]})) || fail "there is no $pattern"
  for path in "${paths[@]}"; do
    # A link that is named is followed; links below a directory are left out.
    find -H "$path" -type f -print0 >>"$list" || exit
    [[ -d $path || -f $path ]] || fail "$path is not a file or a directory"
  done
done
[[ -s $list ]] || fail "there are no files"
xargs -0 "${sum[@]}" -- <"$list" >"$CLI_DIR/sums" || exit
cat "$CLI_DIR/sums" && printf '\0' && cd / || exit
tar -chf - --null -T "$list" 2>"$CLI_DIR/problems" || fail "$(tail -n 1 "$CLI_DIR/problems")"
