#!/usr/bin/env bash
set -euo pipefail

# ARG_DIRECTORY and ARG_COUNT come from "args" in command.json, checked.
log_debug "looking below $ARG_DIRECTORY" # log_debug comes with the host's shell library
find "$ARG_DIRECTORY" -type f -exec du -k {} + | sort -rn | head -n "$ARG_COUNT"
