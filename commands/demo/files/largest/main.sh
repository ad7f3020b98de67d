#!/usr/bin/env bash
set -euo pipefail

# "args" in command.json declares ARG_DIRECTORY and ARG_COUNT; the program has checked them.
log_debug "searching $ARG_DIRECTORY" # log_debug comes with the host's shell library
# `head` would stop reading while `sort` is still writing, which pipefail treats as a failure.
find "$ARG_DIRECTORY" -type f -exec du -k {} + | sort -rn | awk -v count="$ARG_COUNT" 'NR <= count'
