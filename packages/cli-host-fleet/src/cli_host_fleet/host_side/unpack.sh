# shellcheck shell=bash source-path=SCRIPTDIR
# Begins a run on this host, whose bash (3.2 or newer) reads this script from the connection.
# take.sh comes before this text. On stdin, each ended by NUL:
#   NONCE SIZE DIRECTORY
# then a tar archive of SIZE bytes, which creates DIRECTORY. Only the user of the run can enter
# DIRECTORY, and nobody else can guess its name. It contains run.sh, the rest of this script: bash
# reads a connection byte by byte, but a file in large blocks.
#
# Reports begin with the nonce. "refused REASON" on stderr: the command does not run. "status N" on
# stdout and on stderr: the command has ended, and its output ends here.

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
fleet_problem=$(fleet_take "$fleet_size" | tar -xmof - -C "${fleet_dir%/*}" 2>&1) ||
  fleet_refuse "cannot unpack the files to $fleet_dir: $fleet_problem"
if [[ -d $fleet_dir/commands && ! -x $fleet_dir/run.sh ]]; then
  # The file system is mounted noexec, so the directory moves to HOME.
  fleet_dir=$HOME/.${fleet_sent##*/}
  fleet_problem=$(mv "$fleet_sent" "$fleet_dir" 2>&1) && fleet_problem="$HOME is mounted noexec, too"
  [[ -x $fleet_dir/run.sh ]] ||
    fleet_refuse "${fleet_sent%/*} is mounted noexec, and $HOME cannot be used instead: $fleet_problem"
fi
. "$fleet_dir/run.sh"
