#!/usr/bin/env bash
set -euo pipefail

echo "DEMO_TIMEOUT=$DEMO_TIMEOUT"
echo "DEMO_COLOUR=$DEMO_COLOUR"
echo "DEMO_RETRIES=${DEMO_RETRIES:-3}"
