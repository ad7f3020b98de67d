# shellcheck shell=bash
# Becomes another user and greets again; the host's bash reads this script from the connection.
# On stdin, each ended by NUL: NONCE, USER, "ask" or "", and the greeting.

IFS= read -r -d '' fleet_nonce
IFS= read -r -d '' fleet_user
IFS= read -r -d '' fleet_ask
IFS= read -r -d '' fleet_greeting
if [[ ! -x $(command -v sudo) ]]; then
  printf '\036%s refused no sudo on this host\n' "$fleet_nonce" >&2
  exit 1
fi
if [[ -n $fleet_ask ]]; then
  # -k: sudo asks even if it remembers a password, so the password that is sent is always read.
  export SUDO_PROMPT=$'\036'"$fleet_nonce password"$'\n'
  exec sudo -k -S -H -u "$fleet_user" -- /bin/sh -c "$fleet_greeting"
fi
exec sudo -n -H -u "$fleet_user" -- /bin/sh -c "$fleet_greeting"
