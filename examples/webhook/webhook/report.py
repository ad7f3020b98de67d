"""Post failed runs to the address in WEBHOOK_URL."""

import os
import shlex
import sys

import requests

_SECONDS = 3  # the program waits at most 5 seconds for all functions together


def report(run):
    """Post a failed run; secret arguments are masked already."""
    address = os.environ.get("WEBHOOK_URL", "")
    if not run.status or not address:
        return
    try:
        answer = requests.post(address, json=message(run), timeout=_SECONDS)
    except requests.RequestException as failure:
        # The text of the error has the address, and the path of a webhook is a secret.
        reason = type(failure).__name__
    else:
        if answer.ok:
            return
        reason = f"HTTP status {answer.status_code}"
    print(
        f"webhook: the failed run {run.id} is not reported: {reason}", file=sys.stderr
    )


def message(run):
    """Return the message for a run: `text` for people, the other keys for programs."""
    line = shlex.join([*run.words, *run.arguments])
    how = f"signal {run.signal}" if run.signal else f"status {run.status}"
    return {
        "text": f"{run.user}@{run.host}: {line} ended with {how} after {run.seconds:.0f} s",
        "id": run.id,
        "start": run.start,
        "words": list(run.words),
        "arguments": list(run.arguments),
        "status": run.status,
        "user": run.user,
        "host": run.host,
        "origin": run.origin,
    }
