# shellcheck shell=sh
# Prints a checksum for each file in the folder of a command of the program on this host.
# Arguments: the program, and the words of the command.

program=$1
shift
if ! command -v "$program" >/dev/null; then
  printf 'there is no %s\n' "$program" >&2
  exit 1
fi
definition=$("$program" self which "$@") || exit
definition=$(printf '%s\n' "$definition" | sed -n 's/^definition: *//p')
cd -- "$(dirname -- "$definition")" || exit
set -- sha256sum
command -v sha256sum >/dev/null || set -- shasum -a 256
find . -type f ! -name '.env*' -exec "$@" {} +
