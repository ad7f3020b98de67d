# shellcheck shell=bash disable=SC2154
# Runs a command on this host, after unpack.sh has put the command's files into $fleet_dir.
# On stdin, each ended by NUL:
#   LIBRARY              the program's name if bash must load core/lib, or ""
#   N NAME=VALUE × N     the environment
#   N WORD × N           the argv
#   N (PROGRAM VERSION HINT) × N/3   what the command requires
# then heartbeats. If stdin ends, or if no heartbeat arrives for 120 seconds, the process group of
# the command is ended. The directory is removed however the run ends.

fleet_words() {
  local count word
  fleet_words=()
  IFS= read -r -d '' count || exit
  while ((count-- > 0)); do
    IFS= read -r -d '' word || exit
    # Correct paths that begin with the directory that the controller named: see unpack.sh.
    fleet_words[${#fleet_words[@]}]=${word//"$fleet_sent"/"$fleet_dir"}
  done
}
IFS= read -r -d '' fleet_library || exit
fleet_words
fleet_environment=("${fleet_words[@]}")
fleet_words
set -- "${fleet_words[@]}"
fleet_words
fleet_requires=("${fleet_words[@]}")

fleet_holds() { # VERSION COMPARISON
  local operator=${2%%[0-9]*} sign=0 index have need
  IFS=. read -r -a have <<<"$1"
  IFS=. read -r -a need <<<"${2#"$operator"}"
  for ((index = 0; index < ${#have[@]} || index < ${#need[@]}; index++)); do
    ((10#${have[index]:-0} == 10#${need[index]:-0})) && continue
    ((10#${have[index]:-0} > 10#${need[index]:-0})) && sign=1 || sign=-1
    break
  done
  case $operator$sign in
    '>=0' | '>=1' | '>1' | '==0' | '<=0' | '<=-1' | '<-1') return 0 ;;
  esac
  return 1
}
fleet_lacks() { # prints the programs of fleet_requires that this host lacks, with hints
  local index path printed version problem lacks='' hints='' dotted='[0-9]+(\.[0-9]+)+'
  for fleet_word in "${fleet_environment[@]}"; do
    [[ $fleet_word != PATH=* ]] || export "${fleet_word?}"
  done
  for ((index = 0; index < ${#fleet_requires[@]}; index += 3)); do
    problem=
    if ! path=$(type -P "${fleet_requires[index]}"); then
      problem="not on PATH"
    elif [[ -n ${fleet_requires[index + 1]} ]]; then
      IFS= read -r -t 5 -d '' printed < <(exec "$path" --version 2>&1 </dev/null)
      if [[ $printed =~ $dotted ]]; then
        version=${BASH_REMATCH[0]}
        while IFS= read -r -d , comparison; do
          fleet_holds "$version" "$comparison" || problem="$path is $version"
        done <<<"${fleet_requires[index + 1]},"
      else
        problem="$path --version prints no version"
      fi
    fi
    [[ -n $problem ]] || continue
    lacks="$lacks${lacks:+, }${fleet_requires[index]}${fleet_requires[index + 1]} ($problem)"
    [[ -z ${fleet_requires[index + 2]} ]] || hints="$hints; ${fleet_requires[index + 2]}"
  done
  [[ -z $lacks ]] || printf '%s' "needs $lacks$hints"
}
if ((${#fleet_requires[@]})); then
  fleet_problem=$(fleet_lacks)
  [[ -z $fleet_problem ]] || fleet_refuse "$fleet_problem"
fi
[[ $1 != /* || -e $1 ]] || fleet_refuse "there is no $1"
fleet_stdin=/dev/null
[[ ! -e $fleet_dir/stdin ]] || fleet_stdin=$fleet_dir/stdin

fleet_command() {
  unset LC_ALL
  [[ -z $fleet_locale ]] || export LC_ALL=$fleet_locale
  for fleet_word in "${fleet_environment[@]}"; do
    export "${fleet_word?}"
  done
  if [[ -n $fleet_library ]]; then
    # CLI_HOST_INIT is <pid>:<program>:u or <pid>:<program>:s<BASH_ENV>; see core/lib/init.sh.
    [[ -n ${BASH_ENV+set} ]] && fleet_word=s$BASH_ENV || fleet_word=u
    export CLI_HOST_INIT=${BASHPID:-$(exec sh -c 'echo "$PPID"')}:$fleet_library:$fleet_word
    export BASH_ENV=$fleet_dir/core/lib/init.sh
  fi
  exec "$@"
}
fleet_lifeline() {
  while IFS= read -r -t 120 _; do :; done
  trap '' TERM # from here on, nothing stops this function
  kill -TERM -- "-$1"
  for _ in {1..30}; do
    kill -0 -- "-$1" || break
    sleep 0.1
  done
  kill -KILL -- "-$1"
  rm -rf "$fleet_dir"
}

exec 2>/dev/null # bash reports jobs that end
set -m           # each job is in a process group of its own
(fleet_command "$@") <"$fleet_stdin" 2>&3 3>&- &
fleet_pid=$!
fleet_lifeline "$fleet_pid" >/dev/null <&0 3>&- &
while :; do
  wait "$fleet_pid"
  fleet_status=$?
  # With `set -m`, `wait` also returns if the command has only stopped (SIGSTOP).
  kill -0 "$fleet_pid" || break
  sleep 1
done
kill -TERM -- "-$!"
wait "$!"
trap - EXIT
rm -rf "$fleet_dir"
fleet_say "status $fleet_status" # marks the end of stdout, because a remaining process may write more
fleet_say "status $fleet_status" >&3
