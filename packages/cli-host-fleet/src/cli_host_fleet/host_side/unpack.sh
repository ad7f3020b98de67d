# shellcheck shell=bash source-path=SCRIPTDIR
# A run on this host, its beginning; its bash (3.2 or newer) reads this from the connection.
# On stdin, each ended by NUL:
#   NONCE SIZE DIRECTORY
# then a tar of SIZE bytes, in which DIRECTORY is made: only that user can enter it, and
# nobody else knows its name before. In it is run.sh, the rest of this script: bash reads a
# connection byte by byte, and a file at once.
#
# Reports are marked with the nonce: "refused REASON" on stderr instead of a run; after a run
# "status N" on stdout and on stderr, where it ends what the command wrote.

fleet_say() { printf '\036%s %s\n' "$fleet_nonce" "$1"; }
fleet_refuse() {
  fleet_say "refused ${1%%$'\n'*}" >&3
  exit 1
}

exec 3>&2 # for the command and for reports
fleet_locale=${LC_ALL-}
LC_ALL=C
IFS= read -r -d '' fleet_nonce || exit # the connection has ended
IFS= read -r -d '' fleet_size || exit
IFS= read -r -d '' fleet_dir || exit
fleet_sent=$fleet_dir
trap 'rm -rf "$fleet_dir" "$fleet_sent"' EXIT
fleet_problem=$(head -c "$fleet_size" | tar -xmof - -C "${fleet_dir%/*}" 2>&1) ||
  fleet_refuse "$fleet_dir cannot be filled: $fleet_problem"
if [[ -d $fleet_dir/commands && ! -x $fleet_dir/run.sh ]]; then
  # The file system is mounted noexec: the run takes place in HOME.
  fleet_dir=$HOME/.${fleet_sent##*/}
  fleet_problem=$(mv "$fleet_sent" "$fleet_dir" 2>&1) && fleet_problem="it is noexec, too"
  [[ -x $fleet_dir/run.sh ]] ||
    fleet_refuse "${fleet_sent%/*} is mounted noexec, and $HOME cannot replace it: $fleet_problem"
fi
. "$fleet_dir/run.sh"
