#!/usr/bin/env bash
set -euo pipefail

printf '%s, %s!\n' "${GREETING:-Hello}" "${1:-world}"
