# shellcheck shell=bash disable=SC2088
# Moves the files of $CLI_DIR/files to their place on this host, and prints their checksums.
# Arguments: "into" or "as", and the destination. With "as", there is one file or folder, which gets
# the destination's name unless that is a directory.
#
# Each is first copied beside its place, so that a file is always the old one or the whole new one.
# run.sh removes the copies that $CLI_DIR/also lists, however the run ends.

how=$1 to=$2
fail() {
  printf '%s\n' "$1" >&2
  exit 1
}
case $to in
  '~') to=$HOME ;;
  '~/'*) to=$HOME/${to#'~/'} ;;
esac
[[ $to == /* ]] || to=$PWD/$to
shopt -s nullglob dotglob
files=("$CLI_DIR"/files/*)
if [[ $how == into ]]; then
  mkdir -p -- "$to" || exit
fi
sum=(sha256sum)
type -P sha256sum >/dev/null || sum=(shasum -a 256)
type -P "${sum[0]}" >/dev/null || fail "neither sha256sum nor shasum is on PATH"
for file in "${files[@]}"; do
  target=$to
  [[ ! -d $to ]] || target=${to%/}/${file##*/}
  [[ ! -d $target || -d $file ]] || fail "$target is a directory"
  [[ ! -e $target || ! -d $file || -d $target ]] || fail "$target is not a directory"
  folder=${target%/*}
  [[ -d ${folder:-/} ]] || fail "there is no directory $folder"
  while IFS= read -r -d '' from; do
    inside=${from#"$file"}
    if [[ -d $from ]]; then
      mkdir -p -- "$target$inside" || exit
      continue
    fi
    beside=${target}${inside}
    beside=${beside%/*}/.${CLI_DIR##*/}
    printf '%s\0' "$beside" >>"$CLI_DIR/also"
    cp -p -- "$from" "$beside" && mv -f -- "$beside" "$target$inside" || exit
    "${sum[@]}" -- "$target$inside" || exit
  done < <(find "$file" \( -type d -o -type f \) -print0)
done
