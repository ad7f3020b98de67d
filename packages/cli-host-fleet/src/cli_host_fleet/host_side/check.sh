# shellcheck shell=bash
# Prints a checksum for each file in the folder of a command of the program on this host.
# Arguments: the program, and the words of the command.

found=$("$1" self which "${@:2}") || exit
definition=$(sed -n 's/^definition: *//p' <<<"$found")
cd -- "$(dirname -- "$definition")" || exit
sum=(sha256sum)
command -v sha256sum >/dev/null || sum=(shasum -a 256)
find . -type f ! -name '.env*' -exec "${sum[@]}" {} +
