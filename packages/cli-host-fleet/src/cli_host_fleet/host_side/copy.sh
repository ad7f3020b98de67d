# shellcheck shell=sh disable=SC2016,SC2088
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
  '~/'*) to=$HOME/${to#"~/"} ;;
esac
case $to in
  /*) ;;
  *) to=$PWD/$to ;;
esac
if [ "$how" = into ]; then
  mkdir -p -- "$to" || exit
fi
export sum="sha256sum"
command -v sha256sum >/dev/null || sum="shasum -a 256"
command -v "${sum%% *}" >/dev/null || fail "neither sha256sum nor shasum is on PATH"
# $1 is the file or folder, $2 its target, and the others are the paths in it.
copy_paths='
file=$1 target=$2
shift 2
[ ! -e "$CLI_DIR/failed" ] || exit 1
trap "[ \$? = 0 ] || : >\"\$CLI_DIR/failed\"" EXIT
for from; do
  place=$target${from#"$file"}
  if [ -d "$from" ]; then
    mkdir -p -- "$place" || exit
    continue
  fi
  beside=${place%/*}/.${CLI_DIR##*/}
  printf "%s\0" "$beside" >>"$CLI_DIR/also"
  cp -p -- "$from" "$beside" && mv -f -- "$beside" "$place" || exit
  $sum -- "$place" || exit
done'
for file in "$CLI_DIR"/files/* "$CLI_DIR"/files/.[!.]* "$CLI_DIR"/files/..?*; do
  [ -e "$file" ] || continue # the pattern itself, which has matched nothing
  target=$to
  [ ! -d "$to" ] || target=${to%/}/${file##*/}
  [ ! -d "$target" ] || [ -d "$file" ] || fail "$target is a directory"
  [ ! -e "$target" ] || [ ! -d "$file" ] || [ -d "$target" ] || fail "$target is not a directory"
  folder=${target%/*}
  [ -d "${folder:-/}" ] || fail "there is no directory $folder"
  find "$file" \( -type d -o -type f \) -exec sh -c "$copy_paths" copy "$file" "$target" {} + || exit
done
