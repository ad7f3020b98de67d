#!/usr/bin/env bash
set -euo pipefail

directory=${1:-.}
if [[ ! -d $directory ]]; then
  log_error "$directory: no such directory" # log_error comes with the host's shell library
  exit 1
fi
find "$directory" -type f -exec du -k {} + | sort -rn | head -n 5
