# shellcheck shell=sh disable=SC2154
# Becomes another user and greets again. The controller sends assignments before this text:
# fleet_nonce, fleet_user, fleet_ask ("ask" or ""), fleet_greeting.

if ! command -v sudo >/dev/null; then
  printf '\036%s refused no sudo on this host\n' "$fleet_nonce" >&2
  exit 1
fi
if [ -n "$fleet_ask" ]; then
  # The dot keeps the line's end, which $( ) would remove.
  SUDO_PROMPT=$(printf '\036%s password\n.' "$fleet_nonce")
  SUDO_PROMPT=${SUDO_PROMPT%.}
  export SUDO_PROMPT
  # -k: sudo asks even if it remembers a password, so the password that is sent is always read.
  exec sudo -k -S -H -u "$fleet_user" -- /bin/sh -c "$fleet_greeting"
fi
exec sudo -n -H -u "$fleet_user" -- /bin/sh -c "$fleet_greeting"
