# shellcheck shell=sh disable=SC2154,SC2016
# What unpack.sh and run.sh do, on a host without bash. The controller sends take.sh and assignments
# before this text: fleet_nonce, fleet_size, fleet_dir, fleet_needs. After it come, on stdin:
#   a tar archive of fleet_size bytes
#   a line that prints a text, as in greeting.sh; the text exports variables and ends with `exec`
# then heartbeats.

fleet_say() { printf '\036%s %s\n' "$fleet_nonce" "$1"; }
fleet_refuse() {
  fleet_say "refused $1" >&3
  exit 1
}
exec 3>&2 4<&0
trap 'rm -rf "$fleet_dir"' EXIT
command -v setsid >/dev/null || fleet_refuse "neither bash nor setsid on this host"
fleet_problem=$(fleet_take "$fleet_size" | tar -xmof - -C "${fleet_dir%/*}" 2>&1) ||
  fleet_refuse "cannot unpack the files to $fleet_dir: $(printf '%s' "$fleet_problem" | head -n 1)"
[ ! -d "$fleet_dir/commands" ] || [ -x "$fleet_dir/run.sh" ] ||
  fleet_refuse "${fleet_dir%/*} is mounted noexec"
read -r fleet_order || exit # the connection has ended
fleet_order=$(eval "$fleet_order")
for fleet_program in $fleet_needs; do
  command -v "$fleet_program" >/dev/null || fleet_refuse "needs $fleet_program (not on PATH)"
done
fleet_stdin=/dev/null
[ ! -e "$fleet_dir/stdin" ] || fleet_stdin=$fleet_dir/stdin

# The order is in the environment, because argv is visible to all users.
#
# On a busy host, the command or the connection can end before a background process has called
# setsid. It then leads no group yet, so a signal to its group reaches nothing, and `wait` would wait
# for ever. So the signal is also sent to the process itself.
exec 2>/dev/null
export fleet_order
setsid sh -c 'order=$fleet_order; unset fleet_order; eval "$order"' \
  <"$fleet_stdin" 2>&3 3>&- 4<&- &
fleet_pid=$!
unset fleet_order
# `beat` fails if stdin has ended, or if no heartbeat arrives for 120 seconds.
setsid sh -c '
  if echo | read -r -t 9 _; then # as in BusyBox
    beat() { read -r -t 120 _; }
  else
    limit=
    timeout 9 true && limit="timeout 120"
    timeout --foreground 9 true && limit="timeout --foreground 120" # stays in this process group
    beat() { $limit sh -c "read -r _"; }
  fi
  while beat; do :; done
  trap "" TERM
  kill -TERM "-$1" || kill -TERM "$1" "-$1"
  for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    kill -0 "-$1" || break
    sleep 0.2 || sleep 1
  done
  kill -KILL "$1" "-$1"
  rm -rf "$2"
' lifeline "$fleet_pid" "$fleet_dir" <&4 >/dev/null 3>&- 4<&- &
fleet_lifeline=$!
exec 4<&-
wait "$fleet_pid"
fleet_status=$?
kill -TERM "$fleet_lifeline" "-$fleet_lifeline"
wait "$fleet_lifeline"
trap - EXIT
rm -rf "$fleet_dir"
fleet_say "status $fleet_status" # marks the end of stdout, as in run.sh
fleet_say "status $fleet_status" >&3
