#!/usr/bin/env bash
set -euo pipefail

printf '%s, %s!\n' "$DEMO_GREETING" "${1:-$DEMO_NAME}"
