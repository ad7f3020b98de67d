"""A bash script that reports what a run gives it (Linux), for comparing kinds of run and callers.

This module imports nothing of the program, so that the tests of packages can use it, too.
"""

from __future__ import annotations

from pathlib import Path

STATUS = 7  # of the script

# The script writes a file for each subject to $HOME/report. Everything is as the kernel and bash
# have it; nothing is left out.
SCRIPT = r"""#!/bin/bash
into=$HOME/report
mkdir "$into"
find /proc/$$/fd -type l -printf '%f %l\n' >"$into/descriptors"
cat /proc/$$/environ >"$into/environment"
cat /proc/$$/limits >"$into/limits"
cat /proc/$$/cmdline >"$into/command line"
cut -d ' ' -f 5-8 /proc/$$/stat >"$into/group"
cut -d ' ' -f 19 /proc/$$/stat >"$into/priority"
mapfile -t lines </proc/self/status # without a fork, around which bash blocks signals
printf '%s\n' "${lines[@]}" | grep -E '^(Umask|Sig(Blk|Ign|Cgt)|NoNewPrivs)' >"$into/signals"
readlink /proc/$$/cwd >"$into/directory"
printf '%s' $$ >"$into/process"
printf '%s\0' "$@" >"$into/arguments"
printf '%s\0' "$0" "${BASH_SOURCE[@]}" "$PWD" >"$into/names"
declare -F >"$into/functions"
{ trap -p; set -o; shopt; compgen -v; is_linux && echo linux; } >"$into/shell"
env -0 | sort -z >"$into/exported"
if [[ -e /proc/$$/fd/0 ]]; then cat >"$into/stdin"; fi
for number in 1 2 3; do
  echo "out $number"
  echo "err $number" >&2
done
exit 7
"""


def read_report(home: Path) -> dict[str, bytes]:
    """Take the report away from `home`: what the script wrote about each subject."""
    directory = home / "report"
    report = {}
    for file in sorted(directory.iterdir()):
        report[file.name] = file.read_bytes()
        file.unlink()
    directory.rmdir()
    return report


def variables(content: bytes) -> dict[bytes, bytes]:
    """Return the variables of a report's `environment`. Raises ValueError if one is there twice."""
    found = {}
    for item in content.removesuffix(b"\0").split(b"\0"):
        name, _, value = item.partition(b"=")
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found
